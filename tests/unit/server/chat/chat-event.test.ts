/** Events of a chat that are too large, and a store that goes away in the middle of one. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { memoryState } from "../../../../web/src/serve.js";
import { type ChatEvent, fitting } from "../../../../web/src/server/chat/chat-event.js";
import { fits, MAX_EVENT_BYTES } from "../../../../web/src/server/sessions/event-log.js";
import { refused } from "../visitor.js";
import { asked, calling, chatting, doing, followed, kinds, posted, visitor } from "./chatting.js";

describe("events of a chat", () => {
  const place = { step: 1, call: "c", tool: "t" };
  const HALF = /\p{Surrogate}/u;
  const LARGE = "x".repeat(MAX_EVENT_BYTES);

  test("text comes in pieces that are all of it, and break no character", () => {
    const property = fc.property(
      fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 20_000 }),
      (unit, count) => {
        const text = unit.repeat(count);
        const pieces = fitting({ kind: "text", step: 1, text }) as unknown as { text: string }[];
        expect(pieces.map((piece) => piece.text).join("")).toBe(text);
        for (const piece of pieces) {
          expect(fits(piece as never)).toBe(true);
          expect(HALF.test(piece.text)).toBe(HALF.test(text) && HALF.test(piece.text));
        }
      },
    );
    fc.assert(property, { numRuns: 50 });
  });

  test("many references come in several events, all of them", () => {
    const artifacts = Array.from({ length: 3000 }, (_, at) => ({ id: `id_${at}`, source: { text: "y".repeat(100) } }));
    const events = fitting({ kind: "artifact_stored", ...place, artifacts } as unknown as ChatEvent);
    expect(events.length).toBeGreaterThan(1);
    expect(events.every(fits)).toBe(true);
    expect(events.flatMap((event) => (event as unknown as { artifacts: unknown[] }).artifacts)).toEqual(artifacts);
  });

  test.each<[string, ChatEvent]>([
    ["a value", { kind: "artifact_emitted", ...place, name: "n", value: LARGE }],
    ["a piece", { kind: "chunk_emitted", ...place, stream: "s", chunk: LARGE }],
    ["a message", { kind: "tool_progress", ...place, progress: { progress: 1, message: LARGE } }],
    ["an error", { kind: "tool_failed", ...place, error: { code: "E_TOOL", message: LARGE } }],
  ])("of %s that is too large is told where it was, and how large", (_, event) => {
    const [small, ...more] = fitting(event);
    expect(more).toEqual([]);
    expect(small).toEqual({ kind: event.kind, ...place, left_out: Buffer.byteLength(JSON.stringify(event)) });
  });

  test("a pause whose question is too large can be answered all the same", () => {
    const pause = { kind: "pause", reason: "await_input", tool: "t", resume_token: "r" } as const;
    expect(fitting({ ...pause, payload: { question: LARGE } })).toEqual([
      { ...pause, payload: {}, left_out: expect.any(Number) },
    ]);
  });

  test("what fits is told as it is", () => {
    const event: ChatEvent = { kind: "artifact_emitted", ...place, name: "n", value: "x".repeat(200_000) };
    expect(fitting(event)).toEqual([event]);
  });
});

/** A store that goes away in the middle of a run, and comes back. */
describe("a store that is away", () => {
  const away = (): Promise<never> => Promise.reject(new SluiceError("E_STORE_WRITE", "The store is away."));
  const hello = doing("hello", () => "hello");

  test("a step that cannot be kept is made again when the store is back, and the answer comes", async () => {
    const state = memoryState();
    vi.spyOn(state.runs, "updatePlannerState").mockImplementationOnce(away);
    const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
    const { telling } = await asked(by);
    const told = await telling.rest();
    expect(told.at(-1)).toMatchObject({ kind: "result", answer: 'They said "hello".', spent: { steps: 2 } });
    expect(told).toContainEqual({ kind: "text_discarded", step: 1 });
    expect(kinds(told).filter((kind) => kind === "tool_called")).toHaveLength(2);
  });

  test("a result that cannot be told is told when the log is back", async () => {
    const state = memoryState();
    const real = state.events.append.bind(state.events);
    let failures = 0;
    vi.spyOn(state.events, "append").mockImplementation((channel, event) =>
      event.kind === "result" && failures++ < 2 ? away() : real(channel, event),
    );
    const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
    const { run, telling } = await asked(by);
    expect((await telling.rest()).at(-1)).toMatchObject({ kind: "result" });
    expect(failures).toBe(3);
    expect(kinds(await (await followed(by, run)).rest()).filter((kind) => kind === "result")).toHaveLength(1);
  });

  test("a run that cannot be kept does not begin, and nothing is left of it", async () => {
    const state = memoryState();
    const saved = vi.spyOn(state.runs, "savePlannerState").mockImplementationOnce(away);
    const by = await visitor(
      chatting(calling("hello"), [hello], { state, secret: "s".repeat(32), limits: { runs: 1 } }),
    );
    expect(await refused(await by.ask("/chat", posted({ query: "Go." })))).toEqual([503, "E_STORE_WRITE"]);
    for (const [token] of saved.mock.calls) expect(await state.runs.loadPlannerState(token)).toBeNull();
    // It counts no more.
    expect((await (await asked(by)).telling.rest()).at(-1)).toMatchObject({ kind: "result" });
  });

  test("a run of which nothing is kept any more is told to be lost", async () => {
    const state = memoryState();
    const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
    const run = crypto.randomUUID();
    await state.events.append(`run ${by.id} ${run}`, { kind: "run_started" });
    expect(await (await followed(by, run)).rest()).toEqual([
      { kind: "run_started" },
      { kind: "failed", error: { code: "E_EXPIRED", message: expect.any(String) } },
    ]);
  });
});
