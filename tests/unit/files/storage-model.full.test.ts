/** A user's files held against a plain model, also where the store fails half way, evicts, and forgets. */
import { once } from "node:events";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore, Clock } from "../../../web/src/artifacts/store.js";
import { TieredArtifactStore } from "../../../web/src/artifacts/tiered-store.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { coreDescriber, UserStorage } from "../../../web/src/files/user-storage.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import { bundled, printed } from "../../support/program.js";
import { TestS3 } from "../artifacts/s3/ceph.js";

describe("a model of user storage", () => {
  const ADA = { user_id: "ada" };
  const NAMES = ["a.txt", "b.txt", "c.txt"] as const;
  type Name = (typeof NAMES)[number];

  type Step =
    | readonly ["put" | "draft", Name]
    | readonly ["rename", Name, Name]
    | readonly ["remove" | "evict", Name]
    | readonly ["wait"];

  const name = fc.constantFrom(...NAMES);
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constantFrom("put" as const, "draft" as const), name) },
      { weight: 2, arbitrary: fc.tuple(fc.constant("rename" as const), name, name) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom("remove" as const, "evict" as const), name) },
      { weight: 1, arbitrary: fc.tuple(fc.constant("wait" as const)) },
    ),
    { maxLength: 20 },
  );

  /** One version in the model. */
  interface Version {
    readonly text: string;
    readonly expires_at: number;
  }

  /** By name, the oldest version first. */
  type Model = Map<Name, Version[]>;

  class Trial {
    now = 1_000_000;
    readonly files: UserStorage;
    readonly model: Model = new Map();
    readonly #store: ArtifactStore;
    #count = 0;

    constructor(make: (clock: Clock) => ArtifactStore) {
      // Each look is another millisecond, so that no two versions are of the same.
      const clock = (): number => (this.now += 1);
      this.#store = make(clock);
      this.files = new UserStorage(this.#store, ADA, { now: () => this.now });
    }

    /** Does a step to both. Throws what the store throws; then the model has nothing of it. */
    async take(step: Step): Promise<void> {
      const [what, at = "a.txt", to = "a.txt"] = step;
      if (what === "wait") this.now += 10_000;
      if (what === "put" || what === "draft") await this.#put(at, what === "draft");
      if (what === "rename") await this.#rename(at, to);
      if (what === "remove") {
        await this.files.remove(at);
        this.model.delete(at);
      }
      if (what === "evict") await this.#evict(at);
    }

    /** Versions whose time is not over, the newest first. */
    known(at: Name): readonly string[] {
      const left = this.model.get(at)?.filter(({ expires_at }) => expires_at > this.now) ?? [];
      return left.map(({ text }) => text).toReversed();
    }

    async texts(at: Name): Promise<readonly string[]> {
      if ((await this.files.find(at)) === null) return [];
      const texts: string[] = [];
      for (const version of await this.files.versions(at)) {
        texts.push(await new Response(await this.files.open(version)).text());
      }
      return texts;
    }

    async #put(at: Name, isDraft: boolean): Promise<void> {
      const text = `text ${(this.#count += 1)} ${"x".repeat(this.#count % 3 === 0 ? 100 : 0)}`;
      const expires_at = isDraft ? this.now + 5000 : Infinity;
      const draft = { reason: null, next_actions: [], expires_at };
      await this.files.put(at, text, isDraft ? { origin: "deferred", draft } : {});
      this.model.set(at, [...(this.model.get(at) ?? []), { text, expires_at }]);
    }

    async #rename(at: Name, to: Name): Promise<void> {
      const [own, others] = [this.known(at), this.known(to)];
      const outcome = await this.files.rename(at, to).then(
        ({ name: called, versions }) => `${called} of ${versions}`,
        (error: unknown) => (error as SluiceError).code,
      );
      const isTaken = at !== to && others.length > 0;
      const wanted = own.length === 0 ? "E_NOT_FOUND" : isTaken ? "E_INVALID_ARGUMENT" : `${to} of ${own.length}`;
      if (outcome !== wanted) throw new Error(`${at} renamed to ${to}: ${outcome} in place of ${wanted}`);
      if (own.length === 0 || at === to || others.length > 0) return;
      this.model.set(to, this.model.get(at) ?? []);
      this.model.delete(at);
    }

    /** As retention does it: the version that is least wanted goes, with its bytes. */
    async #evict(at: Name): Promise<void> {
      const versions = (await this.files.find(at)) === null ? [] : await this.files.versions(at);
      const seen = await this.#store.stat(versions.at(-1)?.id ?? "", ADA);
      if (seen === null) return;
      if (!(await this.#store.evict(seen))) throw new Error(`${at} was not evicted`);
      const left = this.model.get(at)?.filter(({ expires_at }) => expires_at > this.now) ?? [];
      this.model.set(at, left.slice(1));
    }
  }

  async function folder(): Promise<string> {
    const path = await emptyFolder();
    return path;
  }

  describe.each([
    [
      "memory",
      async () =>
        (clock: Clock): ArtifactStore =>
          new BareMemoryStore({ clock }),
      200,
    ],
    [
      "a folder",
      async () => {
        const path = await folder();
        let count = 0;
        return (clock: Clock): ArtifactStore => new FileArtifactStore(join(path, String((count += 1))), { clock });
      },
      25,
    ],
    [
      "two stores by size",
      async () =>
        (clock: Clock): ArtifactStore =>
          new TieredArtifactStore({
            near: new BareMemoryStore({ clock }),
            far: new BareMemoryStore({ clock }),
            limitBytes: 50,
          }),
      200,
    ],
  ] as const)("a user's files in %s", (_, opening, numRuns) => {
    test("are those of the model after any steps: listed, found by name, with all versions", async () => {
      const make = await opening();
      const property = fc.asyncProperty(steps, async (taking) => {
        const trial = new Trial(make);
        for (const step of taking) await trial.take(step);
        const wanted = NAMES.filter((each) => trial.known(each).length > 0);
        expect((await trial.files.list()).map((file) => file.name)).toEqual(wanted);
        for (const each of NAMES) expect(await trial.texts(each)).toEqual(trial.known(each));
      });
      await fc.assert(property, { numRuns: amount(Math.ceil(numRuns / 4), numRuns) });
    }, 60_000);

    test("are consistent where the store fails before or after any one of its calls", async () => {
      const make = await opening();
      const fault = fc.record({ at: fc.nat(40), isAfter: fc.boolean() });
      const property = fc.asyncProperty(steps, fault, async (taking, { at, isAfter }) => {
        let left = at;
        const trial = new Trial((clock) => failing(make(clock), () => left-- === 0, isAfter));
        const maybe = new Set<string>();
        for (const step of taking) {
          const isDone = await trial.take(step).then(
            () => true,
            () => false,
          );
          // Of what failed nobody knows how far it came, nor of what went on with that.
          const names = step.slice(1);
          if (!isDone || names.some((each) => maybe.has(each))) for (const each of names) maybe.add(each);
        }
        left = -1;
        const listed = await trial.files.list();
        for (const file of listed) expect(await trial.files.find(file.name)).toEqual(file);
        for (const each of NAMES) {
          const found = listed.find((file) => file.name === each);
          expect((await trial.texts(each)).length).toBe(found?.versions ?? 0);
        }
        for (const each of NAMES.filter((one) => !maybe.has(one))) {
          expect(await trial.texts(each)).toEqual(trial.known(each));
        }
      });
      await fc.assert(property, { numRuns: amount(Math.ceil(numRuns / 4), numRuns) });
    }, 60_000);
  });

  function failed(): SluiceError {
    return new SluiceError("E_STORE_WRITE", "The store could not be written.");
  }

  /** The same store, one of whose changes fails, before it is done or after it. */
  function failing(store: ArtifactStore, isNow: () => boolean, isAfter: boolean): ArtifactStore {
    const faulty =
      <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        const isFaulty = isNow();
        if (isFaulty && !isAfter) throw failed();
        const done = await work(...args);
        if (isFaulty) throw failed();
        return done;
      };
    const put = faulty(store.putBytes.bind(store));
    const changes: Partial<ArtifactStore> = {
      putBytes: put,
      putText: (text, info) => put(new TextEncoder().encode(text), info),
      update: faulty(store.update.bind(store)),
      delete: faulty(store.delete.bind(store)),
      openWriter: async (info) => {
        const writer = await store.openWriter(info);
        return {
          write: (chunk) => writer.write(chunk),
          close: faulty(writer.close.bind(writer)),
          abort: () => writer.abort(),
          [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
        };
      },
    };
    return new Proxy(store, {
      get: (target, key) => {
        const own: unknown = Reflect.get(changes, key) ?? Reflect.get(target, key);
        return typeof own === "function" && !Object.hasOwn(changes, key) ? (own.bind(target) as unknown) : own;
      },
    });
  }
});

/** What is put and fails, is put again, is put by many at once, or is one too many. */
describe("versions", () => {
  const ADA = { user_id: "ada" };
  const describer = coreDescriber(undefined);

  let near: MemoryArtifactStore;
  let far: MemoryArtifactStore;
  let files: UserStorage;
  beforeEach(() => {
    near = new MemoryArtifactStore();
    far = new MemoryArtifactStore();
    const store = new TieredArtifactStore({ near, far, limitBytes: 10 });
    files = new UserStorage(store, ADA, { describer, maxBytes: 100 });
  });

  /** Contents in both stores. */
  async function kept(): Promise<readonly string[]> {
    const texts: string[] = [];
    for (const store of [near, far]) {
      for await (const { id, scope } of store.list()) {
        texts.push(new TextDecoder().decode((await store.get(id, scope)) ?? new Uint8Array()));
      }
    }
    return texts;
  }

  /** So many bytes, and then an error. */
  function breaking(bytes: number): ReadableStream<Uint8Array> {
    let left = bytes;
    return new ReadableStream({
      pull: (controller) => {
        if (left <= 0) controller.error(new Error("gone"));
        else controller.enqueue(new Uint8Array(Math.min(left, 4)));
        left -= 4;
      },
    });
  }

  describe("a file that fails", () => {
    test.each([0, 8, 40])("after %d bytes leaves nothing, and what was there as it is", async (bytes) => {
      await files.put("a.txt", "before");
      await expect(files.put("a.txt", breaking(bytes))).rejects.toThrow("gone");
      await expect(files.put("b.txt", breaking(bytes))).rejects.toThrow("gone");
      expect(await kept()).toEqual(["before"]);
      expect(await files.list()).toMatchObject([{ name: "a.txt", versions: 1, size_bytes: 6 }]);
      expect(await files.put("b.txt", "after")).toMatchObject({ versions: 1 });
    });

    test("since it is larger than is taken is told as E_FILE_TOO_LARGE, and ends its stream", async () => {
      let isCancelled = false;
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(30)),
        cancel: () => void (isCancelled = true),
      });
      await expect(files.put("a.bin", endless)).rejects.toMatchObject({
        code: "E_FILE_TOO_LARGE",
        details: { file_size_bytes: 120, current_limit_bytes: 100 },
      });
      expect([isCancelled, await kept()]).toEqual([true, []]);
      expect(await files.put("a.bin", new Uint8Array(100))).toMatchObject({ size_bytes: 100 });
    });

    test.each([undefined, null, 7, {}])("since there are no bytes leaves nothing: %j", async (data) => {
      await expect(files.put("a.txt", data as never)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      expect(await kept()).toEqual([]);
    });
  });

  describe("versions", () => {
    test("that were there before are the newest when they are put again, and are not kept twice", async () => {
      for (const text of ["one", "two", "one"]) await files.put("a.txt", text);
      expect(await new Response(await files.open("a.txt")).text()).toBe("one");
      expect(await files.find("a.txt")).toMatchObject({ versions: 2 });
      expect([...(await kept())].sort()).toEqual(["one", "two"]);
    });

    test("say where they came from when they are put again", async () => {
      await files.put("a.txt", "one", { category: "draft", description: "First" });
      const again = await files.put("a.txt", "one", { origin: "generated", category: "report" });
      expect(again).toMatchObject({ origin: "generated", category: "report", description: null, versions: 1 });
    });

    test("of one millisecond are in the order in which they were put", async () => {
      const still = { clock: () => 1_000_000 };
      const stores = { near: new BareMemoryStore(still), far: new BareMemoryStore(still) };
      const store = new TieredArtifactStore({ ...stores, limitBytes: 10 });
      const own = new UserStorage(store, ADA, { describer, now: still.clock });
      const texts = Array.from({ length: 12 }, (_, at) => `${at}`.padEnd(at % 2 === 0 ? 4 : 20));
      for (const text of texts) await own.put("a.txt", text);
      const versions = await own.versions("a.txt");
      const read = versions.map(async (version) => new Response(await own.open(version)).text());
      expect(await Promise.all(read)).toEqual(texts.toReversed());
    });

    test("are a hundred at most: the oldest goes, also when it was in the other store", async () => {
      const texts = Array.from({ length: 103 }, (_, at) => `${at}`.padEnd(at % 2 === 0 ? 4 : 20));
      for (const text of texts) await files.put("a.txt", text);
      expect(await files.find("a.txt")).toMatchObject({ versions: 100 });
      expect(await files.versions("a.txt")).toHaveLength(100);
      expect([...(await kept())].sort()).toEqual(texts.slice(3).sort());
      await files.remove("a.txt");
      expect(await kept()).toEqual([]);
    });

    test("that tools made go before what the user uploaded, however many there are", async () => {
      await files.put("a.txt", "mine");
      for (let at = 0; at < 110; at += 1) await files.put("a.txt", `${at}`, { origin: "generated" });
      const versions = await files.versions("a.txt");
      expect([versions.length, versions.at(-1)?.origin, versions[0]?.origin]).toEqual([100, "uploaded", "generated"]);
      expect(await new Response(await files.open("a.txt")).text()).toBe("109");
    });
  });

  const EIGHT = Array.from({ length: 8 }, (_, index) => `text ${index}`);

  /** The one file that there is, and the texts of all of its versions. */
  async function versionsIn(storage: UserStorage): Promise<readonly string[]> {
    expect(await storage.list()).toMatchObject([{ name: "new.txt", versions: 8 }]);
    expect(await storage.find("new.txt")).toMatchObject({ versions: 8 });
    const texts = (await storage.versions("new.txt")).map(async (version) =>
      new Response(await storage.open(version)).text(),
    );
    return (await Promise.all(texts)).sort((left, right) => (left < right ? -1 : 1));
  }

  test.skipIf(process.platform === "win32")(
    "eight processes make one file of eight versions in a folder",
    async () => {
      const folder = await emptyFolder();
      const program = await bundled(new URL("../artifacts/store-program.ts", import.meta.url), "put");
      onTestFinished(() => program.dispose());
      const children = EIGHT.map((text) => program.start(folder, "new.txt", text));
      const said = children.map(printed);
      await Promise.all(children.map(async (child) => child.stdout && once(child.stdout, "data")));
      for (const child of children) child.kill("SIGUSR2");
      expect(await Promise.all(said)).toEqual(EIGHT.map(() => "ready\nnew.txt"));
      expect(await versionsIn(new UserStorage(new FileArtifactStore(folder), ADA))).toEqual(EIGHT);
    },
    60_000,
  );

  test("eight clients make one file of eight versions in a bucket", async () => {
    await using s3 = await TestS3.started();
    const prefix = s3.prefix();
    const stores = EIGHT.map(() => s3.store({ prefix }));
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
    await Promise.all(stores.map((store, at) => new UserStorage(store, ADA).put("new.txt", EIGHT[at] ?? "")));
    const [one] = stores;
    if (one === undefined) throw new Error("There is no store.");
    expect(await versionsIn(new UserStorage(one, ADA))).toEqual(EIGHT);
  }, 60_000);
});
