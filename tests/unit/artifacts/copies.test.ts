/** Copies of artifacts as files, and the folders that they are in. */
import { spawnSync } from "node:child_process";
import { access, mkdtemp, readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { Copies, PrivateFolder } from "../../../web/src/artifacts/private-folder.js";
import { MemoryArtifactStore, type StoredArtifact } from "../../../web/src/index.js";

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

/** A store with one artifact, and what is known of it. */
async function stored(): Promise<{ store: MemoryArtifactStore; ref: StoredArtifact }> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putText("hello", { filename: "a.txt" });
  const ref = await store.stat(id);
  if (ref === null) throw new Error("not stored");
  return { store, ref };
}

describe("a copy is not written", () => {
  it("once it is closed, nor finished when that comes first", async () => {
    const { store, ref } = await stored();
    const open = store.openReader.bind(store);
    let begun: (() => void) | undefined;
    const reading = new Promise<void>((resolve) => (begun = resolve));
    let goOn: (() => void) | undefined;
    store.openReader = async (...given) => {
      begun?.();
      await new Promise<void>((resolve) => (goOn = resolve));
      return open(...given);
    };
    const copies = new Copies(store);
    const copy = copies.write(ref);
    copy.catch(() => undefined);
    await reading;
    await copies[Symbol.asyncDispose]();
    goOn?.();
    await expect(copy).rejects.toThrow("was closed");
    await expect(copies.write(ref)).rejects.toThrow("was closed");
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith(`sluice-copies-${process.pid}-`));
    expect(left).toEqual([]);
  });

  it("for a caller who gave up", async () => {
    const { store, ref } = await stored();
    await using copies = new Copies(store);
    await expect(copies.write(ref, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });

  it("of more than the store said that there is", async () => {
    const { store, ref } = await stored();
    await using copies = new Copies(store);
    await expect(copies.write({ ...ref, size_bytes: 3 })).resolves.toBeDefined();
    const endless = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(new Uint8Array(1000)) });
    store.openReader = async () => endless;
    await expect(copies.write(ref)).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("what a killed process left is removed by the next", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = await mkdtemp(join(tmpdir(), `sluice-copies-${pid}-`));
  await using folder = await PrivateFolder.open("session");
  await expect(access(left)).rejects.toThrow("ENOENT");
  await access(folder.path);
});
