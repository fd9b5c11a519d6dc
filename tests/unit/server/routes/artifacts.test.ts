import { expect, test, vi } from "vitest";
import { isFull } from "../../../support/full.js";
import { MemoryArtifactStore, type ArtifactInfo, type ArtifactWriter } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { noise, listed } from "../../artifacts/bytes.js";
import { refused, Visitor, type ShownArtifact } from "../visitor.js";
import { setTimeout as sleep } from "node:timers/promises";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";

// What a session stores, lists, reads and deletes over HTTP.

const PNG = Uint8Array.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1,
]);

test("what is uploaded is listed, read whole and in part, described, and deleted", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const data = noise(100_000);
  const posted = await ada.ask("/artifacts?filename=../a%2Fb.bin&namespace=mine", { method: "POST", body: data });
  expect(posted.status).toBe(201);
  const { artifact } = (await posted.json()) as { artifact: ShownArtifact };
  expect(artifact).toMatchObject({ filename: "a_b.bin", size_bytes: 100_000 });
  expect(artifact.id).toMatch(/^mine_[0-9a-f]{12}$/);
  expect(posted.headers.get("location")).toBe(`/artifacts/${artifact.id}`);
  const { artifacts } = await ada.list();
  expect(artifacts).toEqual([expect.objectContaining({ ...artifact })]);
  expect(JSON.stringify(artifacts)).not.toMatch(/scope|session_id|user_id/);

  const whole = await ada.ask(`/artifacts/${artifact.id}`);
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(data);
  expect(whole.headers.get("etag")).toBe(`"${artifact.sha256}"`);
  const part = await ada.ask(`/artifacts/${artifact.id}`, { headers: { range: "bytes=10-19" } });
  expect([part.status, new Uint8Array(await part.arrayBuffer())]).toEqual([206, data.subarray(10, 20)]);
  const head = await ada.ask(`/artifacts/${artifact.id}`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "100000", ""]);
  const meta = await ada.json<ShownArtifact>(`/artifacts/${artifact.id}/meta`);
  expect(meta.expires_at).toBeGreaterThan(Date.now() + 3_500_000);

  const gone = await ada.ask(`/artifacts/${artifact.id}`, { method: "DELETE" });
  expect([gone.status, await gone.text()]).toEqual([204, ""]);
  expect(await refused(await ada.ask(`/artifacts/${artifact.id}`))).toEqual([410, "E_EXPIRED"]);
  expect(await refused(await ada.ask(`/artifacts/${artifact.id}`, { method: "DELETE" }))).toEqual([404, "E_NOT_FOUND"]);
  expect((await ada.list()).artifacts).toEqual([]);
});

test("a trace is apart from the session, and * lists all", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const own = await ada.upload("own");
  const first = await ada.upload("first", "?trace=run%2F1");
  const second = await ada.upload("second", "?trace=2");
  expect((await ada.list()).artifacts.map(({ id }) => id)).toEqual([own.id]);
  expect((await ada.list("?trace=2")).artifacts.map(({ id }) => id)).toEqual([second.id]);
  const all = (await ada.list("?trace=*")).artifacts;
  expect(all.map(({ id, trace }) => [id, trace])).toEqual([
    [own.id, undefined],
    [first.id, "run/1"],
    [second.id, "2"],
  ]);
  expect((await ada.ask(`/artifacts/${first.id}`)).status).toBe(404);
  expect(await (await ada.ask(`/artifacts/${first.id}?trace=run%2F1`)).text()).toBe("first");
  expect((await ada.ask(`/artifacts/${first.id}`, { method: "DELETE" })).status).toBe(404);
  expect(await ada.end()).toBe(3);
});

test("the type is what the client says, else what the bytes are", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const types = [
    (await ada.upload(PNG, "?filename=x")).mime_type,
    (await ada.upload("a,b\n1,2", "", "text/csv; charset=utf-8")).mime_type,
    (await ada.upload(PNG, "", "application/octet-stream")).mime_type,
    (await ada.upload(PNG, "", "application/x-www-form-urlencoded")).mime_type,
    (await ada.upload(PNG, "", "no type at all")).mime_type,
  ];
  expect(types).toEqual(["image/png", "text/csv", "image/png", "image/png", "image/png"]);
  expect((await ada.upload(PNG, "?filename=picture")).filename).toBe("picture.png");
  expect((await ada.upload("")).size_bytes).toBe(0);
});

test.each([
  ["/artifacts?limit=0", "limit"],
  ["/artifacts?limit=501", "limit"],
  ["/artifacts?limit=x", "limit"],
  ["/artifacts?after=nonsense", "after"],
  [`/artifacts?trace=${"x".repeat(201)}`, "trace"],
  ["/artifacts?trace=", "trace"],
  ["/artifacts/web_0123456789ab?trace=*", "trace"],
])("%s is refused, and %s is named", async (path, field) => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const response = await (await Visitor.of(server)).ask(path);
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: { message: string } }).error.message).toContain(field);
});

test.each([
  ["?namespace=a/b", {}, 400],
  [`?filename=${"x".repeat(1025)}`, {}, 400],
  ["?trace=*", {}, 400],
  ["", { "content-type": "multipart/form-data; boundary=x" }, 415],
  ["", { "content-encoding": "gzip" }, 415],
])("an upload to /artifacts%s with %o is refused with %i, and nothing is stored", async (query, headers, status) => {
  const store = new MemoryArtifactStore();
  await using server = new SluiceServer({ store });
  const ada = await Visitor.of(server);
  const response = await ada.ask(`/artifacts${query}`, { method: "POST", body: "x", headers });
  expect([response.status, (await ada.list("?trace=*")).artifacts]).toEqual([status, []]);
});

test.runIf(isFull)("more than a thousand traces are refused", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), limits: { requestsPerMinute: 5000 } });
  const ada = await Visitor.of(server);
  for (let trace = 0; trace < 1000; trace++) await ada.upload("x", `?trace=${trace}`);
  expect(await refused(await ada.ask("/artifacts?trace=more", { method: "POST", body: "x" }))).toEqual([
    507,
    "E_STORE_FULL",
  ]);
  expect((await ada.upload("x", "?trace=7")).size_bytes).toBe(1);
  expect(await ada.end()).toBe(1000);
});

// Uploads that do not come to a good end: nothing is left of them.

/** A store that counts writers which are neither closed nor aborted, and does what a test wants before each write. */
class CountingStore extends BareMemoryStore {
  open = 0;
  beforeWrite: () => Promise<void> = () => Promise.resolve();
  beforeClose: () => Promise<void> = () => Promise.resolve();

  override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const inner = await super.openWriter(info);
    let isOpen = true;
    const ended = (): void => {
      if (isOpen) this.open -= 1;
      isOpen = false;
    };
    this.open += 1;
    return {
      write: async (chunk) => {
        await this.beforeWrite();
        await inner.write(chunk);
      },
      close: async (patch) => {
        await this.beforeClose();
        return inner.close(patch).finally(ended);
      },
      abort: () => inner.abort().finally(ended),
      [Symbol.asyncDispose]: () => inner.abort().finally(ended),
    };
  }
}

/** A body that gives these pieces, and then does as it is told. */
function body(pieces: readonly string[], then: "hang" | "fail" | "end" = "end"): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream({
    pull(controller): Promise<void> | undefined {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
      else if (then === "end") controller.close();
      else if (then === "fail") controller.error(new Error("the line went dead"));
      else return new Promise(() => undefined);
      return undefined;
    },
  });
}

test.each([
  ["breaks off", body(["abc"], "fail"), [400, "E_INVALID_ARGUMENT"]],
  ["does not go on", body(["abc"], "hang"), [408, "E_INVALID_ARGUMENT"]],
  ["is larger than an artifact may be", body(["abc", "defg", "hij", "klm"]), [413, "E_TOO_LARGE"]],
  ["is larger, as it comes", body(["0123456789012"]), [413, "E_TOO_LARGE"]],
])("a body that %s leaves nothing behind", async (_, sent, answer) => {
  const store = new CountingStore();
  const retention = { max_artifact_bytes: 10 };
  await using server = new SluiceServer({ store, retention, limits: { bodySeconds: 1 } });
  const ada = await Visitor.of(server);
  expect(await refused(await ada.ask("/artifacts", { method: "POST", body: sent }))).toEqual(answer);
  expect([store.open, await listed(store.list())]).toEqual([0, []]);
});

test("a length beyond the limit is refused before the first byte", async () => {
  const store = new CountingStore();
  await using server = new SluiceServer({ store, retention: { max_artifact_bytes: 10 } });
  const ada = await Visitor.of(server);
  const pulled = vi.fn<() => void>();
  const sent = new ReadableStream({ pull: pulled }, { highWaterMark: 0 });
  const headers = { "content-length": "11" };
  const response = await ada.ask("/artifacts", { method: "POST", body: sent, headers });
  expect([response.status, pulled.mock.calls.length, store.open]).toEqual([413, 0, 0]);
});

test.each(["beforeWrite", "beforeClose"] as const)(
  "a store that hangs %s is answered for, and publishes nothing",
  async (when) => {
    const store = new CountingStore();
    const reported: unknown[] = [];
    store[when] = () => new Promise(() => undefined);
    await using server = new SluiceServer({
      store,
      limits: { storeSeconds: 1 },
      onError: (error) => void reported.push(error),
    });
    const ada = await Visitor.of(server);
    expect(await refused(await ada.ask("/artifacts", { method: "POST", body: "x" }))).toEqual([504, "E_STORE_READ"]);
    expect(await listed(store.list())).toEqual([]);
    expect(reported).toMatchObject([{ code: "E_STORE_READ" }]);
  },
);

test.each([undefined, null, {}])("a store that gives %o for a writer is answered for", async (none) => {
  const store = Object.assign(new CountingStore(), { openWriter: async () => none as ArtifactWriter });
  await using server = new SluiceServer({ store, onError: () => undefined });
  const ada = await Visitor.of(server);
  expect(await refused(await ada.ask("/artifacts", { method: "POST", body: "x" }))).toEqual([503, "E_STORE_WRITE"]);
});

test("a slow store holds the body up, and the body holds no store up", async () => {
  const store = new CountingStore();
  store.beforeWrite = () => sleep(600);
  await using server = new SluiceServer({ store, limits: { storeSeconds: 1, bodySeconds: 1 } });
  const ada = await Visitor.of(server);
  let given = 0;
  let ahead = 0;
  let taken = 0;
  store.beforeWrite = async () => {
    await sleep(300);
    taken += 1;
    ahead = Math.max(ahead, given - taken);
  };
  const sent = new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        await sleep(300);
        given += 1;
        controller.enqueue(new Uint8Array(1000));
        if (given === 6) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const response = await ada.ask("/artifacts", { method: "POST", body: sent });
  expect(response.status).toBe(201);
  expect(ahead).toBeLessThanOrEqual(2);
});

test("an upload ends with its session, in this process", async () => {
  const store = new CountingStore();
  await using server = new SluiceServer({ store });
  const ada = await Visitor.of(server);
  const uploading = ada.ask("/artifacts", { method: "POST", body: body(["abc"], "hang") });
  await vi.waitFor(() => expect(store.open).toBe(1));
  expect(await ada.end()).toBe(0);
  expect(await refused(await uploading)).toEqual([401, "E_SESSION"]);
  expect([store.open, await listed(store.list())]).toEqual([0, []]);
});

test("an upload that is published while its session ends goes with it", async () => {
  const store = new CountingStore();
  let publish: (() => void) | undefined;
  await using server = new SluiceServer({ store });
  const ada = await Visitor.of(server);
  store.beforeClose = () =>
    new Promise((resolve) => {
      publish = resolve;
    });
  const uploading = ada.ask("/artifacts", { method: "POST", body: "x" });
  await vi.waitFor(() => expect(publish).toBeDefined());
  const ending = ada.end();
  await vi.waitFor(async () => expect((await ada.ask("/sessions/current")).status).toBe(401));
  publish?.();
  expect((await uploading).status).toBe(401);
  await ending;
  expect(await listed(store.list())).toEqual([]);
});

test("two sessions that upload the same have one copy each, of which one does not go with the other", async () => {
  const store = new MemoryArtifactStore();
  await using server = new SluiceServer({ store });
  const [ada, bob] = [await Visitor.of(server), await Visitor.of(server)];
  const [one, other] = [await ada.upload("same"), await bob.upload("same")];
  expect(one.id).toBe(other.id);
  expect(await ada.end()).toBe(1);
  expect(await (await bob.ask(`/artifacts/${other.id}`)).text()).toBe("same");
});
