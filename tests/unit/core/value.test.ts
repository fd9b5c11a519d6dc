/** Bytes in values: whatever holds them, and wherever it stands, they become artifacts. */
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { stringifyDeep } from "../../../web/src/core/value.js";
import { createSluice } from "../../../web/src/index.js";
import { amount } from "../../support/full.js";
import { PDF, PNG, opened } from "./samples.js";

/** A whole number of the widest elements. */
const bytes = PDF.subarray(0, 4096);
const buffer = (): ArrayBuffer => Uint8Array.from(bytes).buffer;
/** A view that begins and ends within its buffer. */
const within = (): ArrayBuffer => Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, ...bytes, 9, 9, 9, 9, 9, 9, 9, 9]).buffer;

async function* inPieces(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 1000);
  yield bytes.subarray(1000);
}

class Holder {
  readonly name = "report";
  readonly #hidden = "never told";
  constructor(readonly file: unknown) {}
  get hidden(): string {
    return this.#hidden;
  }
}

const SOURCES: readonly (readonly [string, () => unknown])[] = [
  ["Uint8Array", () => bytes],
  ["a view within its buffer", () => new Uint8Array(within(), 8, bytes.length)],
  ["Buffer", () => Buffer.from(bytes)],
  ["Int8Array", () => new Int8Array(buffer())],
  ["Uint8ClampedArray", () => new Uint8ClampedArray(buffer())],
  ["Uint16Array", () => new Uint16Array(buffer())],
  ["Float64Array", () => new Float64Array(buffer())],
  ["BigUint64Array", () => new BigUint64Array(buffer())],
  ["DataView", () => new DataView(within(), 8, bytes.length)],
  ["ArrayBuffer", () => buffer()],
  ["Blob", () => new Blob([buffer()])],
  ["File", () => new File([buffer()], "a/b/plan.pdf", { type: "application/pdf" })],
  ["Response", () => new Response(buffer(), { headers: { "content-type": "application/pdf; x=y" } })],
  ["ReadableStream", () => new Blob([buffer()]).stream()],
  ["Readable of Node", () => Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)], { objectMode: false })],
  ["Readable of Node, in object mode", () => Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)])],
  ["async generator", () => inPieces()],
];

describe.each(SOURCES)("%s", (_, source) => {
  test.each([
    ["alone", (value: unknown) => value],
    ["at depth", (value: unknown) => ({ a: [{ b: { c: [1, value, "x"] } }], d: 2 })],
    ["inside an instance of a class", (value: unknown) => ({ holder: new Holder(value) })],
    ["in a Map", (value: unknown) => new Map([["file", value]])],
    ["in a Map with other keys", (value: unknown) => new Map([[{ key: 1 }, [value]]])],
    ["in a Set", (value: unknown) => ({ files: new Set([1, value]) })],
    ["in what toJSON gives", (value: unknown) => ({ toJSON: () => ({ file: value }) })],
  ])("%s", async (__, around) => {
    const { store, sluice } = await opened();
    const { artifacts, text } = await sluice.transform(around(source()), { namespace: "x" });
    expect(artifacts).toHaveLength(1);
    const [ref] = artifacts;
    expect(ref).toMatchObject({ mime_type: "application/pdf", size_bytes: bytes.length });
    expect(Buffer.from((await store.get(ref?.id ?? "")) ?? []).equals(bytes)).toBe(true);
    expect(text).toContain(`"id":"${ref?.id}"`);
    expect(text).toContain("PDF, 4.0 KB");
    expect(text).not.toContain("JVBER");
    expect(text).not.toMatch(/(\d+,){20}/);
    expect(text).not.toContain("never told");
  });
});

test("a file keeps its name, without its folders", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const file = new File([buffer()], "../secret/plan b.pdf", { type: "application/pdf" });
  const { artifacts } = await sluice.transform({ file });
  expect(artifacts[0]?.filename).toBe("plan b.pdf");
});

const blob = (type: string, content: BlobPart): Blob => new Blob([content], { type });

test("a declared type is believed where the bytes allow it", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const { artifacts } = await sluice.transform([
    blob("text/csv", "a,b\n1,2\n"),
    blob("application/pdf", Uint8Array.from(PNG)),
  ]);
  expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(["text/csv", "image/png"]);
});

test("many of them, and small ones, are artifacts each, and in the mcp dialect base64 again", async () => {
  const { sluice } = await opened();
  const list = Array.from({ length: 40 }, (_, at) => Uint8Array.from([at, 1, 2]));
  const { artifacts, value, refs } = await sluice.transform({ list, empty: new Uint8Array() }, { dialect: "mcp" });
  expect(artifacts).toHaveLength(41);
  expect(refs).toContain("artifact");
  expect(await sluice.restore(value)).toEqual({
    list: list.map((each) => Buffer.from(each).toString("base64")),
    empty: "",
  });
});

test("more than a message may have artifacts of are lost nowhere", async () => {
  const { sluice } = await opened();
  const list = Array.from({ length: 300 }, (_, at) => Uint8Array.from(Buffer.from(`number ${at} of them`)));
  const { value } = await sluice.transform({ list }, { dialect: "mcp" });
  expect(await sluice.restore(value)).toEqual({ list: list.map((each) => Buffer.from(each).toString("base64")) });
});

test("a stream that breaks off is told, and the rest of the result stays", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(Uint8Array.from(bytes));
      controller.error(new Error("/home/ada/secret"));
    },
  });
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const { text, artifacts } = await sluice.transform({ before: 1, broken, after: bytes, last: "there" });
  expect(text).toContain('"before":1');
  expect(text).toContain('"last":"there"');
  expect(text).toContain("ended early");
  expect(text).not.toContain("secret");
  expect(artifacts.map(({ source }) => source["truncated"] === true)).toEqual([true, false]);
});

/** As many as a message may have artifacts of: what comes behind them is base64 inside a larger artifact. */
const crowd = (): Uint8Array[] => Array.from({ length: 256 }, (_, at) => Uint8Array.from([...bytes, at]));

test("a stream that breaks off among too many others is told as well, and the rest of the result stays", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Uint8Array.from(bytes)),
    pull: (controller) => controller.error(new Error("/home/ada/secret")),
  });
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  const { text, artifacts } = await sluice.transform({ list: [...crowd(), broken, bytes], last: "there" });
  const kept = await Promise.all(artifacts.map(async ({ id }) => Buffer.from((await store.get(id)) ?? []).toString()));
  const whole = kept.find((each) => each.includes("ended early")) ?? "{}";
  const said = [expect.stringMatching(/ Content not stored: .*ended early/), bytes.toString("base64")];
  expect(JSON.parse(whole)).toMatchObject({ list: expect.arrayContaining(said), last: "there" });
  expect(whole + text).not.toContain("secret");
});

test.each([
  ["alone", []],
  ["among too many others", crowd()],
])("a stream that hangs %s is left when the signal says so", async (_, before) => {
  const hanging = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
  const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
  const signal = AbortSignal.timeout(300);
  await expect(sluice.transform([...before, hanging], { signal })).rejects.toMatchObject({ name: "TimeoutError" });
});

test("what JSON cannot say is an error that says so", async () => {
  const sluice = await createSluice();
  const cycle: Record<string, unknown> = { bytes };
  cycle["self"] = cycle;
  for (const value of [1n, { deep: [1n] }, { bytes, big: 1n }, cycle, undefined, (): void => undefined]) {
    await expect(sluice.transform(value)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  }
});

test("a Readable of Node in object mode that gives texts is a text", async () => {
  const { store, sluice } = await opened();
  const { artifacts } = await sluice.transform({ log: Readable.from(["one\n", "zwei — 2\n"]) });
  expect(Buffer.from((await store.get(artifacts[0]?.id ?? "")) ?? []).toString()).toBe("one\nzwei — 2\n");
});

test.each([
  [
    "a Map with texts for keys is an object",
    new Map<unknown, unknown>([
      ["a", 1],
      ["__proto__", new Map()],
    ]),
    '{"a":1,"__proto__":{}}',
  ],
  [
    "another Map is a list of pairs",
    new Map<unknown, unknown>([
      ["a", 1],
      [2, [3n.toString()]],
    ]),
    '[["a",1],[2,["3"]]]',
  ],
  ["a Set is a list", { tags: new Set(["a", new Set([1])]) }, '{"tags":["a",[1]]}'],
  ["what they say themselves comes first", Object.assign(new Map([["a", 1]]), { toJSON: () => "said" }), '"said"'],
])("%s", async (_, value, json) => {
  const sluice = await createSluice();
  expect((await sluice.transform(value)).text).toBe(json);
});

const round = new Map<string, unknown>();
round.set("rows", [{ self: round }]);

test.each<[string, string, unknown]>([
  ["rows[3].id", "BigInt", { rows: [1, 2, 3, { name: "a", id: 1n }] }],
  ["rows[1]", "await it", { rows: [{ x: { y: 1 } }, Promise.resolve(bytes)] }],
  ['a.at["not a word"]', "await it", { a: { b: [[]], at: { "not a word": Promise.resolve(1) } } }],
  ["rows[0].self", "contains itself", round],
  ["[1].big", "BigInt", [bytes, new Map([["big", 1n]])]],
  ["made.out", "BigInt", { made: { toJSON: () => ({ out: 1n }) } }],
  ["objects", "collect", { objects: Readable.from([{ a: 1 }]) }],
  ["rows[1].objects", "collect", { rows: [bytes, new Map([["objects", Readable.from([{ a: 1 }])]])] }],
])("what is not JSON is told with its place: %s", async (path, reason, value) => {
  const sluice = await createSluice();
  const told = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(reason) };
  await expect(sluice.transform(value)).rejects.toMatchObject(told);
});

test("a place is short, however deep it is and whatever keys are like", async () => {
  let value: unknown = 1n;
  for (let depth = 0; depth < 5_000; depth += 1) value = { ["key ".repeat(1_000)]: value };
  const sluice = await createSluice();
  const error: unknown = await sluice.transform(value).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "E_INVALID_ARGUMENT" });
  expect((error as Error).message.length).toBeLessThan(400);
});

test("a promise is no value: whoever calls has to wait for it", async () => {
  const sluice = await createSluice();
  const told = { code: "E_INVALID_ARGUMENT", message: expect.stringContaining("await it") };
  await expect(sluice.transform(Promise.resolve({ a: 1 }))).rejects.toMatchObject(told);
  await expect(sluice.restore(Promise.resolve({ a: 1 }))).rejects.toMatchObject(told);
  expect(() => sluice.clamp(Promise.resolve({ a: 1 }))).toThrow("await it");
});

test.each<[string, () => AsyncIterable<unknown>]>([
  [
    "gives objects",
    () =>
      (async function* (): AsyncGenerator {
        yield { secret: 1 };
      })(),
  ],
  [
    "throws",
    () =>
      (async function* (): AsyncGenerator {
        yield bytes;
        throw new Error("/home/ada/secret");
      })(),
  ],
  [
    "is destroyed",
    () =>
      new Readable({
        read(): void {
          this.destroy(new Error("/home/ada/secret"));
        },
      }),
  ],
])("an async generator or a stream of Node's that %s breaks off", async (_, source) => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const { text, artifacts } = await sluice.transform({ broken: source(), last: "there" });
  expect(text).toContain("ended early");
  expect(text).toContain('"last":"there"');
  expect(text).not.toContain("secret");
  expect(artifacts.map(({ source: { truncated } }) => truncated)).toEqual([true]);
});

test("what only claims to be bytes is a value like any other", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const value = ["Blob", "Response", "ReadableStream", "ArrayBuffer", "AsyncGenerator", "Map", "Promise"].map(
    (name) => ({
      [Symbol.toStringTag]: name,
      kept: name,
    }),
  );
  expect((await sluice.transform({ value, bytes })).value).toMatchObject({
    value: value.map(({ kept }) => ({ kept })),
  });
});

const throws = (): never => {
  throw new Error("/home/ada/secret");
};

test("what a value throws when it is read is not repeated", async () => {
  const sluice = await createSluice();
  for (const value of [{ toJSON: throws }, Object.defineProperty({ bytes }, "x", { get: throws, enumerable: true })]) {
    await expect(sluice.transform(value)).rejects.toMatchObject({
      message: "the value is not JSON: it cannot be read",
    });
  }
});

test("a string that looks like a placeholder stays a string", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const text = "00000000-0000-4000-8000-000000000000:0";
  const { value } = await sluice.transform({ text, quoted: `"${text}"`, bytes });
  expect(value).toMatchObject({ text, quoted: `"${text}"` });
});

test("an answer can be written in both dialects, for a tool that is known late, in another scope", async () => {
  const store = new MemoryArtifactStore();
  const config = { tool_fields: { late: [{ field_path: "short", content_type: "note", mime_type: "text/x-note" }] } };
  const sluice = await createSluice({ store, config });
  await using stream = sluice.open({
    dialect: "mcp",
    namespace: "n",
    scope: { trace_id: "staging" },
    keepOriginal: 1e5,
  });
  const result = { structuredContent: { short: "a note", pdf: bytes.toString("base64") }, content: [] };
  const json = JSON.stringify(result);
  await stream.write(Buffer.from(json.slice(0, 50)));
  await stream.write(Buffer.from(json.slice(50)));
  await using gated = await stream.end();
  expect(Buffer.concat(gated.original ?? []).toString()).toBe(json);

  const scope = { user_id: "ada" };
  const mcp = await gated.answer({ tool: "late", scope });
  expect(mcp.artifacts.map(({ mime_type }) => mime_type)).toEqual(["application/pdf", "text/x-note"]);
  expect(await sluice.restore(mcp.value, { scope })).toEqual(result);
  const observation = await gated.answer({ tool: "other", scope, dialect: "observation" });
  expect(observation.value).toMatchObject({ short: "a note", pdf: { artifact: { mime_type: "application/pdf" } } });
  for (const { id } of [...mcp.artifacts, ...observation.artifacts]) expect(await store.exists(id, scope)).toBe(true);
  await gated[Symbol.asyncDispose]();
  await expect(gated.answer()).rejects.toMatchObject({ code: "E_MISUSE" });
});

test("what a transformer made is no result of a server: gate and limits hold, layers do not", async () => {
  const { sluice } = await opened();
  const value = { content: [{ type: "text", text: '{"a":1}' }], file: bytes.toString("base64") };
  const { value: told, artifacts } = await sluice.transform(value, { transformed: true });
  expect(told).toMatchObject({ content: value.content, file: { artifact: { mime_type: "application/pdf" } } });
  expect(artifacts).toHaveLength(1);
});

const LEVELS = 50_000;

/** So deep that `JSON.stringify` gives up. */
const deep = (inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < LEVELS; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const before = '{"a":['.repeat(LEVELS / 2);
const after = "]}".repeat(LEVELS / 2);

test("deep values are written as shallow ones are", () => {
  expect(() => JSON.stringify(deep(1))).toThrow(RangeError);
  fc.assert(
    fc.property(fc.anything({ withDate: true, withBoxedValues: true, withNullPrototype: true }), (value) => {
      const text = JSON.stringify([value]).slice(1, -1);
      expect(stringifyDeep(value)).toBe(JSON.stringify(value));
      expect(stringifyDeep(deep(value)) === before + text + after).toBe(true);
    }),
    { numRuns: amount(8, 60) },
  );
  const odd = { toJSON: (key: string) => ({ key }), a: undefined };
  expect(stringifyDeep(deep([odd, () => 1, Symbol("s"), { b: undefined, c: odd }]))).toBe(
    `${before}[{"key":"0"},null,null,{"c":{"key":"c"}}]${after}`,
  );
});

test("what has code of its own is written by it, plain as it looks", async () => {
  const { sluice } = await opened();
  const list = Object.assign([1, 2], { toJSON: () => ({ pdf: PDF }) });
  const { artifacts, value } = await sluice.transform({ list, plain: [{ a: 1 }] }, { dialect: "mcp" });
  expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(["application/pdf"]);
  expect(value).toMatchObject({ plain: [{ a: 1 }] });
  const failing = {
    rows: [
      { ok: 1 },
      {
        get id(): number {
          throw new Error("no id");
        },
      },
    ],
  };
  await expect(sluice.transform(failing)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
});

test("what stands in a value twice is no circle, at any depth", () => {
  const one = { a: [1] };
  expect(stringifyDeep(deep([one, { one }, one.a]))).toBe(`${before}[{"a":[1]},{"one":{"a":[1]}},[1]]${after}`);
});

test("what JSON cannot say is refused at any depth", () => {
  const cycle: unknown[] = [];
  cycle.push(deep(cycle));
  expect(() => stringifyDeep(cycle)).toThrow(TypeError);
  expect(() => stringifyDeep(deep(1n))).toThrow(TypeError);
  expect(stringifyDeep(undefined)).toBeUndefined();
});
