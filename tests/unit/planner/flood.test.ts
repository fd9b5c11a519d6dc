import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";
import { base64, PDF } from "../core/samples.js";
import { planned, once, answered, add, OwnClient } from "./planned.js";
import { amount } from "../../support/full.js";

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
        expect(told.reduce((sum, { content }) => sum + chars(content), 0)).toBeLessThanOrEqual(100_000);
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
      expect(llm.told.reduce((sum, { content }) => sum + chars(content), 0)).toBeLessThanOrEqual(maxStepChars);
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
