import { describe, expect, test } from "vitest";
import { withEvent, type ChatTurn } from "../../../../web/playground/app/chat/turn.js";
import { shelfOf } from "../../../../web/playground/app/state.js";
import type { ChatEvent } from "../../../../web/playground/engine/chat/contract.js";
import { RunEvents } from "../../../../web/playground/engine/serve/chat-events.js";
import type { ServedEvent } from "../../../../web/playground/engine/serve/events.js";
import type { Trajectory } from "../../../../web/src/planner.js";

const NOW = 1_750_000_000_000;
const PLACE = { step: 1, call: "c1", tool: "docs.report" };
const REF = { id: "docs_1", mime_type: "text/csv", size_bytes: 9, filename: "a.csv", sha256: "ab", namespace: "docs" };

/** What a page is told of a run's events. */
function told(events: readonly ServedEvent[], trajectory?: Trajectory): readonly ChatEvent[] {
  const heard: ChatEvent[] = [];
  const run = new RunEvents((event) => heard.push(event));
  for (const event of events) run.hear(event);
  if (trajectory !== undefined) run.saw(trajectory);
  return heard;
}

function turnOf(events: readonly ChatEvent[]): ChatTurn {
  const begun: ChatTurn = { id: "t", query: "Do it", model: { kind: "served" }, state: "running", steps: [] };
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
    expect(artifacts.map(shelfOf)).toEqual(["served", "served-files"]);
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
