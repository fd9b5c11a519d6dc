/** A store is damaged in many ways, checked, and repaired. */
import {
  chmod,
  cp,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Layout } from "../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../web/src/artifacts/scope.js";
import type { ArtifactRef, StoredArtifact } from "../../../web/src/artifacts/store.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import { listed } from "./bytes.js";

const ADA = { user_id: "ada" };
const BOB = { user_id: "bob" };
const encoder = new TextEncoder();

let root: string;
let at: Layout;
let store: FileArtifactStore;
/** A content of two users, and one of ada alone. */
let shared: ArtifactRef;
let bobs: ArtifactRef;
let own: ArtifactRef;

beforeEach(async () => {
  root = join(await emptyFolder(), "store");
  at = new Layout(root);
  store = new FileArtifactStore(root);
  shared = await store.putBytes(encoder.encode("of both"), {
    scope: ADA,
    filename: "both.txt",
    mime_type: "text/plain",
  });
  bobs = await store.putBytes(encoder.encode("of both"), { scope: BOB, filename: "bobs.txt" });
  own = await store.putText("of ada alone", { scope: ADA, filename: "own.txt", source: { tool: "write" } });
  // Makes the index of names.
  await listed(store.list(ADA, { filename: "own.txt" }));
});

const folderOf = ({ scope, id }: ArtifactRef): string => at.refFolder(scopeKey(scope), id);
const blobOf = (ref: ArtifactRef): string => join(folderOf(ref), "blob");
const recordOf = (ref: ArtifactRef): string => join(folderOf(ref), "ref.json");
const textOf = async ({ id, scope }: ArtifactRef): Promise<string> =>
  new TextDecoder().decode((await store.get(id, scope)) ?? undefined);

/** Gives a ref a file of its own, as on a file system without hard links. */
async function unshared(ref: ArtifactRef, text = "of both"): Promise<void> {
  await unlink(blobOf(ref));
  await writeFile(blobOf(ref), text, { mode: 0o600 });
}

/** All artifacts with their times. */
async function timed(): Promise<readonly StoredArtifact[]> {
  const found: StoredArtifact[] = [];
  for await (const artifact of store.list()) found.push(artifact);
  return found;
}

async function everything(): Promise<unknown> {
  const names = await readdir(root, { recursive: true });
  const found = names.sort().map(async (name) => {
    const { size, mode, mtimeMs } = await lstat(join(root, name));
    return [name, size, mode, mtimeMs];
  });
  return Promise.all(found);
}

test("of a sound store everything is read, each content once, and nothing is changed", async () => {
  const before = await everything();
  expect(await store.check()).toEqual({ artifacts: 3, contents: 2, bytes: 19, faults: [], swept: null });
  expect(await everything()).toEqual(before);
});

test("progress adds up to the bytes that were read", async () => {
  let bytes = 0;
  const report = await store.check({ onProgress: (read) => void (bytes += read) });
  expect(bytes).toBe(report.bytes);
});

interface Damage {
  readonly what: string;
  readonly does: () => Promise<unknown>;
  readonly kind: string;
  readonly ref: () => ArtifactRef;
}

const REPAIRED: readonly Damage[] = [
  {
    what: "a ref's file that has other bytes",
    does: () => unshared(bobs, "of evil"),
    kind: "content",
    ref: () => bobs,
  },
  { what: "a ref's file that was cut short", does: () => unshared(bobs, "of"), kind: "content", ref: () => bobs },
  { what: "a ref's file that is gone", does: () => unlink(blobOf(bobs)), kind: "missing", ref: () => bobs },
  {
    what: "a ref's file that is a link to somewhere else",
    does: async () => {
      await unlink(blobOf(bobs));
      await symlink("/etc/hostname", blobOf(bobs));
    },
    kind: "content",
    ref: () => bobs,
  },
  {
    what: "a shared file that has other bytes, where one artifact has its own",
    does: async () => {
      await unshared(shared);
      await writeFile(at.blob(bobs.sha256), "of evil");
    },
    kind: "content",
    ref: () => bobs,
  },
  { what: "a record that is no JSON", does: () => writeFile(recordOf(own), "{"), kind: "record", ref: () => own },
  { what: "a record that is empty", does: () => truncate(recordOf(own)), kind: "record", ref: () => own },
  { what: "a record that is gone", does: () => unlink(recordOf(own)), kind: "record", ref: () => own },
  {
    what: "the record of another artifact",
    does: () => cp(recordOf(bobs), recordOf(own)),
    kind: "record",
    ref: () => own,
  },
  {
    what: "a record of many megabytes",
    does: () => truncate(recordOf(own), 64 * 1024 ** 2),
    kind: "record",
    ref: () => own,
  },
  {
    what: "a name that leads nowhere",
    does: async () => {
      for (const scope of await readdir(at.names))
        if (scope !== "complete") await rm(join(at.names, scope), { recursive: true });
      await store.delete(bobs.id, BOB);
      await store.delete(shared.id, ADA);
    },
    kind: "name",
    ref: () => own,
  },
  { what: "a file that others can read", does: () => chmod(blobOf(own), 0o644), kind: "access", ref: () => own },
];

describe.each(REPAIRED)("$what", ({ does, kind, ref }) => {
  test("is reported, and changed by nothing but a repair", async () => {
    await does();
    const before = await everything();
    const { faults } = await store.check();
    expect(faults).toMatchObject([{ kind, id: ref().id, state: "repairable" }]);
    expect(await everything()).toEqual(before);
  });

  test("is repaired", async () => {
    const seen = await timed();
    await does();
    const used = (await lstat(folderOf(ref()))).mtimeMs;
    const { faults } = await store.check({ repair: true });
    expect(faults).toMatchObject([{ kind, id: ref().id, state: "repaired" }]);
    expect((await store.check()).faults).toEqual([]);
    expect((await lstat(folderOf(ref()))).mtimeMs).toBeCloseTo(used, 2);
    for (const artifact of await timed()) {
      expect(await textOf(artifact)).toBe(artifact.sha256 === own.sha256 ? "of ada alone" : "of both");
      // What retention goes by is as it was. A record that is written anew has no name, and counts from the file.
      const before = seen.find(({ id, scope }) => id === artifact.id && scope.user_id === artifact.scope.user_id);
      const isNew = kind === "record" && artifact.id === own.id;
      const { size_bytes, namespace } = own;
      expect(artifact).toMatchObject(
        isNew ? { size_bytes, namespace, filename: null } : { ...before, used_at: artifact.used_at },
      );
    }
    expect(await listed(store.list(ADA, { filename: "own.txt" }))).toHaveLength(kind === "record" ? 0 : 1);
  });
});

describe("what there is no sound copy of", () => {
  test("is reported for each artifact, is no longer shared, and is stored anew by the next put", async () => {
    await writeFile(at.blob(bobs.sha256), "of evil");
    const { faults } = await store.check({ repair: true });
    expect(faults.map(({ kind, id, state }) => [kind, id, state])).toEqual([
      ["content", shared.id, "lost"],
      ["content", bobs.id, "lost"],
    ]);
    await expect(store.get(bobs.id, BOB)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    const carol = await store.putText("of both", { scope: { user_id: "carol" } });
    expect(await textOf(carol)).toBe("of both");
    // Now there is one.
    expect((await store.check({ repair: true })).faults.every(({ state }) => state === "repaired")).toBe(true);
    expect(await textOf(bobs)).toBe("of both");
  });

  test("a record and a content that are both damaged stay", async () => {
    await writeFile(recordOf(own), "{");
    await unshared(own, "something else");
    const { faults } = await store.check({ repair: true });
    expect(faults).toMatchObject([{ kind: "record", id: own.id, state: "lost" }]);
  });

  test("a record of an owner that no other artifact tells stays", async () => {
    await writeFile(recordOf(bobs), "{");
    expect((await store.check({ repair: true })).faults).toMatchObject([
      { kind: "record", scope: null, state: "lost" },
    ]);
  });
});

test("a content without an artifact, and what a crash left, is removed by a repair only", async () => {
  await mkdir(join(at.blobs, "00"));
  await writeFile(join(at.blobs, "00", "00".repeat(32)), "unfinished");
  expect((await store.check()).faults).toMatchObject([{ kind: "content", id: null, state: "repairable" }]);
  expect((await store.check({ repair: true })).faults).toMatchObject([
    { kind: "content", id: null, state: "repaired" },
  ]);
  expect((await store.check()).faults).toEqual([]);
});

test("a folder that is a link is reported and not followed", async () => {
  const scope = join(folderOf(bobs), "..");
  const elsewhere = join(root, "..", "elsewhere");
  await rename(scope, elsewhere);
  await symlink(elsewhere, scope);
  const { faults, artifacts } = await store.check({ repair: true });
  expect(faults).toEqual([{ kind: "foreign", id: null, scope: null, state: "lost" }]);
  expect(artifacts).toBe(2);
});

test("a folder that is no store is refused", async () => {
  await expect(new FileArtifactStore(await emptyFolder()).check()).rejects.toMatchObject({ code: "E_NOT_FOUND" });
});

test("artifacts that come and go meanwhile are no faults", async () => {
  const over = new AbortController();
  const busy = async (user: string): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const scope = { user_id: user };
      const ref = await store.putText(`text ${round % 5}`, { scope, filename: `${round}.txt` });
      await store.update(ref.id, { filename: `renamed ${round}.txt` }, scope);
      await store.delete(ref.id, scope);
    }
  };
  const work = Promise.all(["eve", "mallory"].map(busy));
  const other = new FileArtifactStore(root);
  try {
    for (let round = 0; round < amount(20, 200); round += 1) {
      expect((await other.check({ repair: round % 2 === 0 })).faults).toEqual([]);
    }
  } finally {
    over.abort();
    await work;
  }
  expect(await textOf(own)).toBe("of ada alone");
});

test("a second link to a content counts it once", async () => {
  await link(at.blob(own.sha256), join(root, "..", "backup"));
  expect(await store.check()).toMatchObject({ contents: 2, faults: [] });
  expect(await readFile(join(root, "..", "backup"), "utf8")).toBe("of ada alone");
});
