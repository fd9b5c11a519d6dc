/** Users' folders on this machine, as `UserFiles` is given them. */
import { mkdtemp, open, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { localWorkspaces } from "../../../web/src/files/local-workspaces.js";

test("how large a file may be is said by max_file_size_mb alone, also above what is taken by default", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sluice-local-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const workspace = await localWorkspaces({ root }).openWorkspace("ada");
  const size = 51 * 1024 ** 3;
  await using file = await open(join(root, "ada", "sparse.bin"), "w");
  await file.truncate(size);
  await using found = await workspace.openOutput(`${workspace.prefix}sparse.bin`);
  expect(found.size_bytes).toBe(size);
});

test.each([
  [{ sandboxed: true }, '"sandboxed" is no option of localWorkspaces: did you mean sandbox?'],
  [{ sandbox: "yes" }, "The option sandbox of localWorkspaces must be true or false."],
  [{ hide: "./store" }, "The option hide of localWorkspaces must be a list of paths of folders."],
])("a slip leaves no server without its sandbox: %j", (options, message) => {
  expect(() => localWorkspaces(options as never)).toThrow(message);
});
