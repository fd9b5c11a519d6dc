import { expect, test } from "vitest";
import { ToolRegistry, type ToolSpec } from "../../../web/src/tools/registry.js";

function tool(name: string): ToolSpec {
  return {
    name,
    description: "",
    input_schema: { type: "object" },
    side_effects: "external",
    tags: [],
    extra: { source: "mcp", namespace: "ns" },
    call: () => Promise.reject(new Error("not called")),
  };
}

test("gives tools by name, and all of them in the order of their registration", () => {
  const registry = new ToolRegistry();
  registry.register([tool("a.two"), tool("a.one")]);
  registry.register([tool("b.one")]);
  expect(registry.list().map(({ name }) => name)).toEqual(["a.two", "a.one", "b.one"]);
  expect(registry.find("a.one")?.name).toBe("a.one");
  expect(registry.find("one")).toBeUndefined();
});

test.each([
  ["somebody else's", ["b.new", "a.one"]],
  ["one of the same source", ["b.new", "b.new"]],
])("a name that is taken by %s registers nothing", (_, names) => {
  const registry = new ToolRegistry();
  registry.register([tool("a.one")]);
  expect(() => registry.register(names.map(tool))).toThrow(/^The tool name "[ab]\.(one|new)" is taken by another tool/);
  expect(registry.list().map(({ name }) => name)).toEqual(["a.one"]);
});

test("what is removed may be registered again", () => {
  const registry = new ToolRegistry();
  registry.register([tool("a.one"), tool("a.two")]);
  registry.remove(["a.one", "nobody's"]);
  registry.register([tool("a.one")]);
  expect(registry.list().map(({ name }) => name)).toEqual(["a.two", "a.one"]);
});
