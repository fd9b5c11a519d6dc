import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ObservationClampedEvent, PlannerEvent } from "../../../web/src/planner/event.js";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { answered, once, planned } from "./planned.js";

/** A list of so many stations. */
const stations = (count: number): { id: number; name: string }[] =>
  Array.from({ length: count }, (_, id) => ({ id, name: `station ${id}` }));

function listing(name: string, count: number, maxObservationChars?: number): NativeTool {
  return tool({
    name,
    description: "",
    input: z.object({}),
    run: () => stations(count),
    ...(maxObservationChars !== undefined && { maxObservationChars }),
  });
}

const cuts = (events: readonly PlannerEvent[]): readonly ObservationClampedEvent[] =>
  events.filter((event) => event.kind === "observation_clamped");

describe("an observation that is shorter than the result is told of", () => {
  test("where a tool's own limit cut it", async () => {
    const config = { auto_artifact_large_content: false };
    const { planner, events } = planned(once({ name: "list" }), [listing("list", 200, 1000)], { config });
    const [{ calls } = { calls: [] }] = answered(await planner.run("Go.")).trajectory.steps;
    const [cut] = cuts(events);
    expect(cut).toMatchObject({ tool: "list", step: 1, call: calls[0]?.id, method: "stored" });
    expect(cut?.original_size).toBe(JSON.stringify(stations(200)).length);
    expect(cut?.clamped_size).toBe(calls[0]?.observation.length);
    expect(cuts(events)).toHaveLength(1);
  });

  test("where the guardrail of its source did", async () => {
    const store = new MemoryArtifactStore();
    const guardrail = { max_observation_chars: 1000, max_field_chars: 500 };
    const shell = new ToolNode(
      {
        name: "shell",
        transport: "cli",
        connection: `"${process.execPath}"`,
        artifact_extraction: { auto_artifact_large_content: false, guardrail },
      },
      { store },
    );
    onTestFinished(() => shell.close());
    await shell.connect();
    const events: PlannerEvent[] = [];
    const program = "console.log('a line '.repeat(2_000))";
    const { planner } = planned(once({ name: "shell_run", args: { args: ["-e", program] } }), [], {
      catalog: [shell],
      artifactStore: store,
      onEvent: (event) => events.push(event),
    });
    await planner.run("Go.");
    expect(cuts(events)).toMatchObject([{ tool: "shell.run", method: "fields" }]);
    expect(cuts(events)[0]?.original_size).toBeGreaterThan(14_000);
    expect(cuts(events)[0]?.clamped_size).toBeLessThanOrEqual(1000);
  });

  test("and not where nothing was cut", async () => {
    const { planner, events } = planned(once({ name: "list" }), [listing("list", 20)]);
    await planner.run("Go.");
    expect(cuts(events)).toEqual([]);
  });
});

test("of a step that is too long the longest result is stored first, and the others stay where they fit then", async () => {
  const config = { auto_artifact_large_content: false };
  const tools = [listing("one", 800), listing("two", 900), listing("three", 100)];
  const { planner, events } = planned(once({ name: "one" }, { name: "two" }, { name: "three" }), tools, {
    config,
    maxStepChars: 35_000,
  });
  const [{ calls } = { calls: [] }] = answered(await planner.run("Go.")).trajectory.steps;
  expect(cuts(events)).toMatchObject([{ tool: "two", method: "step" }]);
  expect(calls.map(({ observation }) => observation === JSON.stringify(stations(800)))).toEqual([true, false, false]);
  expect(calls.reduce((sum, { observation }) => sum + observation.length, 0)).toBeLessThanOrEqual(35_000);
});

test("of what was told before, the size is the result's, and not that of what was left of it", async () => {
  const config = { auto_artifact_large_content: false };
  const { planner, events } = planned(once({ name: "list" }, { name: "list" }), [listing("list", 200, 1000)], {
    config,
  });
  await planner.run("Go.");
  const whole = JSON.stringify(stations(200)).length;
  expect(cuts(events)).toMatchObject([
    { method: "stored", original_size: whole },
    { method: "repeated", original_size: whole },
  ]);
});

/** Lists both, and then the second one twice more. */
const twoLater: Script = ({ messages }) => {
  const told = messages.filter(({ role }) => role === "tool").length;
  const calls = [[{ name: "one" }, { name: "two" }], [], [{ name: "two" }], [{ name: "two" }]][told];
  return calls === undefined ? { text: "Done." } : { calls: calls.map((call) => ({ ...call, args: {} })) };
};

test("what a step had no room for was not told: a later step tells it whole", async () => {
  const config = { auto_artifact_large_content: false };
  const tools = [listing("one", 800), listing("two", 900)];
  const { planner } = planned(twoLater, tools, { config, maxStepChars: 40_000 });
  const [first, second, third] = answered(await planner.run("Go.")).trajectory.steps;
  expect(first?.calls[1]?.observation.length).toBeLessThan(2_000);
  expect(second?.calls[0]?.observation === JSON.stringify(stations(900))).toBe(true);
  expect(third?.calls[0]?.observation).toBe('"The same as the result of two in step 2."');
});
