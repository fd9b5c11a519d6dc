/** What a ToolNode is given beside its configuration, the dialect of its results among it. */
import { describe, expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import type { ToolNodeOptions } from "../../../web/src/tools/options.js";
import { connected } from "./artifacts/connected.js";

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

const PDF = { type: "resource", resource: { uri: "file:///report.pdf", mimeType: "application/pdf" } };

describe("the mcp dialect", () => {
  test("gives the reduced result, which restore undoes", async () => {
    await using files = await connected({}, { dialect: "mcp" });
    const { value, text, refs } = await files.node.call("pdf");
    expect(value).toMatchObject({ content: [{ type: "text" }], _meta: { "sluice/refs": expect.anything() as object } });
    expect([text.length < 2000, refs === undefined]).toEqual([true, false]);
    const sluice = await createSluice({ store: files.store });
    const sent = await sluice.restore(value);
    expect(sent).toMatchObject({ content: [PDF] });
    expect(JSON.stringify(sent)).toContain('"blob":"JVBERi0xLjQK');
  });

  test("writes as a result what is said in place of a call", async () => {
    await using files = await connected({}, { dialect: "mcp" });
    const { value, isError } = await files.node.call("upload", { data: "artifact://files_000000000000" });
    const content = [{ type: "text", text: expect.stringContaining("no such artifact") as string }];
    expect({ value, isError }).toEqual({ value: { content, isError: true }, isError: true });
  });

  test("is not that of the tool that reads artifacts", async () => {
    await using files = await connected({}, { dialect: "mcp" });
    const { value } = await files.node.call("artifact_read", { uri: await files.id("log"), lines: "1" });
    expect(value).toEqual(expect.stringContaining("line 1"));
  });
});

test("the observation is given where nothing is said, and where that is said", async () => {
  for (const options of [{}, { dialect: "observation" as const }]) {
    await using files = await connected({}, options);
    const { text, refs } = await files.node.call("pdf");
    expect(text).toContain('"id":"files_');
    expect([text.includes("sluice/refs"), refs]).toEqual([false, undefined]);
  }
});

/** Tells whether the list that `restore` needs is there; fails at `log`. */
function output_transformer(tool: string, document: unknown): unknown {
  if (tool === "log") throw new Error("none of mine");
  return { refs: JSON.stringify(document).includes("sluice/refs") };
}

test("a transformer is given the same, and answered for the same, in either", async () => {
  for (const dialect of ["observation", "mcp"] as const) {
    await using files = await connected({ output_transformer }, { dialect });
    expect((await files.node.call("pdf")).value).toEqual({ refs: true });
    expect((await files.node.call("log")).value).toHaveProperty("artifact.id");
    const refused = await files.node.call("upload", { data: "artifact://files_000000000000" });
    expect(refused.value).toMatchObject({
      isError: true,
      content: expect.stringContaining("no such artifact") as string,
    });
  }
});
