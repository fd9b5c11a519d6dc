/** A store in a folder is copied to another one, while it is in use. */
import { appendFile, readdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { copyStore, type CopyOptions, type CopyReport } from "../../../web/src/artifacts/copy.js";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { FolderRecords } from "../../../web/src/artifacts/file/folder-records.js";
import { Layout } from "../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../web/src/artifacts/scope.js";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import { dated, listed } from "./bytes.js";
import { change, changed, contentsOf } from "./copying.js";

const ADA = { user_id: "ada" };

let from: string;
let to: string;
let source: FileArtifactStore;
let target: FileArtifactStore;

beforeEach(async () => {
  const root = await emptyFolder();
  [from, to] = [join(root, "from"), join(root, "to")];
  source = new FileArtifactStore(from);
  target = new FileArtifactStore(to);
});

const copy = (options: CopyOptions = {}): Promise<CopyReport> =>
  copyStore(new FolderRecords(from), new FolderRecords(to), options);

const blobOf = ({ id, scope }: ArtifactRef, folder = from): string =>
  join(new Layout(folder).refFolder(scopeKey(scope), id), "blob");

test("a copy has every artifact with its id, record, owner, bytes, times and place in the list", async () => {
  await source.putText("of ada", { scope: ADA, filename: "a.txt", namespace: "Tool", source: { tool: "write" } });
  await source.putText("of nobody");
  await source.putText("of ada", { scope: { user_id: "bob" } });
  expect(await copy()).toEqual({
    artifacts: 3,
    copied: 3,
    copied_bytes: 21,
    updated: 0,
    removed: 0,
    passes: 2,
    is_settled: true,
    faults: [],
  });
  expect(await dated(target.list())).toEqual(await dated(source.list()));
  expect(await contentsOf(new FolderRecords(to))).toEqual(await contentsOf(new FolderRecords(from)));
  expect(await listed(target.list(ADA, { filename: "a.txt" }))).toHaveLength(1);
  expect((await target.check()).faults).toEqual([]);
});

test("copying marks nothing in the source as used, and changes nothing there", async () => {
  await source.putText("text", { filename: "a.txt" });
  const before = await dated(source.list());
  const names = await readdir(from, { recursive: true });
  await copy();
  expect(await dated(source.list())).toEqual(before);
  expect(await readdir(from, { recursive: true })).toEqual(names);
});

test("an id that is longer since contents collide stays as long", async () => {
  const ref = await source.putText("text");
  const [record] = await records(from);
  const id = `artifact_${ref.sha256.slice(0, 16)}`;
  const long = { ...record, ref: { ...record.ref, id }, created: record.created + 1, origin: "0".repeat(64) };
  await new FolderRecords(from).add(long, once(new TextEncoder().encode("text")));
  await copy();
  expect((await listed(target.list())).map((each) => each.id)).toEqual([ref.id, id]);
});

async function records(folder: string) {
  const found = [];
  for await (const record of new FolderRecords(folder).records()) if ("ref" in record) found.push(record);
  return found as [(typeof found)[number], ...typeof found];
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}

describe("what changed in the source since", () => {
  let ref: ArtifactRef;

  beforeEach(async () => {
    ref = await source.putText("text", { scope: ADA, filename: "old.txt" });
    await source.putText("other", { scope: ADA });
    await copy();
  });

  test("nothing: is not copied again", async () => {
    expect(await copy()).toMatchObject({ copied: 0, updated: 0, removed: 0, passes: 1, is_settled: true });
  });

  test("a record and its times are brought up to date, and it is found by its new name alone", async () => {
    await source.update(ref.id, { filename: "new.txt", mime_type: null }, ADA);
    await source.get(ref.id, ADA);
    expect(await copy()).toMatchObject({ copied: 0, updated: 1 });
    expect(await dated(target.list())).toEqual(await dated(source.list()));
    expect(await listed(target.list(ADA, { filename: "new.txt" }))).toHaveLength(1);
    expect(await listed(target.list(ADA, { filename: "old.txt" }))).toEqual([]);
  });

  test("an artifact that was deleted is removed, and what the target has of its own stays", async () => {
    const own = await target.putText("of the target alone");
    await source.delete(ref.id, ADA);
    expect(await copy()).toMatchObject({ removed: 1 });
    expect((await listed(target.list(ADA))).map((each) => each.id)).not.toContain(ref.id);
    expect(await target.exists(own.id)).toBe(true);
  });

  test("an artifact that was deleted, and is the target's own by now, stays", async () => {
    await target.putText("text", { scope: ADA });
    await source.delete(ref.id, ADA);
    expect(await copy()).toMatchObject({ removed: 0 });
    expect(await target.exists(ref.id, ADA)).toBe(true);
  });

  test("an artifact that was deleted, and stored again, is the new one", async () => {
    await source.delete(ref.id, ADA);
    await source.putText("text", { scope: ADA, filename: "again.txt" });
    await copy();
    expect(await dated(target.list())).toEqual(await dated(source.list()));
  });

  test("a record that cannot be read any more costs the target nothing", async () => {
    await writeFile(join(new Layout(from).refFolder(scopeKey(ADA), ref.id), "ref.json"), "{");
    expect(await copy()).toMatchObject({ removed: 0, faults: [{ kind: "record", id: ref.id, scope: null }] });
    expect(await target.exists(ref.id, ADA)).toBe(true);
  });
});

describe("what cannot be copied is reported, and the rest is copied", () => {
  test("damaged bytes", async () => {
    const ref = await source.putText("text", { scope: ADA });
    const sound = await source.putText("sound");
    await appendFile(blobOf(ref), "!");
    const other = await source.putText("other text");
    await unlink(blobOf(other));
    const { faults, is_settled } = await copy();
    expect(is_settled).toBe(true);
    expect(faults.toSorted(({ id }) => (id === ref.id ? -1 : 1))).toMatchObject([
      { kind: "content", id: ref.id, scope: ADA },
      { kind: "content", id: other.id },
    ]);
    expect((await listed(target.list())).map((each) => each.id)).toEqual([sound.id]);
  });

  test("what is something else in the target, which stays as it is", async () => {
    const ref = await source.putText("text", { filename: "of the source" });
    await target.putText("text", { filename: "of the target" });
    expect(await copy()).toMatchObject({ copied: 0, faults: [{ kind: "conflict", id: ref.id }] });
    expect(await target.stat(ref.id)).toMatchObject({ filename: "of the target" });
  });

  test("what cannot be read in the target", async () => {
    const ref = await source.putText("text");
    await target.putText("text");
    await writeFile(join(new Layout(to).refFolder(scopeKey(), ref.id), "ref.json"), "{");
    expect(await copy()).toMatchObject({ is_settled: true, faults: [{ kind: "conflict", id: ref.id }] });
  });
});

test("the same that both have is left as it is, and stays when the source deletes it", async () => {
  const ref = await source.putText("text");
  await target.putText("text");
  expect(await copy()).toMatchObject({ copied: 0, updated: 0, faults: [], is_settled: true });
  await source.delete(ref.id);
  expect(await copy()).toMatchObject({ removed: 0 });
});

test("two sources share a target, and neither removes what the other brought", async () => {
  const second = join(from, "..", "second");
  const of = await new FileArtifactStore(second).putText("of the second");
  await source.putText("of the first");
  await copyStore(new FolderRecords(second), new FolderRecords(to), {});
  await copy();
  expect(await copy()).toMatchObject({ removed: 0 });
  expect(await target.exists(of.id)).toBe(true);
});

test("a dry run says what would be done, and makes nothing", async () => {
  await source.putText("text");
  expect(await copy({ isDryRun: true })).toMatchObject({ copied: 1, copied_bytes: 4 });
  await expect(readdir(to)).rejects.toThrow("ENOENT");
});

test("only a store can be copied", async () => {
  await expect(copy()).rejects.toMatchObject({ code: "E_NOT_FOUND" });
});

test("a target of a newer version is refused, and stays as it is", async () => {
  await source.putText("text");
  await target.putText("other");
  await writeFile(join(to, "sluice-store.json"), '{"sluice":"artifact store","version":999}\n');
  await expect(copy()).rejects.toMatchObject({ code: "E_STORE_READ", path: "target" });
});

test("whatever changes while it is copied, a last copy without writers makes both stores equal", async () => {
  expect.hasAssertions();
  const property = fc.asyncProperty(
    fc.array(change, { maxLength: 20 }),
    fc.array(change, { maxLength: 20 }),
    async (before, meanwhile) => {
      const root = await emptyFolder();
      const [here, there] = [join(root, "here"), join(root, "there")];
      const store = new FileArtifactStore(here);
      await store.putText("one at least");
      for (const each of before) await changed(store, each);
      const work = async (): Promise<void> => {
        for (const each of meanwhile) await changed(store, each);
      };
      const run = (): Promise<CopyReport> => copyStore(new FolderRecords(here), new FolderRecords(there), {});
      await Promise.all([run(), work()]);
      expect(await run()).toMatchObject({ is_settled: true, faults: [] });
      expect(await contentsOf(new FolderRecords(there))).toEqual(await contentsOf(new FolderRecords(here)));
      expect((await new FileArtifactStore(there).check()).faults).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: amount(10, 100) });
}, 300_000);
