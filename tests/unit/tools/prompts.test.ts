/** Prompts of MCP servers over both transports and in both eras, as a host gets them. */
import { describe, expect, it, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { getPrompt, listPrompts, type PromptDeps } from "../../../web/src/tools/prompts.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import {
  expectedHash,
  SETTINGS,
  STDIO,
  useConnection,
  useFixture,
  opened,
  scripted,
  setting,
  type Setting,
} from "./sources/mcp/setting.js";
import { serverScript } from "./sources/mcp/server-script.js";
import type { SourceConnection } from "../../../web/src/tools/source.js";

const ADA = { user_id: "ada" };
const fixture = useFixture();

/** A connection's prompts, as a ToolNode has them. */
function promptsOf({ store }: Setting, connection: SourceConnection): PromptDeps {
  return {
    namespace: "fix",
    store,
    use: async ({ signal = AbortSignal.timeout(20_000) }, work) => work(connection.prompts, signal),
  };
}

describe.each(SETTINGS)("%s", (_name, transport, era) => {
  const own = useConnection((at) => fixture(at, transport, era));

  it("are listed with their arguments", async () => {
    const { items, left_out } = await listPrompts(promptsOf(own.at, own.connection), {});
    expect(left_out).toBe(0);
    expect(items.find(({ name }) => name === "test_prompt_with_arguments")).toEqual({
      name: "test_prompt_with_arguments",
      description: "A prompt with arguments.",
      arguments: [
        { name: "arg1", description: "First test argument", required: true },
        { name: "arg2", description: "Second test argument", required: true },
      ],
    });
  });

  it("give texts as they are, and what is embedded with its URI", async () => {
    const deps = promptsOf(own.at, own.connection);
    const plain = await getPrompt(deps, "test_prompt_with_arguments", { arg1: "a", arg2: "b" }, { scope: ADA });
    const text = "Prompt with arguments: arg1='a', arg2='b'";
    expect(plain).toEqual({
      messages: [{ role: "user", content: { kind: "text", uri: "", mime_type: null, text } }],
      artifacts: [],
      failures: [],
    });
    const args = { resourceUri: "test://embedded" };
    const { messages } = await getPrompt(deps, "test_prompt_with_embedded_resource", args, {});
    expect(messages).toMatchObject([
      { content: { uri: "test://embedded", mime_type: "text/plain", text: "Embedded resource content for testing." } },
      { content: { text: "Please process the embedded resource above." } },
    ]);
  });

  it("give bytes as artifacts of the caller, however small or large", async () => {
    const deps = promptsOf(own.at, own.connection);
    const small = await getPrompt(deps, "test_prompt_with_image", {}, { scope: ADA });
    expect(small.messages).toMatchObject([
      { role: "user", content: { kind: "artifact", mime_type: "image/png", summary: expect.stringContaining("PNG") } },
      { role: "user", content: { kind: "text" } },
    ]);
    const { messages, artifacts } = await getPrompt(deps, "large_prompt", { bytes: "300000" }, { scope: ADA });
    const [content] = messages.map((message) => message.content);
    expect(content).toMatchObject({ kind: "artifact", size_bytes: 300_000 });
    expect(artifacts).toMatchObject([{ size_bytes: 300_000, scope: { user_id: "ada" } }]);
    expect(artifacts[0]?.sha256).toBe(await expectedHash(own.connection, "png", 300_000));
    expect(JSON.stringify(messages).length).toBeLessThan(1000);
    expect(await own.at.store.get(artifacts[0]?.id ?? "", { user_id: "bob" })).toBe(null);
  });

  it("are refused with the server's reason", async () => {
    const deps = promptsOf(own.at, own.connection);
    await expect(getPrompt(deps, "none", {}, {})).rejects.toMatchObject({ category: "non_retryable" });
    await expect(getPrompt(deps, "none", {}, {})).rejects.toThrow(/none/);
  });
});

/** A server whose prompts are what a test says; it answers no other prompt than `any`. */
async function serving(
  listed: readonly object[],
  content: object,
  work: (deps: PromptDeps) => Promise<void>,
): Promise<void> {
  const before = `
    const { id, method } = message;
    if (method === "prompts/list") return answer(id, ${JSON.stringify(JSON.stringify({ prompts: listed }))}), true;
    if (method !== "prompts/get") return false;
    return answer(id, ${JSON.stringify(JSON.stringify({ messages: [{ role: "assistant", content }] }))}), true;`;
  const at = await setting();
  const script = serverScript({ tools: {}, before, capabilities: { prompts: {} } });
  await using connection = await opened(scripted(at, script, { era: "legacy" }), at);
  await work(promptsOf(at, connection));
}

describe("what a server lists", () => {
  it("is shown without what hides, and left out where its name does", async () => {
    const listed = [
      { name: "good", title: "Go\u202eod", description: "x".repeat(2000), arguments: [{ name: "a" }] },
      { name: "ba\u202ed" },
      { name: "b", arguments: [{ name: "\u001b[2J" }] },
      { name: "c".repeat(300) },
      { name: "d", arguments: Array.from({ length: 65 }, (_, at) => ({ name: `a${at}` })) },
    ];
    await serving(listed, {}, async (deps) =>
      expect(await listPrompts(deps, {})).toMatchObject({
        items: [
          {
            name: "good",
            title: "Go od",
            description: expect.stringMatching(/^x{499}…$/) as string,
            arguments: [{ name: "a", required: false }],
          },
        ],
        left_out: 4,
      }),
    );
  });
});

describe("a message", () => {
  it.each([
    ["a long text", { type: "text", text: "word ".repeat(5000) }, { kind: "artifact", size_bytes: 25_000 }],
    ["a sound", { type: "audio", data: "AAAA", mimeType: "audio/wav" }, { kind: "artifact", size_bytes: 3 }],
    [
      "a link",
      { type: "resource_link", uri: "file:///note", name: "note" },
      { kind: "text", uri: "file:///note", text: expect.stringContaining('"type":"resource_link"') as string },
    ],
    [
      "bytes of a resource",
      { type: "resource", resource: { uri: "file:///a", blob: "AAAA" } },
      { kind: "artifact", uri: "file:///a", size_bytes: 3 },
    ],
  ])("of %s", async (_name, content, expected) => {
    await serving([], content, async (deps) => {
      const { messages } = await getPrompt(deps, "any", {}, {});
      expect(messages).toMatchObject([{ role: "assistant", content: expected }]);
    });
  });
});

test("a ToolNode gets them over its own session, and says where there are none", async () => {
  const store = new MemoryArtifactStore();
  const connection = `"${process.execPath}" "${STDIO}"`;
  await using node = new ToolNode({ name: "fix", transport: "mcp", connection }, { store });
  await node.connect();
  const { items } = await node.listPrompts();
  expect(items.length).toBeGreaterThan(4);
  const { artifacts } = await node.getPrompt("test_prompt_with_image", {}, { scope: ADA });
  expect(artifacts[0]?.id).toMatch(/^fix_/);
  const wrong = { arg1: 1 } as unknown as Record<string, string>;
  await expect(node.getPrompt("test_prompt_with_arguments", wrong)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  await expect(node.getPrompt("")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });

  await using shell = new ToolNode({ name: "shell", transport: "cli", connection: "echo" });
  await shell.connect();
  await expect(shell.listPrompts()).rejects.toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
});
