import { expect, test } from "vitest";
import { z } from "zod";
import { hasMarks, parted } from "../../../web/src/planner/tool.js";

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
