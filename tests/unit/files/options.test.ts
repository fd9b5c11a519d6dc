/** Flags with their defaults, and options of folders on this machine. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { localWorkspaces } from "../../../web/src/files/local-workspaces.js";
import { FLAGS, MAX_FILE_BYTES } from "../../../web/src/files/options.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import { emptyFolder } from "../../support/folder.js";

const made = (options: object): UserFiles => new UserFiles({ store: new MemoryArtifactStore(), ...options });

describe("flags", () => {
  test("have the defaults of the specification", () => {
    expect(FLAGS).toEqual({ persist_files_across_sessions: true, base64_size_limit_mb: 300, max_file_size_mb: 51_200 });
    expect(FLAGS.max_file_size_mb * 1024 ** 2).toBe(MAX_FILE_BYTES);
  });

  test.each([
    ["persist_files_across_sessions", "true"],
    ["base64_size_limit_mb", 0],
    ["base64_size_limit_mb", "300"],
    ["max_file_size_mb", Number.NaN],
    ["openWorkspace", "/tmp"],
    ["largeStore", 1],
    ["base64_size_limit", 300],
  ])("that are wrong are refused by name: %s is %j", (name, value) => {
    const refused = (): unknown => made({ [name]: value });
    expect(refused).toThrow(name);
    expect(refused).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }) as Error);
  });

  test("may be left out, but for a store", () => {
    expect(made({}).storage({ user_id: "ada" })).toBeDefined();
    expect(() => new UserFiles({} as never)).toThrow("store");
  });
});

test("how large a file may be is said by max_file_size_mb alone, also above what is taken by default", async () => {
  const root = await emptyFolder();
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
