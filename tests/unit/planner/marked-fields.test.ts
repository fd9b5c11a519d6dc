import { describe, expect, test } from "vitest";
import { z } from "zod";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { hasMarks, parted, tool } from "../../../web/src/planner/tool.js";
import { PDF } from "../core/samples.js";
import { answered, once, planned } from "./planned.js";

const schema = z.toJSONSchema(
  z.object({
    title: z.string(),
    rows: z.array(z.number()).meta({ artifact: true }),
    report: z.object({ pages: z.number(), chart: z.unknown().meta({ artifact: true }) }),
  }),
);

test("marked fields are kept by their paths, and the rest is shown", () => {
  const value = { title: "a", rows: [1, 2], report: { pages: 3, chart: { kind: "bar" } }, more: true };
  expect(parted(value, schema)).toEqual({
    shown: {
      title: "a",
      rows: "(kept by the planner, not shown)",
      report: { pages: 3, chart: "(kept by the planner, not shown)" },
      more: true,
    },
    kept: { rows: [1, 2], "report.chart": { kind: "bar" } },
  });
  expect([hasMarks(schema), hasMarks(z.toJSONSchema(z.object({ a: z.string() }))), hasMarks(undefined)]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([[null], [7], ["rows"], [[{ rows: 1 }]]])(
  "what does not look as its schema says stays as it is: %j",
  (value) => {
    expect(parted(value, schema)).toEqual({ shown: value, kept: {} });
  },
);

test("a field that is called __proto__ is a field", () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "rows": 1}') as unknown;
  const { shown } = parted(value, schema);
  expect(JSON.stringify(shown)).toBe('{"__proto__":{"x":1},"rows":"(kept by the planner, not shown)"}');
});

const round: unknown[] = [];
round.push(round);
const unreadable = {
  get rows(): never {
    throw new Error("cannot open /home/ada/secret.txt");
  },
};

describe.each([
  ["nothing", undefined],
  ["a BigInt", { rows: 1n }],
  ["a cycle", round],
  ["a function", (): number => 1],
  ["what cannot be read", unreadable],
  ["bytes beside a BigInt", { rows: 1n, bytes: new Uint8Array(PDF) }],
])("a marked field that JSON has not: %s", (_, chart) => {
  const output = z.object({ answer: z.string(), chart: z.any().meta({ artifact: true }) });
  const run = (): unknown => ({ answer: "42", chart });
  const draw = tool({ name: "draw", description: "", input: z.object({}), output, run });

  test("stays as it is for the host, and the model has the rest", async () => {
    const { planner } = planned(once({ name: "draw" }), [draw]);
    const { trajectory } = answered(await planner.run("Draw."));
    expect(trajectory.artifacts["draw.chart"]).toBe(chart);
    expect(trajectory.steps[0]?.calls[0]).toMatchObject({ isError: false });
    expect(trajectory.steps[0]?.calls[0]?.observation).toContain('"answer":"42"');
  });

  test("is left out where a run is kept, between steps and while it waits", async () => {
    const wait = tool({
      name: "wait",
      description: "",
      input: z.object({}),
      run: (__, { pause }) => pause("await_input", {}),
    });
    const { planner } = planned(once({ name: "draw" }, { name: "wait" }), [draw, wait], {
      stateStore: new MemoryStateStore(),
    });
    const { resumeToken } = (await planner.run("Draw.", { token: "drawing" })) as PlannerPause;
    const { answer, trajectory } = answered(await planner.resume(resumeToken, { answer: "yes" }));
    expect(answer).toBe("I saw 2 results.");
    expect(trajectory.artifacts).toEqual({});
  });
});
