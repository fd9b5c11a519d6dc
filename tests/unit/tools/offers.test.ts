import { expect, test } from "vitest";
import { offered, Offers } from "../../../web/src/tools/offers.js";
import { ToolRegistry, type ToolSpec } from "../../../web/src/tools/registry.js";

const CONFIG = { name: "lib", transport: "mcp", tool_filter: null, user_files: false } as const;
const never = (): never => {
  throw new Error("not called");
};

function own(...names: string[]): ReturnType<typeof offered> {
  const tools = names.map((name) => ({
    name,
    description: "",
    input_schema: {},
    isRepeatable: false,
    isReadOnly: false,
  }));
  return offered(tools, CONFIG, never);
}

function made(name: string): ToolSpec {
  const [spec] = [...own(name).values()];
  return { ...(spec as ToolSpec), description: "made" };
}

test("the source's own tools come first, and go before those that are made for its resources", () => {
  const registry = new ToolRegistry();
  const offers = new Offers(registry, "lib");
  offers.take(own("borrow", "resources_list"), [made("resources_list"), made("resources_read")], offers.look());
  expect(offers.list.map(({ name, description }) => [name, description])).toEqual([
    ["lib.borrow", ""],
    ["lib.resources_list", ""],
    ["lib.resources_read", "made"],
  ]);
  expect(registry.list()).toEqual(offers.list);
});

test("a tool is found by the name that planners know, and by the source's own", () => {
  const offers = new Offers(new ToolRegistry(), "lib");
  offers.take(own("borrow", "lib.borrow"), [], offers.look());
  expect(offers.find("lib.borrow")?.name).toBe("lib.borrow");
  expect(offers.find("borrow")?.name).toBe("lib.borrow");
  expect(offers.find("lib.lib.borrow")?.name).toBe("lib.lib.borrow");
  expect(offers.find("give")).toBeUndefined();
});

test("of two looks under way the one that began last holds, whichever ends first", () => {
  const offers = new Offers(new ToolRegistry(), "lib");
  const [first, second] = [offers.look(), offers.look()];
  offers.take(own("new"), [], second);
  offers.take(own("old"), [], first);
  expect(offers.names).toEqual(["lib.new"]);
});

test("a name that is taken leaves all as it was", () => {
  const registry = new ToolRegistry();
  const offers = new Offers(registry, "lib");
  offers.take(own("borrow"), [], offers.look());
  registry.register([made("give")]);
  expect(() => offers.take(own("lend", "give"), [], offers.look())).toThrow(/"lib\.give" is taken/);
  expect(offers.names).toEqual(["lib.borrow"]);
  expect(registry.find("lib.borrow")).toBeDefined();
});

test("what is cleared is gone from the registry, and a look from before changes nothing any more", () => {
  const registry = new ToolRegistry();
  const offers = new Offers(registry, "lib");
  const before = offers.look();
  offers.take(own("borrow"), [], offers.look());
  offers.clear();
  offers.take(own("late"), [], before);
  expect(registry.list()).toEqual([]);
  offers.take(own("again"), [], offers.look());
  expect(offers.names).toEqual(["lib.again"]);
});
