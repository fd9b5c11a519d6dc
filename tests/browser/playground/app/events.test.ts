import { describe, expect, test } from "vitest";
import { changeBy } from "../../../../web/playground/app/events.js";
import { Store, type ShownCall, type State } from "../../../../web/playground/app/state.js";
import type { EngineEvent, ShownServer } from "../../../../web/playground/engine/contract.js";

const NOW = 1_750_000_000_000;
const { state: START } = new Store();
const server = (name: string, status: ShownServer["status"]): ShownServer => ({
  name,
  kind: "http",
  status,
  tools: [],
});
const call = (id: string): ShownCall => ({
  id,
  server: "demo",
  tool: "demo.slow_import",
  args: {},
  timeout: 30,
  title: "demo.slow_import",
  state: "running",
  startedAt: NOW,
});

/** The state after events, one after the other. */
function after(events: readonly EngineEvent[], before: Partial<State> = {}): State {
  return events.reduce<State>((state, event) => ({ ...state, ...changeBy(state, event, NOW) }), {
    ...START,
    ...before,
  });
}

describe("servers", () => {
  test("are listed in the order in which they came, each once", () => {
    const { servers } = after([
      { kind: "server", server: server("a", "connecting") },
      { kind: "server", server: server("b", "ready") },
      { kind: "server", server: server("a", "failed") },
    ]);
    expect(servers).toEqual([server("a", "failed"), server("b", "ready")]);
  });

  test("that are left are gone; where one was shown, the demo is", () => {
    const servers = [server("a", "failed"), server("b", "ready")];
    const left = after([{ kind: "gone", server: "b" }], { servers, server: "b" });
    expect(left).toMatchObject({ servers: [server("a", "failed")], server: "demo" });
    expect(after([{ kind: "gone", server: "a" }], { servers, server: "b" }).server).toBe("b");
  });
});

describe("calls", () => {
  test("are told how far they are, each for itself", () => {
    const progress = { progress: 1, total: 2 };
    const { calls } = after([{ kind: "progress", call: "y", progress }], { calls: [call("x"), call("y")] });
    expect(calls).toEqual([call("x"), { ...call("y"), progress }]);
  });

  test("and everything that was looked at are gone with the session", () => {
    const artifact = { id: "demo_1" };
    const looked = { artifact, shelf: "session", isWide: false } as const;
    const ended = after([{ kind: "ended" }], { calls: [call("x")], call: "x", looked });
    expect(ended).toMatchObject({ calls: [], call: undefined, looked: undefined });
  });

  test("wait for a person until they are answered", () => {
    const pause = { id: "p", server: "demo", reason: "external_event", payload: {} };
    expect(after([{ kind: "paused", pause }]).pauses).toEqual([pause]);
    expect(
      after([
        { kind: "paused", pause },
        { kind: "resumed", pause: "p" },
      ]).pauses,
    ).toEqual([]);
  });
});

test("resources that changed are noted by server and URI, each once", () => {
  const event: EngineEvent = { kind: "resource_updated", server: "demo", uri: "note://today" };
  expect([...after([event, event]).updates]).toEqual(["demo note://today"]);
});

test("lists that changed are counted", () => {
  expect(after([{ kind: "resources_changed", server: "demo" }]).changes).toBe(START.changes + 1);
});

test("the log begins with what was told last, and forgets what was told long ago", () => {
  const lines = Array.from({ length: 501 }, (_, i): EngineEvent => {
    return { kind: "log", level: "info", server: "demo", text: String(i) };
  });
  const { log } = after(lines);
  expect(log).toHaveLength(500);
  expect(log[0]).toEqual({ at: NOW, level: "info", server: "demo", text: "500" });
  expect(log.at(-1)?.text).toBe("1");
});
