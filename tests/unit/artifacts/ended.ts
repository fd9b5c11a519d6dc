import { rename } from "node:fs/promises";
import { join } from "node:path";
import { TemporaryFolder } from "../../../web/src/artifacts/file/temporaries.js";

/** Leaves in a folder of temporaries what a process that was killed leaves there. Gives its name, as a lock and others have it. */
export async function endedOwner(folder: string): Promise<string> {
  const { owner, release } = await new TemporaryFolder(folder).path();
  // Closing would take the socket away with the name that it was opened under.
  await rename(join(folder, owner), join(folder, "kept"));
  await release();
  await rename(join(folder, "kept"), join(folder, owner));
  return owner;
}
