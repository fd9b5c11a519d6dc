/**
 * Stores the same few contents over and over, in a store that others are emptying all the time, until it is killed.
 * Prints a line for each artifact, `kept` when it could be read back at once, else `lost` and why; and for each
 * collection `took` and how many.
 *
 * node claim-program FOLDER SEED
 */
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { noise } from "./noise.js";

const [folder = "", seed = "1"] = process.argv.slice(2);
/** What was claimed less than so many milliseconds ago is safe. */
const SAFE = 200;
const retention = { ttl_seconds: null, max_total_bytes: 1, max_artifact_bytes: null, min_age_seconds: 1 };
const store = new FileArtifactStore(folder);
const collector = new RetainingArtifactStore(store, retention, { clock: () => Date.now() + 1000 - SAFE });
const random = noise(1 << 16, Number(seed));

const readBack = ({ id, scope }: ArtifactRef): Promise<Uint8Array | string | null> =>
  store.get(id, scope).catch((error: unknown) => String(error));

for (let turn = 0; ; turn++) {
  const content = (random[turn % random.length] ?? 0) % 40;
  const data = noise(100 + content * 4_000, content);
  // Before it is stored: on a busy machine it may be old by the time that storing ends.
  const begun = Date.now();
  const ref = await store.putBytes(data, { scope: { session_id: "shared" } });
  const isSafe = (): boolean => Date.now() - begun < SAFE / 2;
  let read = await readBack(ref);
  // A collector looks at what it has taken out of reach, and puts back what was claimed: nobody finds it in between.
  while (read === null && isSafe()) read = await readBack(ref);
  if (read instanceof Uint8Array && read.byteLength === data.byteLength) process.stdout.write("kept\n");
  else if (isSafe()) process.stdout.write(`lost ${String(read)}\n`);
  if (turn % 3 === 0) process.stdout.write(`took ${(await collector.collect())?.artifacts ?? 0}\n`);
}
