/** Puts that belong together: what there is is looked for once, and is never taken for what it was. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { UserStorage, type FileBatch } from "../../../web/src/files/user-storage.js";
import { lab } from "./lab.js";
import { ListingStore } from "./listing-store.js";

const ADA = { user_id: "ada" };

let now: number;
let store: ListingStore;
/** The same files, in this process and in another one. */
let files: UserStorage;
let elsewhere: UserStorage;
beforeEach(() => {
  now = 0;
  store = new ListingStore();
  files = new UserStorage(store, ADA, { now: () => now });
  elsewhere = new UserStorage(store, ADA, { now: () => now });
});

/** Names, and how many versions each has. */
async function kept(): Promise<Readonly<Record<string, number>>> {
  return Object.fromEntries((await files.list()).map(({ name, versions }) => [name, versions]));
}

/** A batch that has listed what there is. */
async function listedBatch(): Promise<FileBatch> {
  const batch = files.batch();
  await batch.put("first.txt", "first");
  return batch;
}

describe("one listing serves", () => {
  test("all puts of a batch, of new names and of known ones", async () => {
    await files.put("a.txt", "before");
    const batch = files.batch();
    const listings = await store.listingsOf(async () => {
      for (const [name, text] of Object.entries({ "a.txt": "one", "b.txt": "two", "c.txt": "three" })) {
        expect(await batch.put(name, text)).toMatchObject({ name, versions: name === "a.txt" ? 2 : 1 });
      }
      expect(await batch.put("c.txt", "four")).toMatchObject({ versions: 2 });
    });
    expect([listings, await kept()]).toEqual([1, { "a.txt": 2, "b.txt": 1, "c.txt": 2 }]);
  });

  test("all files of a result, and all names of a call", async () => {
    const { call, userFiles } = await lab({ files: { store } });
    const filenames = ["a.txt", "b.txt", "c.txt"];
    for (const text of ["one", "two"]) {
      const artifacts = filenames.map((name) => ({ name, b64: btoa(text), mime: "text/plain" }));
      const result = { structuredContent: { results: {}, artifacts } };
      expect(await store.listingsOf(() => call("raw", { result }))).toBe(1);
    }
    expect((await userFiles.storage(ADA).list()).map(({ versions }) => versions)).toEqual([2, 2, 2]);
    expect(await store.listingsOf(() => call("echo", { filenames }))).toBe(1);
  });
});

describe("what happens in the middle of a batch shows", () => {
  test("where this process puts, renames or deletes, whatever it is", async () => {
    await files.put("known.txt", "one");
    const batch = await listedBatch();
    await files.put("new.txt", "one");
    expect(await batch.put("new.txt", "two")).toMatchObject({ versions: 2 });
    await files.rename("known.txt", "renamed.txt");
    expect(await batch.put("known.txt", "two")).toMatchObject({ versions: 1 });
    await files.remove("new.txt");
    expect(await batch.put("new.txt", "three")).toMatchObject({ versions: 1 });
    expect(await kept()).toEqual({ "first.txt": 1, "known.txt": 1, "new.txt": 1, "renamed.txt": 1 });
    await files.clear();
    expect(await batch.put("known.txt", "four")).toMatchObject({ versions: 1 });
  });

  test("where another process renames a file: it keeps its new name, and its versions", async () => {
    await files.put("known.txt", "one");
    const batch = await listedBatch();
    await elsewhere.rename("known.txt", "renamed.txt");
    expect(await batch.put("known.txt", "two")).toMatchObject({ versions: 1 });
    expect(await kept()).toEqual({ "first.txt": 1, "known.txt": 1, "renamed.txt": 1 });
  });

  test("where another process deletes a file, or puts a version of it", async () => {
    for (const name of ["gone.txt", "known.txt"]) await files.put(name, "one");
    const batch = await listedBatch();
    await elsewhere.remove("gone.txt");
    await elsewhere.put("known.txt", "two");
    expect(await batch.put("gone.txt", "three")).toMatchObject({ versions: 1 });
    await batch.put("known.txt", "three");
    expect(await kept()).toEqual({ "first.txt": 1, "gone.txt": 1, "known.txt": 3 });
  });

  test("where another process makes a file: after five seconds; before, both are there, as of two at once", async () => {
    const batch = await listedBatch();
    now += 5000;
    await elsewhere.put("early.txt", "theirs");
    await batch.put("early.txt", "ours");
    now += 1;
    await elsewhere.put("late.txt", "theirs");
    expect(await batch.put("late.txt", "ours")).toMatchObject({ versions: 2 });
    expect(await kept()).toEqual({ "early (2).txt": 1, "early.txt": 1, "first.txt": 1, "late.txt": 2 });
  });

  test("where the time of a draft is over", async () => {
    const draft = { reason: null, next_actions: [], expires_at: 100 };
    const batch = await listedBatch();
    await batch.put("draft.txt", "one", { origin: "deferred", draft });
    now = 100;
    expect(await batch.put("draft.txt", "two")).toMatchObject({ versions: 1, draft: null });
  });

  test("where a put failed half-way", async () => {
    const batch = await listedBatch();
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    await expect(batch.put("first.txt", broken)).rejects.toThrow("gone");
    expect(await batch.put("first.txt", "second")).toMatchObject({ versions: 2 });
  });
});

/** What may happen to files, by this process or by another one. */
interface Step {
  readonly act: "batch" | "put" | "rename" | "remove";
  readonly isFar: boolean;
  readonly name: string;
  readonly to: string;
  readonly text: string;
}

/** What the steps were answered with, and what is there in the end. */
async function outcome(steps: readonly Step[], isBatch: boolean): Promise<readonly unknown[]> {
  let time = 0;
  const opened = new MemoryArtifactStore();
  const open = (): UserStorage => new UserStorage(opened, ADA, { now: () => time });
  const [near, far] = [open(), open()];
  const batch = isBatch ? near.batch() : near;
  const told: unknown[] = [];
  for (const { act, isFar, name, to, text } of steps) {
    const by = isFar ? far : near;
    // What is called so by another process is seen by then.
    if (isFar && act !== "remove") time += 5001;
    const done = {
      batch: () => batch.put(name, text),
      put: () => by.put(name, text),
      rename: () => by.rename(name, to),
      remove: () => by.remove(name),
    }[act]();
    const answer = await done.catch((error: Error) => error.message);
    told.push(typeof answer === "object" ? [answer.name, answer.versions] : answer);
  }
  for (const file of await near.list()) {
    told.push([file.name, file.versions, await new Response(await near.open(file)).text()]);
  }
  return told;
}

test("a batch keeps what puts by themselves keep, whatever happens meanwhile", async () => {
  const name = fc.constantFrom("a.txt", "b.txt", "c.txt");
  const step = fc.record({
    act: fc.constantFrom<Step["act"][]>("batch", "batch", "put", "rename", "remove"),
    isFar: fc.boolean(),
    name,
    to: name,
    text: fc.constantFrom("one", "two", "three", "four"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      expect(await outcome(steps, true)).toEqual(await outcome(steps, false));
    }),
    { numRuns: 300 },
  );
});
