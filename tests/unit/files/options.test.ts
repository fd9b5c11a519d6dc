/** Flags and their defaults. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { FLAGS, MAX_FILE_BYTES } from "../../../web/src/files/options.js";
import { UserFiles } from "../../../web/src/files/user-files.js";

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
