/** Stores that fail, over real connections: what whoever asks is told, and that a part never looks like the whole. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, expect, test, vi } from "vitest";
import { BareMemoryStore } from "../../../web/src/artifacts/memory.js";
import { FileArtifactStore } from "../../../web/src/node.js";
import {
  listen,
  memoryState,
  SluiceServer,
  type ListeningServer,
  type SluiceServerOptions,
} from "../../../web/src/serve.js";
import type { ArtifactInfo, ArtifactStore, ByteRange } from "../../../web/src/index.js";
import { noise } from "../artifacts/bytes.js";
import { mounted, unmounted } from "../artifacts/small-disk.js";
import { refused, Visitor } from "./visitor.js";

const MIB = 1024 * 1024;
const root = await mkdtemp(join(tmpdir(), "sluice-faults-"));
const disk = mounted(8);
afterAll(async () => {
  await rm(root, { recursive: true });
  if (disk !== undefined) unmounted(disk);
});

interface Served extends AsyncDisposable {
  readonly listening: ListeningServer;
  readonly reported: { readonly code?: string }[];
}

async function served(store: ArtifactStore, options: Partial<SluiceServerOptions> = {}): Promise<Served> {
  const reported: { code?: string }[] = [];
  const server = new SluiceServer({
    store,
    limits: { storeSeconds: 1 },
    retention: { max_artifact_bytes: null },
    onError: (error) => void reported.push(error as { code?: string }),
    ...options,
  });
  const listening = await listen(server, { host: "127.0.0.1", port: 0, graceSeconds: 1 });
  return {
    listening,
    reported,
    [Symbol.asyncDispose]: async () => {
      await listening[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A store whose streams do as a test wants behind their first half. */
class Faulty extends BareMemoryStore {
  behind: "fail" | "hang" | "end" | "more" = "fail";
  onStat: "answer" | "fail" | "hang" = "answer";

  override async stat(...args: Parameters<BareMemoryStore["stat"]>): ReturnType<BareMemoryStore["stat"]> {
    if (this.onStat === "hang") return new Promise(() => undefined);
    if (this.onStat === "fail") throw Object.assign(new Error("/secret/place is gone"), { code: "EIO" });
    return super.stat(...args);
  }

  override async openReader(
    id: string,
    options: { scope?: object; range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    const whole = await super.get(id, options.scope);
    if (whole === null) return null;
    const half = whole.subarray(0, whole.byteLength / 2);
    let pieces = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller): Promise<void> | undefined => {
          pieces += 1;
          if (pieces === 1) controller.enqueue(half);
          else if (this.behind === "fail") controller.error(new Error("/secret/place is gone"));
          else if (this.behind === "end") controller.close();
          else if (this.behind === "more") controller.enqueue(whole);
          else return new Promise(() => undefined);
          return undefined;
        },
      },
      { highWaterMark: 0 },
    );
  }
}

test.each(["fail", "hang", "end", "more"] as const)(
  "a store that does not go on as it should (%s) breaks the connection in the middle",
  async (behind) => {
    const store = new Faulty();
    store.behind = behind;
    await using one = await served(store);
    const ada = await Visitor.at(one.listening.port);
    const { id } = await ada.upload(noise(2 * MIB));
    const response = await ada.ask(`/artifacts/${id}`);
    expect(response.headers.get("content-length")).toBe(String(2 * MIB));
    await expect(response.arrayBuffer()).rejects.toThrow("terminated");
    expect(one.reported).toMatchObject([
      { code: behind === "fail" || behind === "hang" ? "E_STORE_READ" : "E_STORE_CORRUPT" },
    ]);
    expect((await ada.ask("/artifacts")).status).toBe(200);
  },
);

async function fails(): Promise<never> {
  throw new Error("/secret/place is gone");
}

test.each(["openWriter", "write", "close"] as const)(
  "an upload to a store that fails at %s is answered with 503 and its code, of a file too",
  async (where) => {
    const failing = (): BareMemoryStore => {
      const store = new BareMemoryStore();
      if (where === "openWriter") return Object.assign(store, { openWriter: fails });
      const open = store.openWriter.bind(store);
      return Object.assign(store, {
        openWriter: async (info?: ArtifactInfo) => Object.assign(await open(info), { [where]: fails }),
      });
    };
    await using one = await served(failing(), { filesStore: failing() });
    const ada = await Visitor.at(one.listening.port);
    for (const path of ["/artifacts", "/files?filename=a.txt"]) {
      const response = await ada.ask(path, { method: "POST", body: "x" });
      const text = await response.text();
      expect([path, response.status, JSON.parse(text)]).toMatchObject([
        path,
        503,
        { error: { code: "E_STORE_WRITE" } },
      ]);
      expect(text).not.toContain("secret");
    }
    expect(await ada.json("/artifacts")).toEqual({ artifacts: [] });
    expect(one.reported).toMatchObject([{ code: "E_STORE_WRITE" }, { code: "E_STORE_WRITE" }]);
  },
);

test.each([
  ["fail", 503],
  ["hang", 504],
] as const)("a store that does not say what there is (%s) is answered for with %i", async (onStat, status) => {
  const store = new Faulty();
  await using one = await served(store);
  const ada = await Visitor.at(one.listening.port);
  const { id } = await ada.upload("x");
  store.onStat = onStat;
  for (const [path, method] of [
    [`/artifacts/${id}`, "GET"],
    [`/artifacts/${id}/meta`, "GET"],
    [`/artifacts/${id}`, "DELETE"],
  ] as const) {
    const response = await ada.ask(path, { method });
    const text = await response.text();
    expect([method, response.status]).toEqual([method, status]);
    expect(JSON.parse(text)).toHaveProperty("error.code", "E_STORE_READ");
    expect(text).not.toContain("secret");
  }
  expect(one.reported.length).toBeGreaterThanOrEqual(3);
});

test("stored bytes that were damaged do not look whole, in full or cut", async () => {
  const folder = join(root, "damaged");
  await using one = await served(new FileArtifactStore(folder));
  const ada = await Visitor.at(one.listening.port);
  const flipped = await ada.upload(noise(300_000, 1));
  const cut = await ada.upload(noise(300_000, 2));
  for (const name of await readdir(folder, { recursive: true })) {
    if (name.includes("blobs") && name.endsWith(flipped.sha256))
      await writeFile(join(folder, name), "x", { flag: "r+" });
    if (name.includes("blobs") && name.endsWith(cut.sha256)) await writeFile(join(folder, name), noise(1000, 2));
  }
  for (const { id } of [flipped, cut]) {
    const whole = async (): Promise<number> => {
      const response = await ada.ask(`/artifacts/${id}`);
      await response.arrayBuffer();
      return response.status;
    };
    expect(await whole().catch(() => "broken off")).not.toBe(200);
  }
  expect(one.reported.map(({ code }) => code)).toEqual(["E_STORE_CORRUPT", "E_STORE_CORRUPT"]);
});

test.runIf(disk !== undefined)(
  "a disk that is full refuses what comes, keeps what is there, and has room again",
  async () => {
    await using one = await served(new FileArtifactStore(join(disk ?? "", "store")));
    const ada = await Visitor.at(one.listening.port);
    const data = noise(3 * MIB, 1);
    const kept = await ada.upload(data);
    for (const seed of [2, 3]) {
      const response = await ada.ask("/artifacts", { method: "POST", body: noise(7 * MIB, seed) });
      expect(await refused(response)).toEqual([507, "E_STORE_FULL"]);
    }
    expect((await ada.list()).artifacts.map(({ id }) => id)).toEqual([kept.id]);
    expect(Buffer.from(await (await ada.ask(`/artifacts/${kept.id}`)).arrayBuffer()).equals(data)).toBe(true);
    await ada.end();
    const bob = await Visitor.at(one.listening.port);
    expect((await bob.upload(noise(6 * MIB, 4))).size_bytes).toBe(6 * MIB);
    await bob.end();
  },
);

test("an endless body is refused at the limit, and nothing of it is kept", async () => {
  const store = new FileArtifactStore(join(root, "endless"));
  await using one = await served(store, { retention: { max_artifact_bytes: 4 * MIB } });
  const ada = await Visitor.at(one.listening.port);
  let given = 0;
  let isAnswered = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller): void {
      // Node's fetch pulls on after an answer, and keeps all of it.
      if (isAnswered) return controller.close();
      given += 64 * 1024;
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
  const status = await ada.ask("/artifacts", { method: "POST", body }).then(
    (response) => response.status,
    // Whoever still sends may see the connection end before the answer.
    () => 413,
  );
  isAnswered = true;
  expect(status).toBe(413);
  expect(given).toBeLessThan(80 * MIB);
  expect((await ada.list()).artifacts).toEqual([]);
  const left = (await readdir(join(root, "endless"), { recursive: true })).filter((name) =>
    /^(?:tmp|blobs)\/.+\/.+/.test(name),
  );
  expect(left).toEqual([]);
});

test.each([new Error("secret"), "secret", undefined, null])(
  "whatever a host's part throws (%s), there is an answer",
  async (thrown) => {
    const state = memoryState();
    const reported: unknown[] = [];
    await using server = new SluiceServer({
      store: new BareMemoryStore(),
      state,
      onError: (error) => void reported.push(error),
    });
    const ada = await Visitor.of(server);
    state.sessions.find = vi.fn<() => Promise<null>>().mockRejectedValue(thrown);
    const response = await ada.ask("/artifacts");
    const text = await response.text();
    expect([response.status, reported]).toEqual([500, [thrown]]);
    expect(text).not.toContain("secret");
  },
);

test.each([
  "/artifacts/%",
  "/artifacts/%E0%A4%A",
  "/artifacts/%00",
  "/%2F%2F",
  "/artifacts?trace=%",
  "//artifacts",
  "/artifacts/..%2f..%2fetc",
])("%s is answered, and is nobody's", async (path) => {
  await using server = new SluiceServer({ store: new BareMemoryStore() });
  const { status } = await (await Visitor.of(server)).ask(path);
  expect([200, 400, 404]).toContain(status);
});

test("state that fails refuses, and lets nobody in", async () => {
  const state = memoryState();
  const store = new BareMemoryStore();
  await using one = await served(store, { state });
  const ada = await Visitor.at(one.listening.port);
  state.sessions.find = () => Promise.reject(new Error("redis at 10.0.0.1 is gone"));
  const response = await ada.ask("/artifacts");
  const text = await response.text();
  expect(response.status).toBeGreaterThanOrEqual(500);
  expect(text).not.toContain("10.0.0.1");
});
