import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { expect, test, describe } from "vitest";
import { z } from "zod";
import { SluiceError } from "../../../web/src/errors/error.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import { jsonValue, tool, hasMarks, partValue } from "../../../web/src/planner/tool.js";
import { amount } from "../../support/full.js";
import { PDF } from "../core/samples.js";
import { answered, once, OwnClient, planned } from "./planned.js";

const round: Record<string, unknown> = { name: "round" };
round["list"] = [1, { again: round }];
const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown;
const throwing = {
  inner: {
    get field(): never {
      throw new Error("no");
    },
  },
};

test.each<[string, unknown, string, string]>([
  ["a Uint8Array", { rows: [1, { file: PDF.subarray(0, 4) }] }, "value.rows[1].file", "context.artifacts.upload"],
  ["a Buffer, which would write its digits itself", [Buffer.from("abc")], "value[0]", "bytes"],
  ["a typed array of another realm", runInNewContext("new Int16Array(3)"), "value", "bytes"],
  ["a DataView", new DataView(new ArrayBuffer(2)), "value", "bytes"],
  ["an ArrayBuffer", { a: new ArrayBuffer(2) }, "value.a", "bytes"],
  ["a SharedArrayBuffer", { a: new SharedArrayBuffer(2) }, "value.a", "bytes"],
  ["a Blob", { a: new Blob(["x"]) }, "value.a", "bytes"],
  ["a File", { a: new File(["x"], "a.txt") }, "value.a", "bytes"],
  ["a stream", { a: new Response("x").body }, "value.a", "bytes"],
  ["a Response", { a: new Response("x") }, "value.a", "bytes"],
  ["bytes that a toJSON gives", { a: { toJSON: () => new Uint8Array(2) } }, "value.a", "bytes"],
  ["a BigInt", { id: 7n }, "value.id", "write it as a string"],
  ["a boxed BigInt", { id: Object(7n) as unknown }, "value.id", "BigInt"],
  ["a Map", { a: new Map([[1, 2]]) }, "value.a", "a Map or a Set"],
  ["a Set", { a: new Set([1]) }, "value.a", "a Map or a Set"],
  ["a cycle", round, "value.list[1].again", "contains itself"],
  ["a getter that throws", throwing, "value.inner", "cannot be written"],
  ["what is nested without end", deep, "value[0]", "too deep"],
])("%s is refused with its place", (_, value, path, sentence) => {
  const refused = { code: "E_INVALID_ARGUMENT", message: expect.stringContaining(sentence) as unknown };
  expect(() => jsonValue(value, "value")).toThrow(
    expect.objectContaining({ ...refused, path: expect.stringContaining(path) as unknown }),
  );
});

test("what JSON has is a copy, in which one thing may stand twice", () => {
  const same = { a: 1 };
  const value = { one: same, two: [same, same], date: new Date(0), left: undefined, run: () => 1, none: [undefined] };
  const copy = jsonValue(value, "value");
  expect(copy).toEqual({ one: same, two: [same, same], date: "1970-01-01T00:00:00.000Z", none: [null] });
  expect((copy as typeof value).one).not.toBe(same);
  expect([jsonValue(undefined, "v"), jsonValue(() => 1, "v"), jsonValue(Number.NaN, "v")]).toEqual([null, null, null]);
});

/** Whatever a tool may have at hand. */
const hostile = fc.oneof(
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  fc.constantFrom<unknown>(
    round,
    throwing,
    deep,
    PDF,
    new Blob(["x"]),
    Symbol("s"),
    Object(7n),
    () => 1,
    new Proxy({}, {}),
  ),
);

/** What work gives; where it fails, `refused`, if the error has a code and a place. */
function orRefused(work: () => unknown, path: RegExp): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_INVALID_ARGUMENT" && path.test(error.path ?? "")) {
      return "refused";
    }
    throw error;
  }
}

function outcomeOf(act: () => void): unknown {
  try {
    return orRefused(act, /^(?:value|chunk|name|stream|progress|total|message)/) ?? "told";
  } catch (error) {
    return error;
  }
}

function json(value: unknown): string {
  const text: unknown = JSON.stringify(value);
  return typeof text === "string" ? text : "null";
}

test("whatever is given, it is JSON that stays as it is, or an error that names the place", () => {
  fc.assert(
    fc.property(hostile, (value) => {
      const copy = orRefused(() => jsonValue(value, "value"), /^value/);
      expect(JSON.parse(JSON.stringify(copy))).toEqual(copy);
      expect([JSON.stringify(copy), '"refused"']).toContain(copy === "refused" ? '"refused"' : json(value));
    }),
    { numRuns: amount(500, 2000) },
  );
});

test("events survive JSON, whatever a tool tells, returns, asks or throws, and whatever a model's client adds", async () => {
  const input = z.object({});
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 6, maxLength: 6 }), fc.nat(2), async (values, ending) => {
      const outcomes: unknown[] = [];
      const tells = tool({
        name: "tells",
        description: "",
        input,
        run: (_, { emitArtifact, emitChunk, reportProgress, pause }) => {
          const [value, chunk, name, ...more] = values as [unknown, unknown, string, number, number, string];
          const acts = [
            (): void => emitArtifact("value", value),
            (): void => emitChunk("log", chunk),
            (): void => emitArtifact(name, 1),
            (): void => emitChunk(name, 1),
            (): void => reportProgress(...more),
            (): void => reportProgress(1, ...(more.slice(1) as [number, string])),
          ];
          for (const act of acts) outcomes.push(outcomeOf(act));
          if (ending === 0) throw chunk;
          if (ending === 1) throw new SluiceError("E_TOOL", "It failed.", {}, { cause: value });
          return pause("await_input", value as Record<string, unknown>);
        },
      });
      const usage = { inputTokens: 1, outputTokens: 1, raw: values[0] };
      const llm = new OwnClient({ toolCalls: [{ id: "1", name: "tells", arguments: "{}" }], usage });
      const { planner, events } = planned(once({ name: "tells" }), [tells], { llm });
      await planner.run("Go.");
      expect(events.length).toBeGreaterThan(3);
      expect(outcomes).toEqual(Array.from({ length: 6 }, () => expect.stringMatching(/^(?:told|refused)$/) as unknown));
      const written = events.map((event) => JSON.parse(JSON.stringify(event)) as unknown);
      expect(written).toEqual(
        events.map((event) => ("error" in event ? { ...event, error: event.error.toJSON() } : event)),
      );
    }),
    { numRuns: 60 },
  );
});

test("a tool that emits bytes is told what to do instead", async () => {
  const draws = tool({
    name: "draws",
    description: "",
    input: z.object({}),
    run: (_, { emitArtifact }) => emitArtifact("chart", { png: PDF }),
  });
  const { planner, events } = planned(once({ name: "draws" }), [draws]);
  const [{ calls } = { calls: [] }] = answered(await planner.run("Go.")).trajectory.steps;
  expect(calls[0]).toMatchObject({
    isError: true,
    observation: expect.stringContaining("value.png is bytes") as unknown,
  });
  expect(events.map(({ kind }) => kind)).not.toContain("artifact_emitted");
});

const schema = z.toJSONSchema(
  z.object({
    title: z.string(),
    rows: z.array(z.number()).meta({ artifact: true }),
    report: z.object({ pages: z.number(), chart: z.unknown().meta({ artifact: true }) }),
  }),
);

test("marked fields are kept by their paths, and the rest is shown", () => {
  const value = { title: "a", rows: [1, 2], report: { pages: 3, chart: { kind: "bar" } }, more: true };
  expect(partValue(value, schema)).toEqual({
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
    expect(partValue(value, schema)).toEqual({ shown: value, kept: {} });
  },
);

test("a field that is called __proto__ is a field", () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "rows": 1}') as unknown;
  const { shown } = partValue(value, schema);
  expect(JSON.stringify(shown)).toBe('{"__proto__":{"x":1},"rows":"(kept by the planner, not shown)"}');
});

const cycle: unknown[] = [];
cycle.push(cycle);
const unreadable = {
  get rows(): never {
    throw new Error("cannot open /home/ada/secret.txt");
  },
};

describe.each([
  ["nothing", undefined],
  ["a BigInt", { rows: 1n }],
  ["a cycle", cycle],
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
