/** Runs that are given up, by whoever asked, by the end of their session, or by a server that closes. */
import { describe, expect, test, vi } from "vitest";
import { elsewhere } from "../sources/serving.js";
import { Telling } from "../sources/told.js";
import { asked, calling, chatting, doing, followed, gate, kinds, posted, twoChatting, visitor } from "./chatting.js";

const STOP = { method: "DELETE" };
const call = (run: string): string => `/chat/${run}?call=${encodeURIComponent("1 call_0")}`;

describe("a run that is given up", () => {
  test("ends where it goes on, and is told to have", async () => {
    const wait = gate();
    const by = await visitor(chatting(calling("wait"), [wait.tool]));
    const { run, telling } = await asked(by);
    await wait.called(1);
    expect((await by.ask(`/chat/${run}`, STOP)).status).toBe(204);
    expect((await telling.rest()).at(-1)).toEqual({
      kind: "failed",
      error: { code: "E_CANCELLED", message: "The run was cancelled." },
    });
    // Once more, when it is over.
    expect((await by.ask(`/chat/${run}`, STOP)).status).toBe(204);
    expect(kinds(await (await followed(by, run)).rest()).filter((kind) => kind === "failed")).toHaveLength(1);
  });

  test("ends in another process too", async () => {
    const wait = gate();
    const [one, other] = twoChatting(calling("wait"), [[wait.tool], [wait.tool]]);
    const by = await visitor(one);
    const { run, telling } = await asked(by);
    await wait.called(1);
    expect((await elsewhere(other, by, `/chat/${run}`, STOP)).status).toBe(204);
    expect((await telling.rest()).at(-1)).toMatchObject({ kind: "failed", error: { code: "E_CANCELLED" } });
    expect(wait.calls()).toBe(1);
  });

  test("one call of it ends alone, here and elsewhere; the run goes on", async () => {
    for (const isElsewhere of [false, true]) {
      const wait = gate();
      const [one, other] = twoChatting(calling("wait"), [[wait.tool], []]);
      const by = await visitor(one);
      const { run, telling } = await asked(by);
      await wait.called(1);
      const stopped = isElsewhere ? elsewhere(other, by, call(run), STOP) : by.ask(call(run), STOP);
      expect((await stopped).status).toBe(204);
      expect((await telling.rest()).at(-1)).toMatchObject({
        kind: "result",
        answer: expect.stringContaining("The call was cancelled"),
      });
    }
  });

  test.each(["x", "1", "call_0 1", `1 ${"x".repeat(257)}`])("%j names no call", async (named) => {
    const wait = gate();
    const by = await visitor(chatting(calling("wait"), [wait.tool]));
    const { run } = await asked(by);
    expect((await by.ask(`/chat/${run}?call=${encodeURIComponent(named)}`, STOP)).status).toBe(400);
    wait.open();
  });
});

describe("the end of a session", () => {
  test("ends its runs in every process, and nothing of them is left", async () => {
    const wait = gate();
    const ask = doing("ask", (_, { pause }) => pause("await_input", {}));
    const [one, other, state] = twoChatting(calling("wait"), [[wait.tool], [wait.tool]]);
    const asking = chatting(calling("ask"), [ask], { state, secret: "a secret of more than thirty-two characters" });
    const by = await visitor(one);
    const here = await asked(by);
    const there = new Telling(await elsewhere(other, by, "/chat", posted({ query: "Go." })));
    await wait.called(2);
    const paused = new Telling(await elsewhere(asking, by, "/chat", posted({ query: "Go." })));
    expect((await paused.rest()).at(-1)).toMatchObject({ kind: "pause" });
    const kept = vi.spyOn(state.runs, "savePlannerState");
    await by.end();
    for (const telling of [here.telling, there]) expect(kinds(await telling.rest())).not.toContain("result");
    const forgotten = new Set(kept.mock.calls.filter(([, payload]) => payload === null).map(([token]) => token));
    expect(forgotten.size).toBe(6);
    await vi.waitFor(async () => {
      for (const token of forgotten) expect(await state.runs.loadPlannerState(token)).toBeNull();
    });
    for (const token of forgotten) expect(await state.events.has(token.replace(/^chat/, "run"))).toBe(false);
  });
});

describe("a server that closes", () => {
  test("leaves its runs to others, who go on at once, where each was", async () => {
    const wait = gate();
    const hello = doing("hello", () => "hello");
    const [one, other] = twoChatting(calling("hello", "wait"), [
      [hello, wait.tool],
      [hello, doing("wait", () => "elsewhere")],
    ]);
    const by = await visitor(one);
    const { run, telling } = await asked(by, "Go.", { trace: "t" });
    await wait.called(1);
    await one.server[Symbol.asyncDispose]();
    const before = await telling.rest();
    expect(kinds(before)).not.toContain("failed");
    const begun = performance.now();
    const headers = { "last-event-id": telling.lastId ?? "" };
    const after = await new Telling(await elsewhere(other, by, `/chat/${run}`, { headers })).rest();
    expect(performance.now() - begun).toBeLessThan(5000);
    const anew = after.slice(kinds(after).indexOf("text_discarded"));
    expect(anew[0]).toEqual({ kind: "text_discarded", step: 2 });
    expect(after.at(-1)).toMatchObject({ kind: "result", answer: 'They said "hello" "elsewhere".' });
    expect(anew.filter(({ kind }) => kind === "tool_called")).toEqual([
      { kind: "tool_called", step: 2, call: "call_0", tool: "wait" },
    ]);
    expect((await by.ask("/chat", posted({ query: "Go." }))).status).toBe(503);
  });
});
