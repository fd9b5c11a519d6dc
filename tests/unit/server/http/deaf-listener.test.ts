/** Listeners that do not read: they are let go, and nobody else is held up. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, memoryState, SluiceServer, type ServeState } from "../../../../web/src/serve.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { Telling } from "../sources/told.js";
import { Visitor } from "../visitor.js";

const WORDS = "word ".repeat(20_000);

/** How many follow a channel at the moment. */
function followers(state: ServeState): (channel: string) => number {
  const follow = state.events.follow.bind(state.events);
  const counts = new Map<string, number>();
  const count = (channel: string): number => counts.get(channel) ?? 0;
  state.events.follow = async function* (channel, ...how) {
    counts.set(channel, count(channel) + 1);
    try {
      yield* follow(channel, ...how);
    } finally {
      counts.set(channel, count(channel) - 1);
    }
  };
  return count;
}

test("a listener that reads nothing is let go in time, and others hear all", { timeout: 30_000 }, async () => {
  const state = memoryState();
  const count = followers(state);
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), state, secret: "s".repeat(32) });
  await using listening = await listen(server, { host: "127.0.0.1", port: 0, clientSeconds: 1, graceSeconds: 1 });
  const { port } = listening;
  const ada = await Visitor.at(port);
  const channel = sessionChannel(ada.id);
  const deaf = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void deaf.destroy());
  deaf.on("error", () => undefined);
  await once(deaf, "connect");
  deaf.pause();
  deaf.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`);
  await using hearing = new Telling(await ada.ask("/events"));
  await expect.poll(() => count(channel)).toBe(2);

  // 40 MB, more than the sockets between the two take.
  for (let at = 0; at < 400; at++) {
    await state.events.append(channel, { kind: "resources_changed", at, namespace: WORDS } as never);
    expect(await hearing.next()).toMatchObject({ at });
  }
  await expect.poll(() => count(channel), { timeout: 10_000 }).toBe(1);
  await state.events.append(channel, { kind: "resources_changed" });
  expect(await hearing.next()).toEqual({ kind: "resources_changed" });
});
