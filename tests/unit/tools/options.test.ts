/** What a ToolNode is given beside its configuration is checked like it. */
import { describe, expect, test } from "vitest";
import type { ToolNodeOptions } from "../../../web/src/tools/options.js";
import { ToolNode } from "../../../web/src/tools-node.js";

const CONFIG = { name: "shell", transport: "cli", connection: "echo ${WORD}" } as const;

const WRONG: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [null, /options of a ToolNode must be an object/],
  [[], /options of a ToolNode must be an object/],
  [{ registry: [] }, /option registry .* must be a ToolRegistry/],
  [{ variables: 1 }, /option variables .* must be a function or an object/],
  [{ dialect: "MCP" }, /option dialect .* must be "observation" or "mcp"/],
  [{ onEvent: "log" }, /option onEvent .* must be a function/],
  [{ fetch: {} }, /option fetch .* must be a function/],
  [{ onevent: () => undefined }, /"onevent" is no option of a ToolNode: did you mean onEvent\?/],
  [{ zzz: 1 }, /"zzz" is no option of a ToolNode: there are registry, store,/],
  [JSON.parse('{"__proto__":1}'), /"__proto__" is no option/],
];

/** Makes a ToolNode with options that the type would not let through. */
const make = (options: unknown) => (): ToolNode => new ToolNode(CONFIG, options as ToolNodeOptions);

describe.each(WRONG)("%j", (options, sentence) => {
  test("is refused at once, by name and with the remedy", () => {
    expect(make(options)).toThrow(sentence);
    expect(make(options)).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG", category: "non_retryable" }));
  });
});

test("what is undefined is left out", () => {
  expect(new ToolNode(CONFIG, { registry: undefined } as unknown as ToolNodeOptions).name).toBe("shell");
});

test.each([{ WORD: "said" }, (name: string) => (name === "WORD" ? "said" : undefined)])(
  "variables are an object or a function",
  async (variables) => {
    await using node = new ToolNode(CONFIG, { variables });
    await node.connect();
    expect((await node.call("run")).text).toContain("said");
  },
);
