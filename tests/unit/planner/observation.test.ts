/** What the model is told of results: within limits, cut where it must be, and told of. */
import fc from "fast-check";
import { expect, test, describe, onTestFinished } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { SluiceConfig } from "../../../web/src/config/types.js";
import type { Sluice } from "../../../web/src/core/types.js";
import type { ObservationClampedEvent, PlannerEvent } from "../../../web/src/planner/event.js";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import { shareChars, Sluices } from "../../../web/src/planner/observation.js";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { amount } from "../../support/full.js";
import { base64, PDF } from "../core/samples.js";
import { answered, once, planned, add, OwnClient } from "./planned.js";

test("who needs little leaves the rest to the others", () => {
  expect(shareChars([100, 90_000, 90_000], 100_000)).toEqual([100, 49_950, 49_950]);
  expect(shareChars([10, 20], 100_000)).toEqual([10, 20]);
  expect(shareChars([], 100_000)).toEqual([]);
});

/** What so many want, and at least 256 for each of them. */
const wanted = fc
  .array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 256 })
  .chain((needs) => fc.tuple(fc.constant(needs), fc.integer({ min: needs.length * 256, max: 200_000 })));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

test("together they have no more than there is, and nobody gets less than 256 who needs it", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const shares = shareChars(needs, total);
    expect(sum(shares)).toBeLessThanOrEqual(total);
    for (const [at, share] of shares.entries()) {
      expect(share).toBeLessThanOrEqual(needs[at] as number);
      expect(share).toBeGreaterThanOrEqual(Math.min(256, needs[at] as number));
    }
  });
  fc.assert(property);
});

test("where there is less than 256 for each, each gets 256", () => {
  expect(shareChars([1_000, 100, 1_000], 300)).toEqual([256, 100, 256]);
});

test("who is cut to a share keeps it while the others are cut, the longest first", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const left = [...needs];
    const longestFirst = needs.map((_, at) => at).toSorted((a, b) => (needs[b] as number) - (needs[a] as number));
    for (const at of longestFirst) left[at] = shareChars(left, total)[at] as number;
    expect(sum(left)).toBeLessThanOrEqual(total);
  });
  fc.assert(property);
});

const gate = {} as Sluice;

/** The configurations that gates were made of. */
function noted(config: SluiceConfig, fails: () => boolean = () => false): { sluices: Sluices; made: SluiceConfig[] } {
  const made: SluiceConfig[] = [];
  const create = async (each: SluiceConfig): Promise<Sluice> => {
    made.push(each);
    if (fails()) throw new Error("no core");
    return gate;
  };
  return { sluices: new Sluices(config, create), made };
}

test("one gate for each limit, which stores what it cuts", async () => {
  const { sluices, made } = noted({ guardrail: { max_field_chars: 7, auto_artifact_threshold: 20_000 } });
  await Promise.all([sluices.within(1_000), sluices.within(1_000), sluices.within(50_000)]);
  expect(made).toEqual([
    { guardrail: { max_field_chars: 7, max_observation_chars: 1_000, auto_artifact_threshold: 1_000 } },
    { guardrail: { max_field_chars: 7, max_observation_chars: 50_000, auto_artifact_threshold: 20_000 } },
  ]);
});

test("shares of any size need few gates, and none allows more than the share", async () => {
  const { sluices, made } = noted({});
  for (let share = 1; share <= 100_000; share += 97) {
    const before = made.length;
    await sluices.withinShare(share);
    const { max_observation_chars: limit = 0 } = made[before]?.guardrail ?? {};
    expect(limit).toBeLessThanOrEqual(Math.max(share, 256));
  }
  expect(made.length).toBeLessThan(12);
});

test("a gate that could not be made is made when it is asked for again", async () => {
  let fails = true;
  const { sluices } = noted({}, () => fails);
  await expect(sluices.within(1_000)).rejects.toThrow("no core");
  fails = false;
  expect(await sluices.within(1_000)).toBe(gate);
});

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
  expect(calls.reduce((all, { observation }) => all + observation.length, 0)).toBeLessThanOrEqual(35_000);
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

const chars = (text: string): number => Array.from(text).length;
const LIMIT = 50_000;

describe("no tool can flood the model", () => {
  const ways = fc.constantFrom<() => unknown>(
    () => "x".repeat(3_000_000),
    () => base64(PDF).repeat(3),
    () => Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: `row ${at}` })),
    () => JSON.parse("[".repeat(200) + "1" + "]".repeat(200)) as unknown,
    () => Array.from({ length: 30 }, () => base64(PDF)),
    () => ({ content: [{ type: "text", text: "😀".repeat(60_000) }] }),
    () => 7,
    () => {
      throw new TypeError("y".repeat(2_000_000));
    },
  );

  test("whatever it returns, alone or a hundred times in parallel", async () => {
    const property = fc.asyncProperty(
      fc.array(ways, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(1, 3, 100),
      async (made, times) => {
        const any = tool({
          name: "any",
          description: "",
          input: z.object({ at: z.number() }),
          run: ({ at }) => (made[at % made.length] as () => unknown)(),
        });
        const calls = Array.from({ length: times }, (_, at) => ({ name: "any", args: { at } }));
        const { planner, turns } = planned(once(...calls), [any]);
        answered(await planner.run("Go."));
        const told = turns.flatMap(({ messages }) => messages).filter(({ role }) => role === "tool");
        expect(told.length).toBe(times);
        for (const { content } of told) {
          expect(chars(content)).toBeLessThanOrEqual(LIMIT);
          expect(() => JSON.parse(content) as unknown).not.toThrow();
        }
        expect(told.reduce((all, { content }) => all + chars(content), 0)).toBeLessThanOrEqual(100_000);
      },
    );
    await fc.assert(property, { numRuns: amount(4, 12) });
  });

  test("however many calls it makes, and however little a step may have", async () => {
    const any = tool({ name: "any", description: "", input: z.object({}), run: () => "ab".repeat(at++ % 400) });
    let at = 0;
    const sizes = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 256, max: 30_000 }));
    const property = fc.asyncProperty(sizes, async ([times, maxStepChars]) => {
      const toolCalls = Array.from({ length: times }, (_, id) => ({ id: `${id}`, name: "any", arguments: "{}" }));
      const llm = new OwnClient({ toolCalls });
      answered(await planned(() => ({ text: "" }), [any], { llm, maxStepChars }).planner.run("Go."));
      expect(llm.told).toHaveLength(Math.min(times, 256, Math.floor(maxStepChars / 256)));
      expect(llm.told.reduce((all, { content }) => all + chars(content), 0)).toBeLessThanOrEqual(maxStepChars);
    });
    await fc.assert(property, { numRuns: amount(4, 12) });
  });

  test("a tool's own limit, below the guardrail's and above it; what is cut can be read back", async () => {
    const long = { text: Array.from({ length: 9_000 }, (_, at) => `word${at}`).join(" ") };
    const config = {
      auto_artifact_large_content: false,
      guardrail: { max_observation_chars: 1_000, max_field_chars: 1_000_000 },
    };
    const make = (name: string, maxObservationChars?: number): NativeTool =>
      tool({
        name,
        description: "",
        input: z.object({}),
        run: () => ({ name, ...long }),
        ...(maxObservationChars !== undefined && { maxObservationChars }),
      });
    const { planner, store } = planned(
      once({ name: "short" }, { name: "usual" }, { name: "long" }),
      [make("short", 500), make("usual"), make("long", 90_000)],
      { config },
    );
    const calls = answered(await planner.run("Go.")).trajectory.steps[0]?.calls ?? [];
    const sizes = calls.map(({ observation }) => chars(observation));
    expect(sizes[0]).toBeLessThanOrEqual(500);
    expect(sizes[1]).toBeLessThanOrEqual(1_000);
    expect(calls[2]?.observation === JSON.stringify({ name: "long", ...long })).toBe(true);
    const id = calls[0]?.artifacts[0]?.id ?? "";
    expect(JSON.parse(new TextDecoder().decode((await store.get(id)) ?? undefined))).toEqual({
      name: "short",
      ...long,
    });
  });

  test("the same content is told once", async () => {
    const same = tool({
      name: "same",
      description: "",
      input: z.object({ n: z.number() }),
      run: () => "a text of some length, ".repeat(40),
    });
    const { planner, events } = planned(once({ name: "same", args: { n: 1 } }, { name: "same", args: { n: 2 } }), [
      same,
    ]);
    const calls = answered(await planner.run("Go.")).trajectory.steps[0]?.calls ?? [];
    expect(calls[1]?.observation).toBe('"The same as the result of same in step 1."');
    expect(events.filter(({ kind }) => kind === "observation_clamped")).toMatchObject([{ method: "repeated" }]);
  });
});

test("what the model wrote itself does not flood it either, whoever's client it is", async () => {
  const [text, id, name] = ["😀".repeat(100_000), "i".repeat(100_000), "n".repeat(100_000)];
  const llm = new OwnClient({ text, toolCalls: [{ id, name, arguments: "{}" }] });
  const { planner, events } = planned(() => ({ text: "" }), [add], { llm });
  const { trajectory } = answered(await planner.run("Add."));
  expect(JSON.stringify(llm.messages).length).toBeLessThan(60_000);
  const said = llm.messages.find(({ role }) => role === "assistant")?.content ?? "";
  expect(said.slice(49_998)).toBe("😀\n... [truncated: 150000 chars]");
  expect(trajectory.steps[0]?.text).toBe(text);
  const places = events.filter((event) => "call" in event);
  expect(places).toMatchObject([{ kind: "tool_answered", call: "i".repeat(256), tool: "n".repeat(64) }]);
});

test("arguments that the model wrote do not flood it either", async () => {
  const long = { a: 1, b: 2, note: "x".repeat(200_000) };
  const { planner, turns } = planned(once({ name: "math_add", args: long }), [add]);
  answered(await planner.run("Add."));
  expect(JSON.stringify(turns).length).toBeLessThan(20_000);
});
