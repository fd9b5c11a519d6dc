import { mkdir, readdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Folder } from "../../../web/src/artifacts/file/folder.js";
import { evictRef } from "../../../web/src/artifacts/file/refs.js";
import { TemporaryFolder } from "../../../web/src/artifacts/file/temporaries.js";
import { sha256 } from "../../../web/src/artifacts/hash-node.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactStore, Clock, StoredArtifact } from "../../../web/src/artifacts/store.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import { listed } from "./bytes.js";
import { holds, step, type Step } from "./contract/model.js";
import { endedOwner } from "./ended.js";
import { describeStore, type OpenSubject } from "./store-contract.js";

describe("the file store", () => {
  type Wrap = (store: FileArtifactStore, clock: Clock | undefined) => ArtifactStore;

  const opener =
    (durable: boolean, wrap: Wrap = (store) => store): OpenSubject =>
    async (options = {}) => {
      const root = await emptyFolder();
      const names = async (folder: string): Promise<string[]> =>
        (await readdir(join(root, "store", folder), { recursive: true, withFileTypes: true }).catch(() => []))
          .filter((entry) => entry.isFile())
          .map((entry) => entry.name);
      return {
        store: wrap(new FileArtifactStore(join(root, "store"), { durable, ...options }), options.clock),
        contents: async () => (await names("blobs")).length + (await names("tmp")).length,
        dispose: async () => undefined,
      };
    };

  describeStore("FileArtifactStore", opener(false));
  describeStore("FileArtifactStore, durable", opener(true));
  describeStore(
    "RetainingArtifactStore over FileArtifactStore",
    opener(false, (store, clock) => new RetainingArtifactStore(store, {}, clock === undefined ? {} : { clock })),
  );

  test("the file store does what the model does, also when two objects share a folder", async () => {
    const root = await emptyFolder();
    let run = 0;
    const check = async (steps: readonly Step[]): Promise<void> => {
      const folder = join(root, String(run++));
      await holds(new FileArtifactStore(folder), steps.slice(0, steps.length / 2));
      for (const ref of await listed(new FileArtifactStore(folder).list())) {
        expect(await new FileArtifactStore(folder).delete(ref.id, ref.scope)).toBe(true);
      }
      await holds(new FileArtifactStore(folder), steps);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), check), { numRuns: amount(15, 40) });
  });
});

describe("a hash in another thread that fails", () => {
  const fails = async (): Promise<never> => {
    throw new Error("gone");
  };
  const steady = { update: async (piece: Uint8Array) => piece, digest: async () => "", discard: () => undefined };

  test.each([
    ["at a piece", { ...steady, update: fails }],
    ["at its end", { ...steady, digest: fails }],
  ])("%s: nothing is stored, and nothing is left", async (_, hash) => {
    const root = await emptyFolder();
    const store = new FileArtifactStore(root, { hashing: { ...sha256, parallel: async () => hash } });
    await expect(store.putBytes(new Uint8Array(9_000_000))).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    const left = await readdir(root, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile() && entry.name === "blob")).toEqual([]);
    expect(await listed(new FileArtifactStore(root).list())).toEqual([]);
  });
});

/** The lock of a collector, in every state in which it may be found. */
describe("the lock of a folder", () => {
  const HOUR = 3_600_000;
  let root: string;
  let lock: string;
  let store: FileArtifactStore;
  beforeEach(async () => {
    root = await emptyFolder();
    lock = join(root, "collector.lock");
    store = new FileArtifactStore(root);
    await store.putText("x");
  });

  const work = (): Promise<string> => Promise.resolve("done");

  /** A lock with these words in it, written so many milliseconds ago. */
  async function locked(words: string, age: number): Promise<void> {
    await writeFile(lock, words);
    const then = new Date(Date.now() - age);
    await utimes(lock, then, then);
  }

  const ofOtherMachine = `${"1".repeat(12)}-${"1".repeat(16)}`;

  test.each([
    ["of another machine", ofOtherMachine, 2 * HOUR, null],
    ["of another machine, a day old", ofOtherMachine, 25 * HOUR, "done"],
    ["that is being written", "", 0, null],
    ["that nobody wrote", "", HOUR, "done"],
    ["that is cut short", ofOtherMachine.slice(0, 9), HOUR, "done"],
    ["of no process, just now", "anything", 0, null],
    ["of no process", "anything", HOUR, "done"],
  ])("a lock %s", async (_, words, age, outcome) => {
    await locked(words, age);
    expect(await store.exclusively(work)).toBe(outcome);
    expect((await readdir(root)).includes("collector.lock")).toBe(outcome === null);
    expect(await readdir(join(root, "tmp"))).toEqual([]);
  });

  test("a lock of a process that lives holds, whatever the clock says, and that of one that ended does not", async () => {
    const theirs = await new TemporaryFolder(join(root, "tmp")).path();
    for (const age of [0, 2 * HOUR, -2 * HOUR]) {
      await locked(theirs.owner, age);
      expect(await store.exclusively(work)).toBeNull();
    }
    await theirs.release();
    expect(await store.exclusively(work)).toBe("done");
    await locked(await endedOwner(join(root, "tmp")), 0);
    expect(await store.exclusively(work)).toBe("done");
  });

  test("a lock holds while its work is done, also against others of the same process", async () => {
    const inner = await store.exclusively(() =>
      Promise.all([store.exclusively(work), new FileArtifactStore(root).exclusively(work)]),
    );
    expect(inner).toEqual([null, null]);
    expect(await store.exclusively(work)).toBe("done");
  });

  describe("something other than a lock", () => {
    test.each([
      ["a folder", () => mkdir(lock), "E_STORE_DENIED"],
      ["a symbolic link", () => symlink("/etc/passwd", lock), "E_STORE_DENIED"],
      ["a gigabyte", () => writeFile(lock, "").then(() => truncate(lock, 1e9)), "E_STORE_CORRUPT"],
    ])("%s is a coded error without a path, and costs no put", async (_, make, code) => {
      await make();
      const failure = await store.exclusively(work).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "SluiceError", code });
      expect(String(failure)).not.toContain(root);
      expect(await store.putText("y")).toMatchObject({ size_bytes: 1 });
    });

    test("that takes the lock's place during the work does not cost its outcome", async () => {
      const outcome = await store.exclusively(async () => {
        await rm(lock);
        await mkdir(lock);
        return "done";
      });
      expect(outcome).toBe("done");
    });
  });

  test("work that fails gives the lock back, and its own error", async () => {
    await expect(store.exclusively(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    expect(await store.exclusively(work)).toBe("done");
  });
});

/** Refs in a folder: between the looks that an eviction takes, and by their names. */
describe("references in files", () => {
  let root: string;
  let store: FileArtifactStore;
  beforeEach(async () => {
    root = await emptyFolder();
    store = new FileArtifactStore(root);
  });

  /** A folder in which something happens after an eviction's first look and before its rename. */
  class Racing extends Folder {
    readonly #meanwhile: () => Promise<unknown>;

    constructor(meanwhile: () => Promise<unknown>) {
      super(root, false);
      this.#meanwhile = meanwhile;
    }

    override async ready(): Promise<void> {
      await super.ready();
      await this.#meanwhile();
    }
  }

  async function seen(): Promise<StoredArtifact> {
    const { id } = await store.putText("wanted", { filename: "first.txt" });
    const artifact = await store.stat(id);
    if (artifact === null) throw new Error("nothing is there");
    return artifact;
  }

  test("a claim that comes while a collector reaches out gives the artifact back", async () => {
    const artifact = await seen();
    const claim = new Racing(() => store.putText("wanted", { filename: "second.txt" }));
    expect(await evictRef(claim, artifact)).toBe(false);
    expect(await store.get(artifact.id)).toEqual(new TextEncoder().encode("wanted"));
    expect(await store.stat(artifact.id)).toMatchObject({ filename: "second.txt" });
    expect(await readdir(join(root, "tmp"))).toEqual([]);
  });

  test("a reader that comes while a collector reaches out keeps it", async () => {
    const artifact = await seen();
    expect(await evictRef(new Racing(() => store.get(artifact.id)), artifact)).toBe(false);
    expect(await store.exists(artifact.id)).toBe(true);
  });

  test("what was deleted while a collector reached out is not its to count", async () => {
    const artifact = await seen();
    expect(await evictRef(new Racing(() => store.delete(artifact.id)), artifact)).toBe(false);
    expect(await readdir(join(root, "blobs"), { recursive: true })).not.toContain(artifact.sha256);
  });

  test("where nothing happens it goes, with its bytes", async () => {
    const artifact = await seen();
    expect(await evictRef(new Racing(() => Promise.resolve()), artifact)).toBe(true);
    expect(await store.exists(artifact.id)).toBe(false);
    expect((await readdir(join(root, "blobs"), { recursive: true })).join(" ")).not.toMatch(/[0-9a-f]{64}/);
  });

  const scope = { user_id: "ada" };
  async function named(filename: string): Promise<readonly string[]> {
    return (await listed(new FileArtifactStore(root).list(scope, { filename }))).map(({ id }) => id);
  }

  /** Paths of the entries that there are. */
  async function entries(): Promise<readonly string[]> {
    const paths = await readdir(join(root, "names"), { recursive: true });
    return paths.filter((path) => path.includes("@"));
  }

  test("a store that was written before there were names is found its way in all the same", async () => {
    const { id } = await store.putText("x", { scope, filename: "a.txt" });
    await rm(join(root, "names"), { recursive: true });
    expect(await named("a.txt")).toEqual([id]);
    expect(await entries()).toHaveLength(1);
    await store.update(id, { filename: "b.txt" }, scope);
    expect([await named("a.txt"), await named("b.txt")]).toEqual([[], [id]]);
  });

  test("an artifact is found by its name, whoever gives it that name or another at the same time", async () => {
    const { id } = await store.putText("x", { scope, filename: "a.txt" });
    const others = Array.from({ length: 3 }, () => new FileArtifactStore(root));
    const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
    for (let turn = 0; turn < amount(15, 300); turn += 1) {
      await Promise.all(
        others.map(async (other, at) => {
          await soon();
          await other.update(id, { filename: at === 1 ? "A.txt" : "a.txt" }, scope);
        }),
      );
      const { filename } = (await store.stat(id, scope)) ?? {};
      expect(await named(filename ?? "")).toEqual([id]);
    }
  });

  test("an entry goes with its artifact, and with its name", async () => {
    const { id } = await store.putText("x", { scope, filename: "a.txt" });
    await store.update(id, { filename: "b.txt" }, scope);
    expect(await entries()).toHaveLength(1);
    await store.delete(id, scope);
    expect(await entries()).toEqual([]);
  });

  test("an entry without an artifact counts for nothing, and goes with gc once it is old", async () => {
    const { id } = await store.putText("x", { scope, filename: "a.txt" });
    const [entry = ""] = await entries();
    const left = [entry.replace(/@.*/, "@zzz"), entry.replace(/_[0-9a-f]{12}@/, "_ffffffffffff@")];
    for (const path of left) await writeFile(join(root, "names", path), "");
    expect(await named("a.txt")).toEqual([id]);
    await store.gc();
    expect(await entries()).toHaveLength(3);
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const path of [...left, entry]) await utimes(join(root, "names", path), old, old);
    await store.gc();
    expect(await entries()).toEqual([entry]);
    expect(await named("a.txt")).toEqual([id]);
  });
});
