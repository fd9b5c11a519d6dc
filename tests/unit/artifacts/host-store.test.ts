import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { folderStore as folderInBrowsers } from "../../../web/src/artifacts/folder-web.js";
import { chooseStore } from "../../../web/src/artifacts/chosen-store.js";
import { createHash, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BasicStoreAdapter,
  type BasicArtifactInfo,
  type BasicArtifactStore,
  asStore,
  discoverArtifactStore,
} from "../../../web/src/artifacts/host-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { ToolArtifacts } from "../../../web/src/artifacts/scoped.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { UserStorage } from "../../../web/src/files.js";
import { createSluice, wrapClient } from "../../../web/src/node.js";
import { artifactHandler } from "../../../web/src/server/artifacts/handler.js";
import { PDF } from "../core/samples.js";
import { listed } from "./bytes.js";
import { holds, step } from "./contract/model.js";
import { describeStore } from "./store-contract.js";

const A = { session_id: "a" };
const B = { session_id: "b" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A store of a host's own, of the least kind: an id follows from namespace and content, and is enough to read. */
class FiveMethods {
  readonly contents = new Map<string, Uint8Array>();
  readonly told: (BasicArtifactInfo | undefined)[] = [];
  digits = 12;
  name = (namespace: string, hash: string): string => `${namespace}_${hash}`;

  async putBytes(data: Uint8Array, info?: BasicArtifactInfo): Promise<{ readonly id: string }> {
    this.told.push(info);
    const hash = createHash("sha256").update(data).digest("hex").slice(0, this.digits);
    const id = this.name(info?.namespace ?? "rfc", hash);
    this.contents.set(id, data);
    return { id };
  }

  putText(text: string, info?: BasicArtifactInfo): Promise<{ readonly id: string }> {
    return this.putBytes(bytes(text), info);
  }

  async get(id: string): Promise<Uint8Array | null> {
    return this.contents.get(id) ?? null;
  }

  async delete(id: string): Promise<boolean> {
    return this.contents.delete(id);
  }

  async exists(id: string): Promise<boolean> {
    return this.contents.has(id);
  }
}

describeStore(
  "a store with the RFC's five methods",
  async (options = {}) => {
    const inner = new FiveMethods();
    return {
      store: new BasicStoreAdapter(inner, options),
      contents: async () => inner.contents.size,
      dispose: async () => undefined,
    };
  },
  "its own",
);

describe("ids that the store gives", () => {
  const named = (name: FiveMethods["name"]): FiveMethods => Object.assign(new FiveMethods(), { name });
  const result = {
    content: [
      { type: "resource", resource: { uri: "a:b", blob: PDF.toString("base64"), mimeType: "application/pdf" } },
    ],
  };

  test("are those that the model and the host are told, and read, pass and download by", async () => {
    const inner = named(() => randomUUID());
    const given = { artifactStore: inner };
    const sluice = await createSluice({ stateStore: given });
    const { text, artifacts } = await sluice.transform(result, { scope: A });
    const [id] = inner.contents.keys();
    expect(artifacts.map((ref) => ref.id)).toEqual([id]);
    expect(text).toContain(`"id":"${id}"`);
    expect(await inner.get(artifacts[0]?.id ?? "")).toEqual(new Uint8Array(PDF));
    const { value } = await sluice.transform(result, { dialect: "mcp", scope: A });
    expect(JSON.stringify(value)).toContain(`artifact://${id}`);
    expect(await sluice.restore(value, { scope: A })).toEqual(result);
    // The same content in the same scope is put once; another scope has an id of its own.
    expect(inner.contents.size).toBe(1);
    const other = await sluice.transform(result, { scope: B });
    expect(other.artifacts.map((ref) => ref.id)).toEqual([[...inner.contents.keys()][1]]);
    const [read] = sluice.tools({ scope: A });
    expect(JSON.stringify(await read?.call({ uri: `artifact://${id}` }))).toContain("application/pdf");
    expect(JSON.stringify(await read?.call({ uri: `artifact://${other.artifacts[0]?.id}` }))).toContain(
      "There is no artifact",
    );
    const serves = artifactHandler({ base: "/", store: discoverArtifactStore(given) as ArtifactStore, scope: A });
    const answer = await serves(new Request(`https://example.org/artifacts/${id}`));
    expect(new Uint8Array((await answer?.arrayBuffer()) ?? [])).toEqual(new Uint8Array(PDF));
  });

  test("are what a client passes and reads as a resource, and no server is asked for them", async () => {
    const inner = named(() => `art-${randomUUID()}`);
    const asked: unknown[] = [];
    const client = wrapClient(
      {
        listTools: async () => ({
          tools: [
            {
              name: "mail",
              inputSchema: { type: "object", properties: { file: { type: "string", contentEncoding: "base64" } } },
            },
          ],
        }),
        callTool: async (params: { readonly name: string; readonly arguments?: unknown }) => {
          asked.push(params.arguments);
          return structuredClone(result);
        },
        readResource: async (params: object): Promise<object> => {
          asked.push(params);
          throw new Error("the server does not know it");
        },
      },
      { store: asStore(inner), namespace: "src" },
    );
    await client.listTools();
    expect(JSON.stringify(await client.callTool({ name: "mail", arguments: {} }))).toContain("artifact://art-");
    const [id = ""] = inner.contents.keys();
    const uri = `artifact://${id}`;
    await client.callTool({ name: "mail", arguments: { file: uri } });
    expect(asked).toEqual([{}, { file: PDF.toString("base64") }]);
    expect(JSON.stringify(await client.readResource({ uri }))).toContain(uri);
    expect(asked).toHaveLength(2);
    // What the store does not know is the server's.
    await client.callTool({ name: "mail", arguments: { file: "artifact://builds" } });
    expect(asked[2]).toEqual({ file: "artifact://builds" });
  });

  test("may be one for a content of several namespaces: it is then one artifact, of the last", async () => {
    const store = new BasicStoreAdapter(named((_, hash) => hash));
    const first = await store.putText("x", { namespace: "a", scope: A });
    const last = await store.putText("x", { namespace: "b", scope: A });
    expect([last.id, last.namespace]).toEqual([first.id, "b"]);
    expect(await listed(store.list())).toEqual([last]);
    expect([await store.delete(last.id, A), await store.delete(last.id, A)]).toEqual([true, false]);
  });

  test("that a URI does not hold stay the store's, and the record has them", async () => {
    for (const strange of ["a/b", "a b", "..", "x".repeat(129), "", "truncated_1234", "é", 'a"b']) {
      const inner = named((_, hash) => `${strange}${strange === "" ? "" : hash.slice(0, strange === ".." ? 0 : 12)}`);
      const store = new BasicStoreAdapter(inner);
      const { id, source } = await store.putText("x", { namespace: "ns", scope: A, source: { tool: "t" } });
      const [own] = inner.contents.keys();
      expect(id).toMatch(/^ns_[0-9a-f]{12}$/);
      expect(source).toEqual({ tool: "t", store_id: own });
      expect(await store.get(id, A)).toEqual(bytes("x"));
      inner.contents.clear();
      expect(await store.exists(id, A)).toBe(false);
      expect(await store.putText("x", { namespace: "ns", scope: A })).toMatchObject({ id });
      expect(await store.delete(id, A)).toBe(true);
      expect(inner.contents.size).toBe(0);
    }
  });

  test("are those of a user's files, too", async () => {
    const files = new UserStorage(asStore(named(() => randomUUID())), { user_id: "ada" });
    const { id } = await files.put("a.txt", "one");
    expect((await files.findArtifact(id))?.name).toBe("a.txt");
    await files.put("a.txt", "two");
    expect(await files.findArtifact(id)).toBeNull();
    expect(await new Response(await files.open("a.txt")).text()).toBe("two");
  });
});

test("it does what the model does", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      holds(new BasicStoreAdapter(new FiveMethods()), steps),
    ),
    { numRuns: 100 },
  );
});

test("everything of one process that is given the same store finds the same artifacts", async () => {
  const inner = new FiveMethods();
  const store = chooseStore(undefined, { artifactStore: inner });
  const { id } = await store.putText("x", { scope: A });
  expect(await discoverArtifactStore(inner)?.get(id, A)).toEqual(bytes("x"));
  expect(await asStore(inner).get(id, A)).toEqual(bytes("x"));
  expect(await asStore(new FiveMethods()).get(id, A)).toBeNull();
});

test("a result goes through it and is restored, for its owner alone", async () => {
  const inner = new FiveMethods();
  const sluice = await createSluice({ stateStore: { artifactStore: inner } });
  const result = {
    content: [
      { type: "resource", resource: { uri: "a:b", blob: PDF.toString("base64"), mimeType: "application/pdf" } },
    ],
  };
  const { value, artifacts, failures } = await sluice.transform(result, { dialect: "mcp", scope: A });
  expect([failures, artifacts.length, inner.contents.size]).toEqual([[], 1, 1]);
  expect(await sluice.restore(value, { scope: A })).toEqual(result);
  await expect(sluice.restore(value, { scope: B })).rejects.toMatchObject({ code: "E_NOT_FOUND" });
});

test("the store is told what is said of a content, and not whose it is", async () => {
  const inner = new FiveMethods();
  const artifacts = new ToolArtifacts(asStore(inner), { scope: { user_id: "ada" }, namespace: "reports" });
  await artifacts.putBytes(bytes("a"), { mime_type: "text/csv", filename: "a.csv", meta: { page: 1 } });
  expect(inner.told).toEqual([
    { mime_type: "text/csv", filename: "a.csv", namespace: "reports", meta: { meta: { page: 1 } } },
  ]);
});

test("a content that the store lost is not there, and is stored again", async () => {
  const inner = new FiveMethods();
  const store = new BasicStoreAdapter(inner);
  const [{ id }] = [await store.putText("x", { scope: A }), await store.putText("x", { scope: B })];
  inner.contents.clear();
  expect([await store.get(id, A), await store.stat(id, A), await store.exists(id, A)]).toEqual([null, null, false]);
  await store.putText("x", { scope: B });
  expect(await store.get(id, A)).toEqual(bytes("x"));
  expect([await store.delete(id, A), await store.delete(id, B), inner.contents.size]).toEqual([true, true, 0]);
});

test("what the store gives in place of a content is not given on", async () => {
  const inner = new FiveMethods();
  const store = new BasicStoreAdapter(inner);
  const { id } = await store.putText("mine", { scope: A });
  for (const other of [bytes("another's"), "mine" as unknown as Uint8Array]) {
    for (const key of inner.contents.keys()) inner.contents.set(key, other);
    await expect(store.get(id, A)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    await expect(store.openReader(id, { scope: A })).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  }
});

test("one id for two contents is refused, and the first stays its owner's", async () => {
  const inner = new FiveMethods();
  inner.digits = 0;
  const store = new BasicStoreAdapter(inner);
  const first = await store.putText("first", { scope: A });
  await expect(store.putText("second", { scope: B })).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  expect(await listed(store.list(B))).toEqual([]);
  await expect(store.get(first.id, A)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("puts and deletes of one content at the same time leave it while a ref names it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom("put", "delete"), { maxLength: 8 }),
      async (s, acts): Promise<void> => {
        const inner = new FiveMethods();
        const slow: BasicArtifactStore = {
          putBytes: s.scheduleFunction((...put: Parameters<FiveMethods["putBytes"]>) => inner.putBytes(...put)),
          putText: s.scheduleFunction((...put: Parameters<FiveMethods["putText"]>) => inner.putText(...put)),
          get: s.scheduleFunction((id: string) => inner.get(id)),
          delete: s.scheduleFunction((id: string) => inner.delete(id)),
          exists: s.scheduleFunction((id: string) => inner.exists(id)),
        };
        const store = new BasicStoreAdapter(slow);
        const { id } = await s.waitFor(store.putText("x", { scope: A }));
        const done = acts.map((act, at) => {
          const scope = at % 2 === 0 ? A : B;
          return act === "put" ? store.putText("x", { scope }) : store.delete(id, scope);
        });
        await s.waitFor(Promise.all(done));
        const left = await listed(store.list());
        expect(inner.contents.size).toBe(left.length > 0 ? 1 : 0);
        for (const { scope } of left) expect(await s.waitFor(store.get(id, scope))).toEqual(bytes("x"));
      },
    ),
    { numRuns: 200 },
  );
});

function failing(name: keyof FiveMethods, fails: () => unknown): BasicStoreAdapter {
  return new BasicStoreAdapter(Object.assign(new FiveMethods(), { [name]: fails }));
}

function broken(): never {
  throw new Error("secret path /var/db");
}

describe("a store that fails", () => {
  test.each<[string, () => unknown]>([
    ["throws at a put", broken],
    ["gives no id", () => ({})],
    ["gives nothing", () => undefined],
  ])("%s: the put is refused with a code, and nothing is there", async (_, fails) => {
    const store = failing("putBytes", fails);
    const error = await store.putText("x").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "E_STORE_WRITE" });
    expect(String(error)).not.toContain("secret");
    expect(await listed(store.list())).toEqual([]);
  });

  test("throws at a delete: the artifact stays", async () => {
    const store = failing("delete", broken);
    const { id } = await store.putText("x");
    await expect(store.delete(id)).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    expect(await store.get(id)).toEqual(bytes("x"));
  });

  test("throws at reading: a code says so", async () => {
    const store = failing("get", broken);
    const { id } = await store.putText("x");
    await expect(store.get(id)).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("limits hold over it", async () => {
  const inner = new FiveMethods();
  const store = new RetainingArtifactStore(inner as never, { max_artifact_bytes: 1000, max_session_bytes: 1000 });
  await expect(store.putBytes(new Uint8Array(1001), { scope: A })).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  const { id } = await store.putBytes(new Uint8Array(900), { scope: A });
  await store.putBytes(new Uint8Array(901), { scope: A });
  expect(await store.exists(id, A)).toBe(false);
  expect(inner.contents.size).toBe(1);
});

const store = new MemoryArtifactStore();
const other = new MemoryArtifactStore();

/** A state store that is an artifact store and has an attribute besides. */
const both = (attribute: unknown): object => Object.assign(new MemoryArtifactStore(), { artifactStore: attribute });

test("a state store's attribute is its artifact store, in either spelling", () => {
  expect(discoverArtifactStore({ artifactStore: store })).toBe(store);
  expect(discoverArtifactStore({ artifact_store: store })).toBe(store);
});

test("a state store may be the artifact store itself", () => {
  expect(discoverArtifactStore(store)).toBe(store);
});

test("the attribute comes before the state store itself, unless it is no store", () => {
  expect(discoverArtifactStore(both(store))).toBe(store);
  const itself = both("a path");
  expect(discoverArtifactStore(itself)).toBe(itself);
});

test.each([
  undefined,
  null,
  7,
  "store",
  {},
  [],
  { artifactStore: null },
  () => store,
  { get: store.get.bind(store), delete: store.delete.bind(store), exists: store.exists.bind(store) },
])("nothing is found in %j", (stateStore) => {
  expect(discoverArtifactStore(stateStore)).toBeNull();
});

const [putBytes, putText, get] = [store.putBytes.bind(store), store.putText.bind(store), store.get.bind(store)];
const [remove, exists] = [store.delete.bind(store), store.exists.bind(store)];

test("a store with the five methods of the RFC is used through one adapter, the same each time", () => {
  const five = { putBytes, putText, get, delete: remove, exists };
  const found = discoverArtifactStore({ artifactStore: five });
  expect(found).toBeInstanceOf(BasicStoreAdapter);
  expect([discoverArtifactStore(five), chooseStore(five as never, null)]).toEqual([found, found]);
  expect(discoverArtifactStore({ artifact_store: five })).toBe(found);
});

test.each([
  ["stateStore.artifactStore", { artifactStore: { putBytes, putText, get } }, ["delete", "exists"]],
  ["stateStore.artifact_store", { artifact_store: { putBytes, putText, get, delete: remove } }, ["exists"]],
  ["stateStore.artifactStore", { artifactStore: {} }, ["putBytes", "putText", "get", "delete", "exists"]],
  ["stateStore.artifactStore", { artifactStore: "a path" }, ["putBytes", "putText", "get", "delete", "exists"]],
  ["stateStore", { putBytes, putText, delete: remove, get }, ["exists"]],
])("%s that lacks one of the five is an error that names it", (path, stateStore, missing) => {
  for (const find of [discoverArtifactStore, (given: unknown) => chooseStore(undefined, given)]) {
    expect(() => find(stateStore)).toThrow(
      expect.objectContaining({
        code: "E_INVALID_ARGUMENT",
        path,
        message: expect.stringContaining(`it has no ${missing.join(", ")};`) as unknown,
      }),
    );
  }
});

test("the store that is named comes first, then the one that is found, then none", () => {
  expect(chooseStore(store, { artifactStore: other })).toBe(store);
  expect(chooseStore(undefined, { artifactStore: other })).toBe(other);
  expect(chooseStore(undefined, undefined)).toBeInstanceOf(NoOpArtifactStore);
});

test("a named store that is none is refused with what it lacks", () => {
  const half = { putBytes: () => undefined } as unknown as ArtifactStore;
  expect(() => chooseStore(half, { artifactStore: other })).toThrow(
    expect.objectContaining({
      code: "E_INVALID_ARGUMENT",
      path: "store",
      message: expect.stringContaining("openWriter") as unknown,
    }),
  );
});

test("memory, and a folder by its path, are named by a word", async () => {
  expect(chooseStore("memory", { artifactStore: new MemoryArtifactStore() })).toBeInstanceOf(MemoryArtifactStore);
  const folder = await mkdtemp(join(tmpdir(), "sluice-named-"));
  const named = chooseStore(join(folder, "store"), undefined);
  expect(named).toBeInstanceOf(FileArtifactStore);
  const { id } = await named.putText("kept");
  expect(await new FileArtifactStore(join(folder, "store")).exists(id)).toBe(true);
  await rm(folder, { recursive: true });
});

test("where there are no folders, a path is refused", () => {
  expect(() => folderInBrowsers("./artifacts")).toThrow(
    expect.objectContaining({
      code: "E_INVALID_ARGUMENT",
      path: "store",
      message: expect.stringContaining("in Node only"),
    }),
  );
});

test.each([
  ["", "not an artifact store"],
  [7, "not an artifact store"],
])("%j names no store", (named, sentence) => {
  expect(() => chooseStore(named as never, undefined)).toThrow(sentence);
});
