import { describe, expect, test, onTestFinished } from "vitest";
import { z } from "zod";
import { z as mini } from "zod/mini";
import { fromJsonSchema } from "@modelcontextprotocol/client";
import {
  listTools,
  tool,
  type NativeToolOptions,
  type StandardSchema,
  wireNames,
  listening,
} from "../../../web/src/planner/tool.js";
import fc from "fast-check";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import type { ToolNodeEvent } from "../../../web/src/tools/event.js";
import type { JsonSchema } from "../../../web/src/tools/source-features.js";
import { answered, once, planned } from "./planned.js";

const SEND = { name: "send", description: "Sends a mail.", input: z.object({ to: z.string() }), run: () => "sent" };
const SCHEMA = "must be a schema of an object, such as z.object({ to: z.string() }) of Zod 4.2, or JSON Schema";

const without = (option: keyof typeof SEND): object =>
  Object.fromEntries(Object.entries(SEND).filter(([name]) => name !== option));

describe("the options of a tool", () => {
  test.each<[string, unknown, string, string]>([
    ["run left out", without("run"), "run", 'The option run of the tool "send" must be a function.'],
    ["execute for run", { ...without("run"), execute: SEND.run }, "execute", "the options are name, description,"],
    ["no name", without("name"), "name", "The option name of a tool must be 1 to 64 letters, digits, dots, _ or -."],
    ["a name with a space", { ...SEND, name: "send it" }, "name", "must be 1 to 64 letters"],
    ["no description", without("description"), "description", "must be a string"],
    ["too small a limit", { ...SEND, maxObservationChars: 5 }, "maxObservationChars", "from 256 to 10,000,000"],
    [
      "too large a limit",
      { ...SEND, maxObservationChars: 10_000_001 },
      "maxObservationChars",
      "from 256 to 10,000,000",
    ],
    ["a broken limit", { ...SEND, maxObservationChars: 300.5 }, "maxObservationChars", "a whole number"],
    [
      "a misspelt limit",
      { ...SEND, maxObservationChar: 300 },
      "maxObservationChar",
      "did you mean maxObservationChars?",
    ],
    ["side effects that are none", { ...SEND, sideEffects: "none" }, "sideEffects", 'must be "read" or "external"'],
    ["no input", without("input"), "input", SCHEMA],
    ["JSON Schema of no object", { ...SEND, input: { type: "array" } }, "input", SCHEMA],
    ["a bare shape", { ...SEND, input: { to: z.string() } }, "input", SCHEMA],
    ["a schema of no object", { ...SEND, input: z.string() }, "input", SCHEMA],
    ["a schema that makes no JSON Schema", { ...SEND, input: mini.object({}) }, "input", SCHEMA],
    ["an output that is a bare shape", { ...SEND, output: { sum: z.number() } }, "output", "must be a schema, such as"],
    ["what JSON Schema cannot say", { ...SEND, input: z.object({ at: z.date() }) }, "input", "strings for dates"],
    ["nothing", undefined, "options", "The options of a tool must be an object."],
  ])("%s", (_, options, path, sentence) => {
    const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
    expect(() => tool(options as NativeToolOptions<JsonSchema>)).toThrow(expect.objectContaining(refused));
  });

  test("all of them, and objects that change what they are given", () => {
    const input = z
      .object({ to: z.string().default("ada") })
      .refine(({ to }) => to !== "")
      .transform(({ to }) => [to]);
    const output = z.object({ ok: z.boolean() });
    const made = tool({ ...SEND, input, output, sideEffects: "read", maxObservationChars: 256 });
    expect(made).toMatchObject({ kind: "native", name: "send", sideEffects: "read", maxObservationChars: 256 });
    expect(made.inputSchema).toMatchObject({ type: "object", properties: { to: { type: "string" } } });
  });

  test("what may be left out", () => {
    expect(tool({ ...SEND, description: "" })).toMatchObject({ sideEffects: "external", outputSchema: undefined });
  });
});

describe("the schema of a tool's arguments", () => {
  const PLAIN = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
  /** A schema as libraries make them by the specification, whatever kind of value they make. */
  const standard = fromJsonSchema<{ to: string }>(PLAIN);
  const callable = Object.assign(() => undefined, standard);

  test.each<[string, StandardSchema<{ to: string }>]>([
    ["Zod", z.object({ to: z.string() })],
    ["another library", standard],
    ["a library whose schemas are functions", callable],
  ])("of %s is what the model is told, and what is checked", async (_, input) => {
    const sent: string[] = [];
    const made = tool({ ...SEND, input, run: ({ to }) => void sent.push(to) });
    expect(made.inputSchema).toMatchObject(PLAIN);
    const { planner, turns } = planned(once({ name: "send", args: { to: 1 } }, { name: "send", args: { to: "ada" } }), [
      made,
    ]);
    answered(await planner.run("Send it."));
    expect(sent).toEqual(["ada"]);
    expect(JSON.stringify(turns.at(-1)?.messages)).toMatch(/The arguments do not fit[^}]*\bto\b/);
  });

  test("as JSON Schema is what the model is told, and the function checks", async () => {
    const got: unknown[] = [];
    const made = tool({ ...SEND, input: PLAIN, output: { artifact: true }, run: (args) => void got.push(args["to"]) });
    expect([made.inputSchema, made.outputSchema]).toEqual([PLAIN, { artifact: true }]);
    const { planner } = planned(once({ name: "send", args: { to: 1 } }), [made]);
    answered(await planner.run("Send it."));
    expect(got).toEqual([1]);
  });
});

test("names that every API takes stay, and dots become underscores", () => {
  expect([...wireNames(["look-up", "weather.map"]).values()]).toEqual(["look-up", "weather_map"]);
});

test("names that would be the same are told apart, the same way in every process", () => {
  const names = ["a.b", "a_b", "a b", `${"x".repeat(70)}1`, `${"x".repeat(70)}2`];
  const wire = [...wireNames(names).values()];
  expect(wire[1]).toBe("a_b");
  expect(wire).toEqual([...wireNames(names).values()]);
});

test("whatever tools are called, each has a name of its own that APIs take", () => {
  const property = fc.property(
    fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 60 }),
    (names) => {
      const wire = [...wireNames(names).values()];
      expect(new Set(wire).size).toBe(names.length);
      for (const name of wire) expect(name).toMatch(/^[\w-]{1,64}$/);
    },
  );
  fc.assert(property);
});

const URI = "demo://resource/static/document/features.md";
const PATIENCE = 60_000;

const updated = (scope?: object): ToolNodeEvent => ({
  kind: "resource",
  event: { kind: "updated", namespace: "docs", uri: URI, ...(scope !== undefined && { scope }) },
});

test(
  "a run tells of resources that change at a real server while it goes on, and of none before or after",
  async () => {
    const store = new MemoryArtifactStore();
    const connection = "npx --no-install mcp-server-everything stdio";
    const docs = new ToolNode({ name: "docs", transport: "mcp", connection }, { store });
    onTestFinished(() => docs.close());
    await docs.connect();
    await docs.subscribe(URI);
    const events: PlannerEvent[] = [];
    const waiting: (() => void)[] = [];
    const heard = new Promise<void>((resolve) => void waiting.push(resolve));
    const waits = tool({ name: "waits", description: "", input: z.object({}), run: () => heard });
    const { planner } = planned(once({ name: "docs_toggle-subscriber-updates" }, { name: "waits" }), [], {
      catalog: [docs, waits],
      artifactStore: store,
      onEvent: (event) => {
        events.push(event);
        if (event.kind === "resource_updated") waiting.forEach((go) => go());
      },
    });
    answered(await planner.run("Watch it."));
    expect(events).toContainEqual({ kind: "resource_updated", source: "docs", uri: URI });
    expect(events.at(-1)?.kind).toBe("finished");
  },
  PATIENCE,
);

test("our sentences name tools as the model sees them, of a real server", { timeout: PATIENCE }, async () => {
  const store = new MemoryArtifactStore();
  const docs = new ToolNode(
    { name: "docs", transport: "mcp", connection: "npx --no-install mcp-server-everything stdio" },
    { store },
  );
  onTestFinished(() => docs.close());
  await docs.connect();
  const descriptions = listTools([docs]).tools.map(({ description }) => description);
  expect(descriptions.join("\n")).toContain("that docs_resources_read reads");
  const script = once({ name: "docs_get-resource-links", args: { count: 1 } });
  const { planner } = planned(script, [docs], { artifactStore: store });
  const { trajectory } = answered(await planner.run("Which are there?"));
  const seen = trajectory.steps[0]?.calls[0]?.observation ?? "";
  expect(seen).toContain("Use docs_resources_read to fetch.");
  for (const text of [seen, ...descriptions]) expect(text).not.toContain("docs.");
});

test("a run hears what is told to everybody or to its own user, and nothing once it is over", () => {
  const listeners = new Set<(event: ToolNodeEvent) => void>();
  const source = {
    getTools: () => [],
    listen: (listener: (event: ToolNodeEvent) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const told: PlannerEvent[] = [];
  const end = listening([source, { getTools: () => [] }], { user_id: "ada", session_id: "s" }, (event) =>
    told.push(event),
  );
  const hear = (event: ToolNodeEvent): void => listeners.forEach((listener) => listener(event));
  const ours = { kind: "resource_updated", source: "docs", uri: URI };
  hear(updated());
  hear(updated({ user_id: "ada", trace_id: "t" }));
  expect(told).toEqual([ours, ours]);
  hear(updated({ user_id: "bob" }));
  hear(updated({ user_id: "ada", tenant_id: "other" }));
  hear({ kind: "recovered" });
  hear({ kind: "resource", event: { kind: "list_changed", namespace: "docs" } });
  expect(told).toHaveLength(2);
  end();
  expect(listeners.size).toBe(0);
});

test("each listener of a ToolNode hears its events, whatever the others throw, until it ends", async () => {
  const kinds: string[] = [];
  const connection = `"${process.execPath}"`;
  const store = new MemoryArtifactStore();
  const node = new ToolNode(
    { name: "shell", transport: "cli", connection },
    {
      store,
      onEvent: () => {
        throw new Error("not mine");
      },
    },
  );
  onTestFinished(() => node.close());
  await node.connect();
  const end = node.listen(({ kind }) => kinds.push(kind));
  const args = { args: ["-e", "process.stdout.write(Buffer.alloc(9000, 7))"] };
  await node.call("shell.run", args);
  expect(kinds).toEqual(["stored"]);
  end();
  await node.call("shell.run", args);
  expect(kinds).toEqual(["stored"]);
});
