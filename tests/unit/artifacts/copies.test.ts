/** Copies of artifacts as files, and the folders that they are in. */
import { spawnSync } from "node:child_process";
import { access, mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { Copies } from "../../../web/src/artifacts/copies.js";
import { PrivateFolder } from "../../../web/src/artifacts/private-folder.js";
import { MemoryArtifactStore } from "../../../web/src/index.js";

describe("copies for tools that want a path", () => {
  it("are read-only, named like the artifact as far as that is safe, and go at the end", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("hello", { filename: "../../etc/pass wd;.txt" });
    const ref = await store.stat(id);
    if (ref === null) throw new Error("not stored");
    let path: string;
    {
      await using copies = new Copies(store);
      path = await copies.write(ref);
      expect(path).toMatch(/sluice-copies-\d+-\w+[/\\]file-\w+[/\\]_.._etc_pass_wd_.txt$|etc_pass_wd_\.txt$/);
      expect(await readFile(path, "utf8")).toBe("hello");
      expect((await stat(path)).mode & 0o777).toBe(0o400);
      expect(await copies.write(ref)).not.toBe(path);
    }
    await expect(access(path)).rejects.toThrow("ENOENT");
  });
});

test("what a killed process left is removed by the next", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = await mkdtemp(join(tmpdir(), `sluice-copies-${pid}-`));
  await using folder = await PrivateFolder.open("session");
  await expect(access(left)).rejects.toThrow("ENOENT");
  await access(folder.path);
});
