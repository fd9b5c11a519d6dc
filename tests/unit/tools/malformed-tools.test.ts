/** A tool that its server lists wrongly costs itself: the others of its source are offered, and the host is told which it was. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, type ToolNodeEvent } from "../../../web/src/tools-node.js";
import { answer, ERAS, listening } from "./sources/mcp/http-server.js";

const RESULT = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };

/** Connected to a server that lists this. */
async function connected(
  era: "legacy" | "modern",
  ...pages: readonly unknown[]
): Promise<{ node: ToolNode; leftOut: ToolNodeEvent[] }> {
  const server = await listening(era, (came) => {
    if (came.rpc?.method !== "tools/list") return false;
    const { cursor = "0" } = (came.rpc.params ?? {}) as { cursor?: string };
    const page = Number(cursor);
    const more = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {};
    answer(came, { ...RESULT, tools: pages[page], ...more });
    return true;
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const leftOut: ToolNodeEvent[] = [];
  const node = new ToolNode(
    { name: "s", transport: "mcp", connection: server.url, retry_policy: { max_attempts: 1 } },
    {
      store: new MemoryArtifactStore(),
      onEvent: (event) => void (event.kind === "left_out" && leftOut.push(event)),
    },
  );
  onTestFinished(() => node.close());
  await node.connect();
  return { node, leftOut };
}

const names = (node: ToolNode): string[] =>
  node
    .getTools()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("s.artifact_"));

describe.each(ERAS)("a list of tools, %s", (era) => {
  const good = { name: "hello", description: "Says hello", inputSchema: SCHEMA };

  test.each([
    ["no schema", { name: "bad" }, "bad"],
    ["a text for a schema", { name: "bad", inputSchema: "nope" }, "bad"],
    ["a list for a schema", { name: "bad", inputSchema: [] }, "bad"],
    ["null for a schema", { name: "bad", inputSchema: null }, "bad"],
    ["a schema of a string", { name: "bad", inputSchema: { type: "string" } }, "bad"],
    ["properties that are none", { name: "bad", inputSchema: { type: "object", properties: 3 } }, "bad"],
    ["a number for a name", { name: 7, inputSchema: SCHEMA }, ""],
    ["no name", { inputSchema: SCHEMA }, ""],
    ["an empty name", { name: "", inputSchema: SCHEMA }, ""],
    ["a name that hides something", { name: "b\u202e\u0000ad", inputSchema: SCHEMA }, "bad"],
    ["null in a tool's place", null, ""],
    ["a text in a tool's place", "bad", ""],
  ])("with %s offers the others", async (_, bad, name) => {
    const { node, leftOut } = await connected(era, [bad, good]);
    expect(names(node)).toEqual(["s.hello"]);
    expect(node.getTools()[0]).toMatchObject({ description: "Says hello", input_schema: SCHEMA });
    expect(leftOut).toEqual([
      { kind: "left_out", count: 1, tools: [{ name, reason: expect.stringMatching(/^its /) as string }] },
    ]);
    expect((await node.call("hello", { city: "Oslo" })).value).toBe("hello");
  });

  test.each([
    ["a description", { description: 3 }],
    ["annotations", { annotations: "x" }],
    ["icons and a title", { icons: 3, title: 4 }],
    ["an output schema", { outputSchema: "x" }],
    ["an output schema of a list", { outputSchema: { type: "array" } }],
    ["a way of running", { execution: { taskSupport: "maybe" } }],
    ["`_meta`", { _meta: 3 }],
    ["a type that is left out", { inputSchema: { properties: SCHEMA.properties } }],
  ])("with %s that it does not need to be called by is offered whole", async (_, odd) => {
    const { node, leftOut } = await connected(era, [{ ...good, ...odd }]);
    expect(names(node)).toEqual(["s.hello"]);
    expect(node.getTools()[0]?.input_schema).toEqual(SCHEMA);
    expect(leftOut).toEqual([]);
  });

  test("keeps what there is of a tool", async () => {
    const output = { type: "object", properties: { sky: { type: "string" } } };
    const annotations = { readOnlyHint: true };
    const { node } = await connected(era, [{ ...good, outputSchema: output, annotations }]);
    expect(node.getTools()[0]).toMatchObject({ output_schema: output, side_effects: "read" });
  });

  test("of several pages is taken whole, and a thousand that are malformed are counted and few are named", async () => {
    const bad = Array.from({ length: 1000 }, (_, at) => ({ name: `bad ${at} ${"x".repeat(1000)}` }));
    const { node, leftOut } = await connected(era, [good], bad, [{ ...good, name: "bye" }]);
    expect(names(node)).toEqual(["s.hello", "s.bye"]);
    expect(leftOut).toMatchObject([{ count: 1000 }]);
    expect(JSON.stringify(leftOut).length).toBeLessThan(4000);
  });

  test("that is no list is refused", async () => {
    await expect(connected(era, "all")).rejects.toMatchObject({ code: "E_TOOL_SERVER" });
  });
});
