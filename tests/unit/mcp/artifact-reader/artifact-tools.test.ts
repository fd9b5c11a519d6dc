/** The tools that a Sluice gives to models of its user. */
import { expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type ArtifactTool, type Sluice } from "../../../../web/src/index.js";
import { toolDefinitions } from "../../../../web/src/mcp/artifact-tools.js";

const RESULT = { content: [{ type: "text", text: "A line of a log.\n".repeat(4000) }] };

async function told(sluice: Sluice, namespace?: string): Promise<{ readonly text: string; readonly uri: string }> {
  const options = { dialect: "mcp", ...(namespace !== undefined && { namespace }) } as const;
  const { text } = await sluice.transform(RESULT, options);
  return { text, uri: /artifact:\/\/[\w.-]+/.exec(text)?.[0] ?? "" };
}

const said = async (tool: ArtifactTool | undefined, args: unknown): Promise<string | undefined> =>
  (await tool?.call(args))?.content[0].text;

test("sentences name no tool until there is one, and then the one that reads the artifact", async () => {
  const sluice = await createSluice({ store: "memory" });
  const before = await told(sluice, "ci");
  expect(before.text).toMatch(/Stored, not shown: artifact:\/\/ci_[0-9a-f]{12}\\n/);
  expect(before.text).not.toContain("artifact_read");
  const [ofCi] = sluice.tools({ namespace: "ci" });
  expect((await told(sluice, "ci")).text).toContain('Read it with ci_artifact_read {\\"uri\\":');
  expect((await told(sluice, "web")).text).not.toContain("artifact_read");
  const [ofAll] = sluice.tools();
  expect((await told(sluice, "web")).text).toContain("Read it with artifact_read ");
  expect((await told(sluice, "ci")).text).toContain("Read it with ci_artifact_read ");
  expect([ofCi?.name, ofAll?.name]).toEqual(["ci_artifact_read", "artifact_read"]);
});

test("what is streamed is told alike, and several files in one list too", async () => {
  const sluice = await createSluice({ store: "memory" });
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(3000)]).toString("base64");
  const result = { content: [{ type: "text", text: `${png} and ${png.replace("AAAA", "BBBB")}` }] };
  const streamed = async (): Promise<string> => {
    await using stream = sluice.open({ dialect: "mcp" });
    await stream.write(new TextEncoder().encode(JSON.stringify(result)));
    return (await stream.close()).text;
  };
  expect(await streamed()).toContain("This result refers to these stored files:");
  sluice.tools();
  expect(await streamed()).toContain("Read one with artifact_read ");
});

test("a tool reads its namespace in its scope, and nothing else", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const ada = { user_id: "ada" };
  const { text } = await sluice.transform(RESULT, { dialect: "mcp", namespace: "ci", scope: ada });
  const uri = /artifact:\/\/[\w.-]+/.exec(text)?.[0];
  const args = { uri, lines: "1" };
  expect(await said(sluice.tools({ namespace: "ci", scope: ada })[0], args)).toContain("A line of a log.");
  expect(await said(sluice.tools({ scope: ada })[0], args)).toContain("A line of a log.");
  for (const options of [{}, { namespace: "ci" }, { namespace: "web", scope: ada }, { scope: { user_id: "bob" } }]) {
    const [tool] = sluice.tools(options);
    expect(await tool?.call(args)).toMatchObject({ isError: true });
  }
  expect(() => sluice.tools({ namespaces: "ci" } as object)).toThrow(/did you mean namespace\?/);
  expect(() => sluice.tools({ namespace: "a b" })).toThrow(/A namespace is/);
});

test("definitions cost little in every server's list, have the words that a model looks for, and one is loaded at once", () => {
  for (const namespace of ["", "my-fix.v2", "n".repeat(24)]) {
    const [reader, editor] = toolDefinitions(namespace);
    expect(JSON.stringify(reader).length).toBeLessThanOrEqual(1300);
    expect(JSON.stringify(editor).length).toBeLessThanOrEqual(900);
    const words = `${reader?.name} ${reader?.description}`.toLowerCase();
    for (const word of ["artifact", "pdf", "image", "table", "csv", "rows", "search", "query"])
      expect(words).toContain(word);
    expect(reader).toHaveProperty("_meta", { "anthropic/alwaysLoad": true });
    expect(editor).not.toHaveProperty("_meta");
  }
  const names = toolDefinitions("my-fix.v2").map(({ name }) => name);
  expect(names).toEqual(["my_fix_v2_artifact_read", "my_fix_v2_artifact_edit"]);
});
