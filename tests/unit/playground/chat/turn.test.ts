import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type ChatTurn,
  countKeptOut,
  countSeenChars,
  withCancelled,
  withEvent,
} from "../../../../web/playground/app/chat/turn.js";
import type { ChatEvent } from "../../../../web/playground/engine/chat/messages.js";
import { TextBuffer } from "../../../../web/playground/engine/chat/chat.js";
import { script } from "../../../../web/playground/engine/chat/script.js";
import type { ScriptedAnswer, ScriptedMessage } from "../../../../web/src/planner/llm/scripted-model.js";

describe("a turn", () => {
  const NOW = 1_750_000_000_000;
  const BEGUN: ChatTurn = { id: "t", query: "Do it", askedAt: NOW, by: "scripted", state: "running", steps: [] };
  const PLACE = { step: 1, call: "a", tool: "demo.export_csv" } as const;
  const CALLED: readonly ChatEvent[] = [
    { kind: "asked", step: 1, messages: [{ role: "user", text: "Do it" }], tools: 3 },
    { kind: "text", step: 1, text: "I " },
    { kind: "text", step: 1, text: "call." },
    {
      kind: "wanted",
      step: 1,
      calls: [
        { id: "a", name: "demo_export_csv", args: "{}" },
        { id: "b", name: "demo_fails", args: "{" },
      ],
    },
    { kind: "tool_called", ...PLACE },
  ];

  function after(events: readonly ChatEvent[], turn = BEGUN): ChatTurn {
    return events.reduce((now, event, at) => withEvent(now, event, NOW + at), turn);
  }

  const artifact = { id: "demo_1", mime_type: "text/csv", size_bytes: 1000, sha256: "ab", filename: null, scope: {} };
  const stored = { kind: "artifact_stored", ...PLACE, artifacts: [artifact] } as unknown as ChatEvent;

  describe("a turn", () => {
    test("has what the model saw, wrote and wanted, step by step", () => {
      const { steps } = after([...CALLED, { kind: "asked", step: 2, messages: [], tools: 3 }]);
      expect(steps.map(({ step, text, seen }) => [step, text, seen.length])).toEqual([
        [1, "I call.", 1],
        [2, "", 0],
      ]);
      expect(steps[0]?.calls.map(({ tool, state }) => [tool, state])).toEqual([
        ["demo.export_csv", "running"],
        ["demo_fails", "wanted"],
      ]);
    });

    test("has what became of a call: stored without its scope, shortened, told", () => {
      const turn = after([
        ...CALLED,
        { kind: "tool_progress", ...PLACE, progress: { progress: 1, total: 2 } },
        { kind: "tool_returned", ...PLACE, isError: false },
        stored,
        stored,
        { kind: "observation_clamped", ...PLACE, original_size: 900, clamped_size: 100, method: "step" },
        { kind: "tool_answered", ...PLACE, isError: false, chars: 100 },
        { kind: "model_answered", step: 1, calls: 2, usage: { inputTokens: 10, outputTokens: 5 } },
      ]);
      const { scope: _, ...shown } = artifact;
      expect(turn.steps[0]?.calls[0]).toEqual({
        id: "a",
        tool: "demo.export_csv",
        args: "{}",
        state: "done",
        startedAt: NOW + 4,
        endedAt: NOW + 6,
        progress: { progress: 1, total: 2 },
        artifacts: [shown],
        clamped: { original: 900, left: 100, method: "step" },
        chars: 100,
      });
      expect(turn.steps[0]?.tokens).toBe(15);
      expect([countKeptOut(turn), countSeenChars(turn)]).toEqual([1000, 100]);
    });

    test("a call that waits goes on; one that was cancelled stays so, whatever it says", () => {
      const waiting = after([...CALLED, { kind: "paused", ...PLACE, reason: "await_input", token: "x" }]);
      expect(waiting.steps[0]?.calls[0]?.state).toBe("waiting");
      expect(after([{ kind: "resumed" }], waiting).steps[0]?.calls.map(({ state }) => state)).toEqual([
        "running",
        "wanted",
      ]);
      const cancelled = withCancelled(after(CALLED), 1, "a");
      const ended = after(
        [
          { kind: "tool_called", ...PLACE },
          { kind: "tool_returned", ...PLACE, isError: false },
        ],
        cancelled,
      );
      expect(ended.steps[0]?.calls[0]).toMatchObject({ state: "cancelled", endedAt: NOW + 1 });
    });

    test("what was not stored counts for nothing, and what the server took back is gone", () => {
      const lost = {
        kind: "artifact_stored",
        ...PLACE,
        artifacts: [{ ...artifact, sha256: null }],
      } as unknown as ChatEvent;
      const problem = { code: "E_TOOL", message: "It failed." };
      const turn = after([
        ...CALLED,
        lost,
        { kind: "tool_failed", ...PLACE, problem },
        { kind: "text_discarded", step: 1 },
      ]);
      expect(countKeptOut(turn)).toBe(0);
      expect(turn.steps[0]).toMatchObject({ text: "", calls: [{ problem }, { tool: "demo_fails" }] });
    });

    test("a step that is made anew begins anew; what is told of a call that nobody announced is kept", () => {
      const again = after([
        ...CALLED,
        { kind: "asked", step: 1, messages: [] },
        { kind: "tool_called", ...PLACE, call: "x" },
      ]);
      expect(again.steps).toMatchObject([
        { step: 1, text: "", calls: [{ id: "x", tool: PLACE.tool, state: "running" }] },
      ]);
    });

    test("a silent call says so until it goes on", () => {
      const wait = { after_s: 15, message: "It is silent.", is_over: false };
      const silent = after([
        ...CALLED,
        { kind: "tool_progress", ...PLACE, progress: { progress: 3 } },
        { kind: "tool_waiting", ...PLACE, wait },
      ]);
      expect(silent.steps[0]?.calls[0]?.progress).toEqual({ progress: 3, wait });
      const goesOn = after([{ kind: "tool_progress", ...PLACE, progress: { progress: 4 } }], silent);
      expect(goesOn.steps[0]?.calls[0]?.progress).toEqual({ progress: 4 });
    });
  });

  const text = (step: number, piece: string): ChatEvent => ({ kind: "text", step, text: piece });

  let told: ChatEvent[];
  let pieces: TextBuffer;

  beforeEach(() => {
    vi.useFakeTimers();
    told = [];
    pieces = new TextBuffer((event) => told.push(event));
  });
  afterEach(() => void vi.useRealTimers());

  test("a thousand words within a moment are told at once", () => {
    for (let word = 0; word < 1000; word += 1) pieces.tell(text(1, "a "));
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(told).toEqual([text(1, "a ".repeat(1000))]);
    pieces.tell(text(1, "b"));
    vi.advanceTimersByTime(1000);
    expect(told.at(-1)).toEqual(text(1, "b"));
  });

  test("what else happens is told behind the text before it, and steps stay apart", () => {
    pieces.tell(text(1, "a"));
    pieces.tell({ kind: "resumed" });
    pieces.tell(text(1, "b"));
    pieces.tell(text(2, "c"));
    pieces.flush();
    pieces.flush();
    expect(told).toEqual([text(1, "a"), { kind: "resumed" }, text(1, "b"), text(2, "c")]);
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(4);
  });
});

describe("scripts", () => {
  const DEMO = [
    "sales_report",
    "sales_chart",
    "sales_table",
    "export_csv",
    "slow_import",
    "asks",
    "artifact_read",
    "artifact_edit",
  ];
  const TOOLS = [...DEMO.map((name) => `demo_${name}`), "docs_whoami", "docs_find_page"];
  const asked = (content: string): ScriptedMessage => ({ role: "user", content });
  const called: ScriptedMessage = { role: "assistant", content: "" };
  const result = (content: string): ScriptedMessage => ({ role: "tool", content });

  async function says(
    first: ScriptedMessage,
    more: readonly ScriptedMessage[],
    tools = TOOLS,
  ): Promise<ScriptedAnswer> {
    return script({ messages: [first, ...more], last: more.at(-1) ?? first, tools });
  }

  async function calls(query: string, tools = TOOLS): Promise<unknown> {
    return ((await says(asked(query), [], tools)).calls ?? []).map(({ name, args }) => [name, args]);
  }

  describe("the script", () => {
    test.each([
      ["Make the q2 report", [["demo_sales_report", { quarter: "Q2" }]]],
      ["Draw a line chart of it", [["demo_sales_chart", { kind: "line" }]]],
      ["Show the orders", [["demo_sales_table", {}]]],
      ["Export the orders", [["demo_export_csv", {}]]],
      ["Import them within 99 seconds", [["demo_slow_import", { seconds: 60 }]]],
      ["whoami", [["docs_whoami", {}]]],
      ['Call find_page with {"name": "home"}', [["docs_find_page", { name: "home" }]]],
      ["Call docs_find_page {broken}", [["docs_find_page", {}]]],
      ["Call demo_sales_report as a report", [["demo_sales_report", {}]]],
      ["What is the meaning of life?", []],
    ])("%s", async (query, expected) => {
      expect(await calls(query)).toEqual(expected);
    });

    test("says what it is where nothing is named, or nothing can be called", async () => {
      expect((await says(asked("Hello"), [])).text).toContain("I am a script, not a model");
      expect((await says(asked("Draw the chart"), [], [])).text).toContain("I am a script");
      expect(await calls("Draw the chart", ["docs_whoami"])).toEqual([]);
    });

    test("looks inside of what was stored once, where that is asked for", async () => {
      const stored = result('{"pdf":{"artifact":{"id":"demo_0a1b"},"summary":"PDF, 4.0 MB"}}');
      const query = asked("Make the report and read it");
      expect((await says(query, [called, stored])).calls).toEqual([
        { name: "demo_artifact_read", args: { uri: "artifact://demo_0a1b", lines: "1-5" } },
      ]);
      const { text, calls: more } = await says(query, [called, stored, called, result('"first"')]);
      expect(more).toBeUndefined();
      expect(text).toContain("- PDF, 4.0 MB\n> first");
    });

    test.each([
      ["Which region sold most?", /SELECT region AS region, .* GROUP BY region ORDER BY revenue DESC/],
      ["What are the worst products?", /SELECT product AS product, .* GROUP BY product ORDER BY revenue ASC/],
      ["Which month was best?", /SELECT SUBSTR\(date, 1, 7\) AS month/],
      ["How many orders are there?", /SELECT COUNT\(\*\) AS orders/],
    ])("asks the stored orders: %s", async (query, sql) => {
      expect(await calls(query)).toEqual([["demo_export_csv", { rows: 12_000 }]]);
      const stored = result('{"artifact":{"id":"demo_0a1b","filename":"orders.csv"},"summary":"CSV"}');
      const { calls: [call] = [] } = await says(asked(query), [called, stored]);
      expect(call).toEqual({
        name: "demo_artifact_read",
        args: { uri: "artifact://demo_0a1b", query: expect.stringMatching(sql) as string },
      });
    });

    test("tells the rows of an answer as a table", async () => {
      const stored = result('{"artifact":{"id":"demo_0a1b","filename":"orders.csv"},"summary":"CSV, 12,000 rows"}');
      const rows = "region,orders,revenue\nEast,2413,401234.5\nWest,2390,399001";
      const answer = result(
        JSON.stringify(
          `[sluice] artifact://demo_0a1b, answer to the query: 2 rows below the header. It is data:\n--- data 0a1b ---\n${rows}\n--- end 0a1b ---`,
        ),
      );
      const { text } = await says(asked("Which region sold most?"), [called, stored, called, answer]);
      expect(text).toMatch(
        /^\*\*East\*\* comes first\.\n\n\| region \| orders \| revenue \|\n\| --- \| --- \| --- \|\n\| East \| 2,413 \| 401,234\.5 \|\n\| West \| 2,390 \| 399,001 \|\n\nThat is all I saw/,
      );
    });

    test("names the files of a result, with what they are", async () => {
      const { text } = await says(asked("Draw the chart"), [
        called,
        result('{"artifact":{"id":"demo_0a1b","filename":"sales.png"},"summary":"PNG image, 960 × 540"}'),
      ]);
      expect(text).toContain("- **sales.png**: PNG image, 960 × 540\n");
    });

    test("tells the beginning of what is long", async () => {
      const long = result(JSON.stringify("x".repeat(10_000)));
      const { text = "" } = await says(asked("Show the orders"), [called, long]);
      expect(text.length).toBeLessThan(400);
      expect(text).toContain("10,002 characters");
    });
  });
});
