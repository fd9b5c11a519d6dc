import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { SluiceError } from "../../../web/src/errors/error.js";
import { jsonValue, tool } from "../../../web/src/planner/tool.js";
import { PDF } from "../core/samples.js";
import { answered, once, OwnClient, planned } from "./planned.js";
import { amount } from "../../support/full.js";

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
  ["a cycle", round, "value.list[1].again", "holds itself"],
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
