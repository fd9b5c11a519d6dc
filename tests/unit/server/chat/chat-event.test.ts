import fc from "fast-check";
import { expect, test } from "vitest";
import { fits, fitting, type ChatEvent } from "../../../../web/src/server/chat/chat-event.js";
import { MAX_EVENT_BYTES } from "../../../../web/src/server/sessions/event-log.js";

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
