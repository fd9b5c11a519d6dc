import { expect, test, vi } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { Visitor } from "../visitor.js";

/** `GET /ready`, and what is refused while a part is away. */

const HERE = "http://127.0.0.1:8080";

/** A store that answers, fails or hangs, as it is told. */
class Moody extends BareMemoryStore {
  mood: "answers" | "fails" | "hangs" = "answers";
  looks = 0;
  readonly #waiting: (() => void)[] = [];

  override async stat(...args: Parameters<BareMemoryStore["stat"]>): ReturnType<BareMemoryStore["stat"]> {
    this.looks += 1;
    if (this.mood === "fails") throw Object.assign(new Error("10.0.0.7 is gone"), { code: "ECONNREFUSED" });
    if (this.mood === "hangs") await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return super.stat(...args);
  }

  answer(): void {
    this.mood = "answers";
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

async function ready(server: SluiceServer): Promise<readonly [number, unknown]> {
  const response = await server.fetch(new Request(`${HERE}/ready`, { headers: { host: "127.0.0.1:8080" } }));
  return [response.status, await response.json()];
}

const OK = [200, { status: "ok", state: "ok", store: "ok" }];

test("a server whose parts answer is ready, and says which parts it has", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  expect(await ready(server)).toEqual(OK);
  await using withFiles = new SluiceServer({ store: new MemoryArtifactStore(), filesStore: new MemoryArtifactStore() });
  expect(await ready(withFiles)).toEqual([200, { status: "ok", state: "ok", store: "ok", files: "ok" }]);
});

test.each(["fails", "hangs"] as const)("a store that %s: not ready, without saying where it is", async (mood) => {
  const store = new Moody();
  await using server = new SluiceServer({ store });
  store.mood = mood;
  expect(await ready(server)).toEqual([503, { status: "away", state: "ok", store: "away" }]);
  store.answer();
  await vi.waitFor(async () => expect(await ready(server)).toEqual(OK), { timeout: 4000 });
});

test("while a store hangs requests that need it fail at once, others go on, and the first ones after it is back are answered", async () => {
  const store = new Moody();
  await using server = new SluiceServer({ store });
  const ada = await Visitor.of(server);
  store.mood = "hangs";
  await ready(server);
  // Each would take as long as a store is waited for.
  for (let asked = 0; asked < 50; asked += 1) {
    const refused = await ada.ask("/artifacts/web_0123456789ab");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await refused.text()).toContain("The store of artifacts cannot be reached: try again in a moment.");
  }
  expect((await ada.ask("/sessions/current")).status).toBe(200);
  store.answer();
  await vi.waitFor(async () => expect((await ada.ask("/artifacts/web_0123456789ab")).status).toBe(404));
});

test("a hanging store is looked at by one at a time, however many ask", async () => {
  const store = new Moody();
  await using server = new SluiceServer({ store });
  store.mood = "hangs";
  store.looks = 0;
  await Promise.all(Array.from({ length: 50 }, () => ready(server)));
  await Promise.all(Array.from({ length: 50 }, () => ready(server)));
  expect(store.looks).toBe(1);
});

test("state that hangs keeps nobody waiting, not even the first", async () => {
  const state = memoryState();
  const find = state.sessions.find.bind(state.sessions);
  let isSilent = false;
  state.sessions.find = (id) => (isSilent ? new Promise(() => undefined) : find(id));
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), state });
  const ada = await Visitor.of(server);
  isSilent = true;
  const refused = await ada.ask("/sessions/current");
  expect([refused.status, await refused.text()]).toEqual([
    503,
    expect.stringContaining("The server's state cannot be reached"),
  ]);
  expect(await ready(server)).toEqual([503, { status: "away", state: "away", store: "ok" }]);
});

test("an idle server asks its stores nothing", async () => {
  const store = new Moody();
  await using server = new SluiceServer({ store });
  await Visitor.of(server);
  store.looks = 0;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(store.looks).toBe(0);
});
