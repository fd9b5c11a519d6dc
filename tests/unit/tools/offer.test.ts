import { expect, test } from "vitest";
import { readToolConfig } from "../../../web/src/tools/config.js";
import { isNamed, offered } from "../../../web/src/tools/offers.js";
import type { SourceTool } from "../../../web/src/tools/source.js";

function tool(name: string, isReadOnly: boolean = false): SourceTool {
  const input_schema = { type: "object", properties: { path: { $ref: "#/$defs/path" } }, $defs: { path: {} } };
  return { name, description: `Does ${name}.`, input_schema, isRepeatable: true, isReadOnly };
}

function config(tool_filter: string[] | null = null): ReturnType<typeof readToolConfig> {
  return readToolConfig({ name: "files", transport: "mcp", connection: "server", tool_filter });
}

const never = (): never => {
  throw new Error("not called");
};

test("tools are offered under the source's name, with their schemas whole", () => {
  const [spec] = [...offered([tool("read", true)], config(), never).values()];
  expect(spec).toMatchObject({
    name: "files.read",
    description: "Does read.",
    input_schema: tool("read").input_schema,
    side_effects: "read",
    tags: ["mcp", "files"],
    extra: { source: "mcp", namespace: "files" },
  });
});

test("the filter is anchored at the start of the source's own name, and nowhere else", () => {
  const tools = ["read_file", "read", "spread_file", "files.read_x"].map((name) => tool(name));
  expect([...offered(tools, config(["read_?"]), never).keys()]).toEqual(["files.read_file", "files.read"]);
  expect([...offered(tools, config(["nothing"]), never).keys()]).toEqual([]);
});

test("two tools of one name are refused, unless the filter leaves them out", () => {
  const tools = [tool("a"), tool("b"), tool("a")];
  expect(() => offered(tools, config(), never)).toThrow(/two tools named "files\.a"/);
  expect([...offered(tools, config(["b"]), never).keys()]).toEqual(["files.b"]);
});

test.each(["", "a\u001b[31m", "a\nb", "a\u202eb", "a\u200bb", "a\u2028", "x".repeat(257)])(
  "%j is no name that a tool can be offered under",
  (name) => expect(isNamed(tool(name))).toBe(false),
);

test.each(["read", "read file", "läs_fil", "constructor", "__proto__", "x".repeat(256)])("%j is one", (name) => {
  expect(isNamed(tool(name))).toBe(true);
});
