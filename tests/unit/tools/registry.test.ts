import { expect, test } from "vitest";
import { readToolConfig } from "../../../web/src/tools/config/config.js";
import {
  isNamed,
  Refreshing,
  ToolCatalog,
  ToolRegistry,
  type ToolSpec,
  toolSpecs,
} from "../../../web/src/tools/registry.js";
import type { SourceTool } from "../../../web/src/tools/source-features.js";
import { deferred, ManualClock } from "./resilience/manual.js";

function specOf(name: string): ToolSpec {
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
  registry.register([specOf("a.two"), specOf("a.one")]);
  registry.register([specOf("b.one")]);
  expect(registry.list().map(({ name }) => name)).toEqual(["a.two", "a.one", "b.one"]);
  expect(registry.find("a.one")?.name).toBe("a.one");
  expect(registry.find("one")).toBeUndefined();
});

test.each([
  ["somebody else's", ["b.new", "a.one"]],
  ["one of the same source", ["b.new", "b.new"]],
])("a name that is taken by %s registers nothing", (_, names) => {
  const registry = new ToolRegistry();
  registry.register([specOf("a.one")]);
  expect(() => registry.register(names.map(specOf))).toThrow(
    /^The tool name "[ab]\.(one|new)" is taken by another tool/,
  );
  expect(registry.list().map(({ name }) => name)).toEqual(["a.one"]);
});

test("what is removed may be registered again", () => {
  const registry = new ToolRegistry();
  registry.register([specOf("a.one"), specOf("a.two")]);
  registry.remove(["a.one", "nobody's"]);
  registry.register([specOf("a.one")]);
  expect(registry.list().map(({ name }) => name)).toEqual(["a.two", "a.one"]);
});

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
  const [spec] = [...toolSpecs([tool("read", true)], config(), never).values()];
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
  expect([...toolSpecs(tools, config(["read_?"]), never).keys()]).toEqual(["files.read_file", "files.read"]);
  expect([...toolSpecs(tools, config(["nothing"]), never).keys()]).toEqual([]);
});

test("two tools of one name are refused, unless the filter leaves them out", () => {
  const tools = [tool("a"), tool("b"), tool("a")];
  expect(() => toolSpecs(tools, config(), never)).toThrow(/two tools named "files\.a"/);
  expect([...toolSpecs(tools, config(["b"]), never).keys()]).toEqual(["files.b"]);
});

test.each(["", "a\u001b[31m", "a\nb", "a\u202eb", "a\u200bb", "a\u2028", "x".repeat(257)])(
  "%j is no name that a tool can be offered under",
  (name) => expect(isNamed(tool(name))).toBe(false),
);

test.each(["read", "read file", "läs_fil", "constructor", "__proto__", "x".repeat(256)])("%j is one", (name) => {
  expect(isNamed(tool(name))).toBe(true);
});

const CONFIG = { name: "lib", transport: "mcp", tool_filter: null, user_files: false } as const;
const notCalled = (): never => {
  throw new Error("not called");
};

function ownTools(...names: string[]): ReturnType<typeof toolSpecs> {
  const tools = names.map((name) => ({
    name,
    description: "",
    input_schema: {},
    isRepeatable: false,
    isReadOnly: false,
  }));
  return toolSpecs(tools, CONFIG, notCalled);
}

function madeTool(name: string): ToolSpec {
  const [spec] = [...ownTools(name).values()];
  return { ...(spec as ToolSpec), description: "made" };
}

test("the source's own tools come first, and go before those that are made for its resources", () => {
  const registry = new ToolRegistry();
  const offers = new ToolCatalog(registry, "lib");
  offers.take(
    ownTools("borrow", "resources_list"),
    [madeTool("resources_list"), madeTool("resources_read")],
    offers.look(),
  );
  expect(offers.list.map(({ name, description }) => [name, description])).toEqual([
    ["lib.borrow", ""],
    ["lib.resources_list", ""],
    ["lib.resources_read", "made"],
  ]);
  expect(registry.list()).toEqual(offers.list);
});

test("a tool is found by the name that planners know, and by the source's own", () => {
  const offers = new ToolCatalog(new ToolRegistry(), "lib");
  offers.take(ownTools("borrow", "lib.borrow"), [], offers.look());
  expect(offers.find("lib.borrow")?.name).toBe("lib.borrow");
  expect(offers.find("borrow")?.name).toBe("lib.borrow");
  expect(offers.find("lib.lib.borrow")?.name).toBe("lib.lib.borrow");
  expect(offers.find("give")).toBeUndefined();
});

test("of two looks under way the one that began last holds, whichever ends first", () => {
  const offers = new ToolCatalog(new ToolRegistry(), "lib");
  const [first, second] = [offers.look(), offers.look()];
  offers.take(ownTools("new"), [], second);
  offers.take(ownTools("old"), [], first);
  expect(offers.names).toEqual(["lib.new"]);
});

test("a name that is taken leaves all as it was", () => {
  const registry = new ToolRegistry();
  const offers = new ToolCatalog(registry, "lib");
  offers.take(ownTools("borrow"), [], offers.look());
  registry.register([madeTool("give")]);
  expect(() => offers.take(ownTools("lend", "give"), [], offers.look())).toThrow(/"lib\.give" is taken/);
  expect(offers.names).toEqual(["lib.borrow"]);
  expect(registry.find("lib.borrow")).toBeDefined();
});

test("what is cleared is gone from the registry, and a look from before changes nothing any more", () => {
  const registry = new ToolRegistry();
  const offers = new ToolCatalog(registry, "lib");
  const before = offers.look();
  offers.take(ownTools("borrow"), [], offers.look());
  offers.clear();
  offers.take(ownTools("late"), [], before);
  expect(registry.list()).toEqual([]);
  offers.take(ownTools("again"), [], offers.look());
  expect(offers.names).toEqual(["lib.again"]);
});

/** Lets everything go on that waits for nothing. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("however often it is asked for while it is under way, it is done once more, and after a pause", async () => {
  const clock = new ManualClock();
  const first = deferred();
  let done = 0;
  const work = async (): Promise<void> => {
    done += 1;
    if (done === 1) await first.promise;
  };
  const refreshing = new Refreshing(work, new AbortController().signal, clock);
  for (let time = 0; time < 3000; time += 1) refreshing.ask();
  await settled();
  expect(done).toBe(1);
  first.resolve();
  await settled();
  expect(done).toBe(1);
  clock.pass(1);
  await settled();
  expect(done).toBe(2);
  clock.pass(60);
  await settled();
  expect(done).toBe(2);
  refreshing.ask();
  await settled();
  expect(done).toBe(3);
});

test("what asks for itself without end is done once a second", async () => {
  const clock = new ManualClock();
  let done = 0;
  const refreshing: Refreshing = new Refreshing(
    async () => {
      done += 1;
      refreshing.ask();
    },
    new AbortController().signal,
    clock,
  );
  refreshing.ask();
  for (let second = 0; second < 5; second += 1) {
    await settled();
    clock.pass(1);
  }
  await settled();
  expect(done).toBe(6);
});

test("once it is ended nothing is done any more", async () => {
  const over = new AbortController();
  const clock = new ManualClock();
  let done = 0;
  const refreshing = new Refreshing(async () => void (done += 1), over.signal, clock);
  refreshing.ask();
  await settled();
  refreshing.ask();
  over.abort(new Error("closed"));
  clock.pass(1);
  await settled();
  refreshing.ask();
  await settled();
  expect(done).toBe(1);
});
