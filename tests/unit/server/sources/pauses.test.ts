import { describe, expect, test } from "vitest";
import { memoryState } from "../../../../web/src/serve.js";
import { Pauses } from "../../../../web/src/server/sources/pauses.js";

const QUESTION = { reason: "await_input", payload: { pause_type: "elicitation", message: "Go on?" } } as const;
const STATE = "s".repeat(43);
const CONSENT = {
  reason: "external_event",
  payload: { pause_type: "oauth", provider: "far", auth_url: `https://far.example/auth?state=${STATE}&x=1` },
} as const;

const forever = new AbortController().signal;

describe("questions", () => {
  test("the first answer counts, from any process, and the question is gone", async () => {
    const { events } = memoryState();
    const [here, there] = [new Pauses(events), new Pauses(events)];
    const pause = await here.open("s1", QUESTION);
    const answer = pause.answer(forever);
    expect(await there.answer("s1", pause.id, { ok: true })).toBe(true);
    expect(await answer).toEqual({ ok: true });
    expect(await there.answer("s1", pause.id, { ok: false })).toBe(false);
  });

  test("an answer that comes before it is waited for is not lost", async () => {
    const pauses = new Pauses(memoryState().events);
    const pause = await pauses.open("s1", QUESTION);
    await pauses.answer("s1", pause.id, null);
    expect(await pause.answer(forever)).toBeNull();
  });

  test("who says nothing in time declines", async () => {
    const pauses = new Pauses(memoryState().events, 0.05);
    const pause = await pauses.open("s1", QUESTION);
    expect(await pause.answer(forever)).toBeNull();
    expect(await pauses.answer("s1", pause.id, 1)).toBe(false);
  });

  test("who gives up is told so, and the question is gone", async () => {
    const pauses = new Pauses(memoryState().events);
    const pause = await pauses.open("s1", QUESTION);
    const left = new AbortController();
    const answer = pause.answer(left.signal);
    left.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    expect(await pauses.answer("s1", pause.id, 1)).toBe(false);
  });

  test.each(["s2", "s1 ", "s", ""])("session %j does not answer for s1", async (session) => {
    const pauses = new Pauses(memoryState().events);
    const pause = await pauses.open("s1", QUESTION);
    expect(await pauses.answer(session, pause.id, 1)).toBe(false);
  });

  test.each(["", "x", "../..", "a b", "s".repeat(23), "\0".repeat(22)])("%j names no question", async (id) => {
    expect(await new Pauses(memoryState().events).answer("s1", id, 1)).toBe(false);
  });
});

describe("requests for consent", () => {
  test("it is known in every process whose they are, until they are forgotten", async () => {
    const { events } = memoryState();
    const [here, there] = [new Pauses(events), new Pauses(events)];
    const { id } = await here.open("s1", CONSENT);
    expect(await there.consentOf(STATE)).toEqual({ session: "s1", pause: id, provider: "far" });
    await there.forgetConsent(STATE);
    expect(await here.consentOf(STATE)).toBeNull();
  });

  test("one that nothing waits for here is noted too", async () => {
    const pauses = new Pauses(memoryState().events);
    await pauses.noteConsent("s1", CONSENT.payload);
    expect(await pauses.consentOf(STATE)).toEqual({ session: "s1", pause: null, provider: "far" });
  });

  test.each(["", "x", "s".repeat(44), "s1 x"])("the state %j is nobody's", async (state) => {
    const pauses = new Pauses(memoryState().events);
    await pauses.open("s1", QUESTION);
    expect(await pauses.consentOf(state)).toBeNull();
  });

  test.each([
    { pause_type: "url", auth_url: CONSENT.payload.auth_url, provider: "far" },
    { pause_type: "oauth", auth_url: "no URL", provider: "far" },
    { pause_type: "oauth", auth_url: "https://far.example/", provider: "far" },
    { pause_type: "oauth", auth_url: 7, provider: "far" },
  ])("of %j nothing is noted", async (payload) => {
    const pauses = new Pauses(memoryState().events);
    await pauses.noteConsent("s1", payload);
    expect(await pauses.consentOf(STATE)).toBeNull();
  });
});
