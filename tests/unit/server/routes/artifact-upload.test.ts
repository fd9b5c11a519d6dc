/** Uploads that do not come to a good end: nothing is left of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { MemoryArtifactStore, type ArtifactInfo, type ArtifactWriter } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { listed } from "../../artifacts/bytes.js";
import { refused, Visitor } from "../visitor.js";

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
