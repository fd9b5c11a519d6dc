/** Transformers: what they are given, what becomes of what they return, and that no store costs an answer. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import type { ExternalToolConfig } from "../../../web/src/tools/config/config.js";
import type { ToolNodeOptions } from "../../../web/src/tools/options.js";
import type { ToolNodeEvent } from "../../../web/src/tools/event.js";
import type { ToolResult } from "../../../web/src/tools/result.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { faulty } from "../core/faulty-store.js";
import { PDF, prose } from "../core/samples.js";
import { serverScript } from "./sources/mcp/server-script.js";

const MIB = 1024 * 1024;
/** What every observation has at most, by default. */
const MOST_CHARS = 50_000;

const TOOLS = {
  report: `return blob(1, args.size ?? 3000);`,
  twin: `return blob(2, args.size ?? 3000);`,
  rows: `return JSON.stringify({ content: [], structuredContent: { rows: Array.from({ length: args.rows }, (_, at) => ({ at, name: "row " + at })) } });`,
  linked: `return JSON.stringify({ content: [{ type: "text", text: "see" }, { type: "resource_link", uri: "file:///a.pdf", name: "a.pdf", size: 100 }, { type: "resource", resource: { uri: "file:///b.pdf", mimeType: "application/pdf", blob: base64(3, args.size) } }] });`,
};

const STORES: readonly (readonly [string, boolean, () => ArtifactStore])[] = [
  ["a store", true, () => new MemoryArtifactStore()],
  ["no store", false, () => new NoOpArtifactStore({ warn: () => undefined })],
  [
    "a store that takes nothing",
    false,
    () => faulty(new MemoryArtifactStore(), (call) => fail(call, "openWriter")).store,
  ],
  ["a store that breaks off", false, () => faulty(new MemoryArtifactStore(), (call) => fail(call, "close")).store],
  [
    "a store that gives nothing back",
    true,
    () => faulty(new MemoryArtifactStore(), (call) => fail(call, "openReader")).store,
  ],
  ["a store with little room", false, () => new MemoryArtifactStore({ retention: { max_artifact_bytes: 1000 } })],
];

function fail(call: string, at: string): void {
  if (call === at) throw new Error("the disk is gone");
}

async function connected(
  config: Partial<ExternalToolConfig>,
  options: ToolNodeOptions = {},
  idLast = false,
): Promise<ToolNode> {
  const script = JSON.stringify(serverScript({ tools: TOOLS, idLast })).replaceAll("\\n", "\n");
  const command = [process.execPath, "--input-type=module", "-e"].map((word) => JSON.stringify(word)).join(" ");
  const node = new ToolNode(
    { name: "own", transport: "mcp", connection: `${command} "\${SCRIPT}"`, ...config },
    {
      ...options,
      variables: (name) => (name === "SCRIPT" ? (JSON.parse(script.replaceAll("\n", "\\n")) as string) : undefined),
    },
  );
  await node.connect();
  return node;
}

/** What is wrong with an answer; undefined where it is as it should be: bounded, without bytes, and honest about the store. */
function wrongIn({ text, isError, artifacts }: ToolResult, isKept: boolean | undefined): string | undefined {
  if (isError) return "it is an error";
  if (Array.from(text).length > MOST_CHARS) return "it is too long";
  if (text.includes("JVBER")) return "bytes are in it";
  if (!text.includes("PDF")) return "what was taken out is not described";
  if (artifacts.length === 0) return "there is no artifact";
  if (isKept === undefined) return undefined;
  if (artifacts.some(({ source }) => (source["truncated"] !== true) !== isKept)) return "it is kept, or not, after all";
  return isKept || /not stored/i.test(text) ? undefined : "that nothing was kept is not said";
}

const throws: ExternalToolConfig["output_transformer"] = () => {
  throw new Error("a secret of the host's");
};

const returnsBytes = (): unknown => ({
  file: new Uint8Array(PDF),
  again: PDF.toString("base64"),
  text: prose(200_000),
});

const usesArtifacts: ExternalToolConfig["output_transformer"] = async (tool, _, { artifacts, segments }) => {
  const ref = await artifacts.putText("made by the transformer", { filename: "made.txt", meta: { of: tool } });
  return {
    made: ref,
    known: await artifacts.exists(segments[0]?.ref.id ?? ""),
    no: await artifacts.get("own_nothing"),
  };
};

describe.each(STORES)("with %s", (name, isKept, store) => {
  test("a transformer that throws is answered for by the ordinary layers", async () => {
    const events: ToolNodeEvent[] = [];
    await using node = await connected(
      { output_transformer: throws },
      { store: store(), onEvent: (event) => events.push(event) },
    );
    expect(wrongIn(await node.call("report"), isKept)).toBeUndefined();
    expect(events.map(({ kind }) => kind)).toContain("failed");
  });

  test("a transformer may have what the source sent", async () => {
    const seen: unknown[] = [];
    const output_transformer = (_: string, document: unknown): unknown => {
      seen.push(document);
      return { told: "done" };
    };
    const config = { output_transformer, transformer_input: "raw" } as const;
    await using node = await connected(config, { store: store() });
    expect((await node.call("report")).value).toEqual({ told: "done" });
    expect(JSON.stringify(seen)).toContain('"blob":"JVBER');
  });

  test("what is too long to be had as it came is answered for by the ordinary layers", async () => {
    const config = { output_transformer: () => "never", transformer_input: "raw" } as const;
    await using node = await connected(config, { store: store() });
    expect(wrongIn(await node.call("report", { size: 9 * MIB }), isKept)).toBeUndefined();
  });

  test("large results of calls in flight together, with their ids behind them, are both answered", async () => {
    await using node = await connected({}, { store: store() }, true);
    const scopes = [{ trace_id: "one" }, { trace_id: "other" }];
    const results = await Promise.all([
      node.call("report", { size: 9 * MIB }, { scope: scopes[0] ?? {} }),
      node.call("twin", { size: 9 * MIB }, { scope: scopes[1] ?? {} }),
    ]);
    for (const [at, result] of results.entries()) {
      // What was stored for nobody has to be read to be somebody's, and may not be given back.
      expect(wrongIn(result, name === "a store that gives nothing back" ? undefined : isKept)).toBeUndefined();
      expect(result.artifacts[0]?.scope).toMatchObject(scopes[at] ?? {});
      expect(result.artifacts[0]?.source["tool"]).toBe(at === 0 ? "report" : "twin");
    }
  });

  test("links are asked for, and a file beside them is stored once", async () => {
    const config = { artifact_extraction: { resources: { auto_read_if_size_under_bytes: 1000 } } };
    await using node = await connected(config, { store: store() });
    expect(wrongIn(await node.call("linked", { size: 4 * MIB }), isKept)).toBeUndefined();
  });

  test("bytes and long texts that a transformer returns are artifacts", async () => {
    await using node = await connected({ output_transformer: returnsBytes }, { store: store() });
    const result = await node.call("report");
    expect(wrongIn(result, isKept)).toBeUndefined();
    expect(result.text).not.toMatch(/(\d+,){50}/);
  });
});

test("a file that is larger than its store takes is told, beside a link that is asked for", async () => {
  const config = { artifact_extraction: { resources: { auto_read_if_size_under_bytes: 1 } } };
  await using node = await connected(config, { store: new MemoryArtifactStore() });
  expect(wrongIn(await node.call("linked", { size: 60 * MIB }), false)).toBeUndefined();
});

test("nothing that a transformer returns is cut that is not stored", async () => {
  const store = new MemoryArtifactStore();
  const text = prose(10_000_000);
  await using node = await connected({ output_transformer: () => text }, { store });
  const { artifacts, value, text: told } = await node.call("report");
  const whole = artifacts.find(({ size_bytes }) => size_bytes === text.length);
  expect(new TextDecoder().decode((await store.get(whole?.id ?? "")) ?? undefined)).toBe(text);
  expect(JSON.stringify(value)).toContain(whole?.id);
  expect(told.length).toBeLessThan(MOST_CHARS);
});

test("what a transformer returns is taken as it is, whatever it looks like", async () => {
  const value = { content: [{ type: "text", text: '{"a": 1}' }], structuredContent: { b: 2 }, isError: true };
  await using node = await connected({ output_transformer: () => value }, { store: new MemoryArtifactStore() });
  const result = await node.call("report");
  expect(result.value).toEqual(value);
  expect(result.isError).toBe(false);
});

test("a transformer has the artifacts of whoever calls", async () => {
  const store = new MemoryArtifactStore();
  const scope = { user_id: "ada" };
  await using node = await connected({ output_transformer: usesArtifacts }, { store });
  const { value, artifacts } = await node.call("report", {}, { scope });
  expect(value).toMatchObject({ made: { filename: "made.txt" }, known: true, no: null });
  expect(JSON.stringify(value)).not.toContain("ada");
  const made = artifacts.find(({ filename }) => filename === "made.txt");
  expect(await store.stat(made?.id ?? "", scope)).toMatchObject({ source: { tool: "report", meta: { of: "report" } } });
});

test("the segments that a transformer returns do not say whose they are", async () => {
  const scope = { tenant_id: "acme", user_id: "ada@example.com" };
  const output_transformer: ExternalToolConfig["output_transformer"] = (_, __, { segments }) => ({
    segments,
    isKnown: segments[0]?.ref.scope.user_id === scope.user_id,
  });
  await using node = await connected({ output_transformer }, { store: new MemoryArtifactStore() });
  const { text, value, artifacts } = await node.call("report", {}, { scope });
  expect(value).toMatchObject({ segments: [{ ref: { id: artifacts[0]?.id } }], isKnown: true });
  expect(text).not.toMatch(/scope|acme|ada@example.com/);
});

test("a value that is no JSON is the transformer's failure", async () => {
  const events: ToolNodeEvent[] = [];
  await using node = await connected(
    { output_transformer: () => ({ big: 1n }) },
    { store: new MemoryArtifactStore(), onEvent: (event) => events.push(event) },
  );
  expect(wrongIn(await node.call("report"), true)).toBeUndefined();
  expect(events.map(({ kind }) => kind)).toContain("failed");
});

const drop = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));

test.each<[string, NonNullable<UnderlyingSource<Uint8Array>["pull"]>]>([
  ["gives nothing", () => new Promise(() => undefined)],
  ["gives a byte now and then", (controller) => drop().then(() => controller.enqueue(new Uint8Array(1)))],
])("a stream without an end that %s is the transformer's failure", async (_, pull) => {
  const events: ToolNodeEvent[] = [];
  const output_transformer = (): unknown => ({ file: new ReadableStream({ pull }) });
  await using node = await connected(
    { output_transformer, transformer_timeout_s: 0.3 },
    { store: new MemoryArtifactStore(), onEvent: (event) => events.push(event) },
  );
  expect(wrongIn(await node.call("report"), true)).toBeUndefined();
  expect(events.map(({ kind }) => kind)).toContain("failed");
});

describe("where failures are asked for, the store's is an error", () => {
  const artifact_extraction = { interceptor: { on_store_failure: "error" } } as const;

  test("also at what the source sent", async () => {
    const { store } = faulty(new MemoryArtifactStore(), (call) => fail(call, "openWriter"));
    await using node = await connected({ artifact_extraction, output_transformer: () => "told" }, { store });
    await expect(node.call("report")).rejects.toMatchObject({ code: "E_STORE_WRITE" });
  });

  test.each<[string, NonNullable<ExternalToolConfig["output_transformer"]>]>([
    ["returns", () => prose(50_000)],
    ["stores", (_, __, { artifacts }) => artifacts.putText(prose(50_000))],
  ])("also at what a transformer %s that is larger than the store takes", async (_, output_transformer) => {
    const store = new MemoryArtifactStore({ retention: { max_artifact_bytes: 10_000 } });
    await using node = await connected({ artifact_extraction, output_transformer }, { store });
    await expect(node.call("report")).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  });
});
