import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChatTurn, withEvent } from "../../../../web/playground/app/chat/turn.js";
import { findShelf } from "../../../../web/playground/app/state.js";
import type { ChatEvent } from "../../../../web/playground/engine/chat/messages.js";
import { RunEvents } from "../../../../web/playground/engine/serve/chat-events.js";
import { Unreachable } from "../../../../web/playground/engine/serve/client.js";
import { followEvents, type ServedEvent } from "../../../../web/playground/engine/serve/events.js";
import { SluiceError } from "../../../../web/src/index.js";
import type { Trajectory } from "../../../../web/src/planner.js";

describe("events", () => {
  const LAST = new Set(["result"]);
  const never = new AbortController().signal;

  /** An event as a server writes it. */
  function written(id: string, data: object): string {
    return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  function streamed(pieces: readonly Uint8Array[]): Response {
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      }),
    );
  }

  function answer(...pieces: readonly string[]): Response {
    return streamed(pieces.map((piece) => new TextEncoder().encode(piece)));
  }

  async function heard(
    open: (after: string | undefined) => Promise<Response>,
    { signal = never, tries = 5, cursor = {} } = {},
  ): Promise<readonly ServedEvent[]> {
    const events: ServedEvent[] = [];
    for await (const event of followEvents({ open, signal, cursor, last: LAST, tries })) events.push(event);
    return events;
  }

  describe("events that are followEvents", () => {
    test("go on behind the one that came last, wherever a connection breaks: each once, in its order", async () => {
      const log = Array.from({ length: 6 }, (_, at) => ({
        id: `${Math.floor(at / 2)}-${at}`,
        data: { kind: at === 5 ? "result" : "text", at, text: "é\n" },
      }));
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(500), { maxLength: 2 }),
          fc.integer({ min: 1, max: 40 }),
          async (cuts, size) => {
            const asked: (string | undefined)[] = [];
            const breaks = [...cuts];
            const events = await heard(async (after) => {
              asked.push(after);
              const from = log.findIndex(({ id }) => id === after) + 1;
              const text = log
                .slice(from)
                .map(({ id, data }) => written(id, data))
                .join("");
              const bytes = new TextEncoder().encode(text).subarray(0, breaks.shift() ?? Infinity);
              const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
                bytes.subarray(at * size, (at + 1) * size),
              );
              return streamed(pieces);
            });
            expect(events).toEqual(log.map(({ data }) => data));
            expect(asked[0]).toBeUndefined();
          },
        ),
        { numRuns: 15 },
      );
    });

    test("are not told again by a server that begins before what it was asked for", async () => {
      const connections = [
        answer(written("1-0", { kind: "text" }), written("1-1", { kind: "pause" })),
        answer(
          written("1-0", { kind: "text" }),
          written("1-1", { kind: "pause" }),
          written("1-10", { kind: "result" }),
        ),
      ];
      const kinds = (await heard(async () => connections.shift() ?? answer())).map(({ kind }) => kind);
      expect(kinds).toEqual(["text", "pause", "result"]);
    });

    test("begin behind the place that is given", async () => {
      const cursor = { after: "5-0" };
      const events = await heard(
        async (after) => {
          expect(after).toBe("5-0");
          return answer(written("5-1", { kind: "result" }));
        },
        { cursor },
      );
      expect(events).toEqual([{ kind: "result" }]);
      expect(cursor.after).toBe("5-1");
    });

    test("what is no event is left out: comments, other text, and JSON without a kind", async () => {
      const pieces = [": sign of life\n\n", "data: no JSON\n\n", 'data: {"text":1}\n\n', "data: null\n\n"];
      expect(await heard(async () => answer(...pieces, written("1-0", { kind: "result" })))).toEqual([
        { kind: "result" },
      ]);
    });

    test("a refusal ends it at once", async () => {
      let asked = 0;
      const refused = heard(async () => {
        asked += 1;
        throw new SluiceError("E_NOT_FOUND", "There is no such run here.");
      });
      await expect(refused).rejects.toMatchObject({ code: "E_NOT_FOUND" });
      expect(asked).toBe(1);
    });

    test("a server that is away is asked as often as was said", async () => {
      let asked = 0;
      const open = async (): Promise<Response> => {
        asked += 1;
        if (asked === 1) return answer();
        throw new Unreachable();
      };
      await expect(heard(open, { tries: 3 })).rejects.toBeInstanceOf(Unreachable);
      expect(asked).toBe(3);
    });

    test("an event without an end is not gathered for ever", async () => {
      const piece = `data: ${"x".repeat(1024 * 1024)}`;
      let pulled = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          pulled += 1;
          controller.enqueue(new TextEncoder().encode(piece));
        },
      });
      await expect(heard(async () => new Response(endless), { tries: 1 })).rejects.toBeInstanceOf(Unreachable);
      expect(pulled).toBeLessThan(12);
    });

    test("end when nobody wants them any more, also in the middle of a silence", async () => {
      const gone = new AbortController();
      const silent = new Response(new ReadableStream<Uint8Array>());
      const hearing = heard(async () => silent, { signal: gone.signal });
      setTimeout(() => gone.abort(new DOMException("It is over.", "AbortError")), 20);
      await expect(hearing).rejects.toMatchObject({ name: "AbortError" });
    });
  });
});

describe("events of a chat", () => {
  const NOW = 1_750_000_000_000;
  const PLACE = { step: 1, call: "c1", tool: "docs.report" };
  const REF = {
    id: "docs_1",
    mime_type: "text/csv",
    size_bytes: 9,
    filename: "a.csv",
    sha256: "ab",
    namespace: "docs",
  };

  /** What a page is told of a run's events. */
  function told(events: readonly ServedEvent[], trajectory?: Trajectory): readonly ChatEvent[] {
    const heard: ChatEvent[] = [];
    const run = new RunEvents((event) => heard.push(event));
    for (const event of events) run.hear(event);
    if (trajectory !== undefined) run.saw(trajectory);
    return heard;
  }

  function turnOf(events: readonly ChatEvent[]): ChatTurn {
    const begun: ChatTurn = { id: "t", query: "Do it", askedAt: NOW, by: "served", state: "running", steps: [] };
    return events.reduce((turn, event) => withEvent(turn, event, NOW), begun);
  }

  describe("a run at the server", () => {
    test("has the cards of its calls, though nobody tells what the model wanted", () => {
      const { steps } = turnOf(
        told([
          { kind: "step_started", step: 1 },
          { kind: "text", step: 1, text: "I look." },
          { kind: "tool_called", ...PLACE },
          { kind: "tool_progress", ...PLACE, progress: { progress: 1, total: 4 } },
          { kind: "tool_waiting", ...PLACE, wait: { after_s: 15, message: "It is silent.", is_over: false } },
        ]),
      );
      expect(steps).toMatchObject([
        {
          text: "I look.",
          calls: [
            {
              id: "c1",
              tool: "docs.report",
              state: "running",
              progress: { progress: 1, wait: { message: "It is silent." } },
            },
          ],
        },
      ]);
    });

    test("stores at the server: its cards open there, those of a user's files among these", () => {
      const file = { ...REF, id: "docs_2", source: { user_file: "a" } };
      const [, { artifacts = [] } = {}] = told([
        { kind: "tool_called", ...PLACE },
        { kind: "artifact_stored", ...PLACE, artifacts: [REF, file] },
      ]) as readonly { readonly artifacts?: readonly (typeof REF)[] }[];
      expect(artifacts.map(findShelf)).toEqual(["served", "served-files"]);
    });

    test("a step that is made anew in another process takes the place of the one that was begun", () => {
      const { steps } = turnOf(
        told([
          { kind: "step_started", step: 1 },
          { kind: "text", step: 1, text: "I lo" },
          { kind: "tool_called", ...PLACE },
          { kind: "text_discarded", step: 1 },
          { kind: "step_started", step: 1 },
          { kind: "text", step: 1, text: "I look." },
        ]),
      );
      expect(steps).toMatchObject([{ step: 1, text: "I look.", calls: [] }]);
    });

    test("what a tool displays is told when it is known what it stored", () => {
      const display = {
        open_canvas: true,
        storage_action: "store",
        notification: "Made.",
        files: [{ name: "a.csv", id: "docs_1", auto_open: true }],
      };
      const begun = [
        { kind: "tool_called", ...PLACE },
        { kind: "tool_display", ...PLACE, display },
      ];
      expect(told(begun).map(({ kind }) => kind)).toEqual(["tool_called"]);
      const events = told([...begun, { kind: "artifact_stored", ...PLACE, artifacts: [REF] }]);
      expect(events.at(-1)).toMatchObject({
        kind: "display",
        display: { server: "docs", notification: "Made.", opened: { id: "docs_1", served: true } },
      });
      const without = told([...begun, { kind: "tool_answered", ...PLACE, isError: false, chars: 2 }]);
      expect(without.at(-1)).toMatchObject({ kind: "display", display: { server: "docs", notification: "Made." } });
    });

    test("errors are sentences; what a page has no use for is left out", () => {
      const events = told([
        { kind: "tool_failed", ...PLACE, error: { code: "E_TOOL_TIMEOUT", message: "It was silent." } },
        { kind: "artifact_emitted", ...PLACE, name: "x", value: 1 },
        { kind: "finished", steps: 1, outcome: "answered" },
        { kind: "of another version" },
      ]);
      expect(events).toEqual([
        { kind: "tool_failed", ...PLACE, problem: { code: "E_TOOL_TIMEOUT", message: "It was silent." } },
      ]);
    });

    test("what the model saw is told at the end, step by step", () => {
      const call = {
        id: "c1",
        tool: "docs.report",
        args: { year: 2025 },
        observation: "12 rows",
        isError: false,
        artifacts: [],
      };
      const trajectory = {
        query: "Do it",
        steps: [
          { text: "", calls: [call] },
          { text: "Done.", calls: [] },
        ],
        artifacts: {},
      };
      const begun = [
        { kind: "step_started", step: 1 },
        { kind: "tool_called", ...PLACE },
        { kind: "step_started", step: 2 },
      ];
      const { steps } = turnOf(told(begun, trajectory));
      expect(steps).toMatchObject([
        { seen: [{ role: "user", text: "Do it" }], calls: [{ args: '{"year":2025}' }] },
        { seen: [{ role: "tool", tool: "docs.report", call: "c1", text: "12 rows" }] },
      ]);
    });
  });
});
