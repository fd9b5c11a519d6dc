/** Servers that want a model's reply in the middle of a call (MCP, "Sampling"). */
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import { ToolNode } from "../../../../../web/src/tools-node.js";
import type { ToolContext } from "../../../../../web/src/tools/context.js";
import { serveFixture } from "../../../../e2e/serving.js";
import { readSampling } from "../../../../../web/src/tools/sources/mcp/sampling.js";
import { FIXTURE, SETTINGS, useConnection, useFixture, call, opened, setting } from "./setting.js";

const fixture = useFixture();
const SAMPLING = { sampling: true };
const ADA = { user_id: "ada" };

type Pause = NonNullable<ToolContext["pause"]>;
type Asked = Parameters<Pause>[1];

/** A host that notes what it is asked, and says always the same. */
function host(says: unknown): { readonly pause: Pause; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return { asked, pause: async (_reason, payload) => (asked.push(payload), says) };
}

describe.each(SETTINGS)("%s", (_name, transport, era) => {
  const own = useConnection((at) => fixture(at, transport, era, SAMPLING));
  const tool = era === "legacy" ? "sample" : "ask_about_image";

  it("ask the call's host, which is given bytes as an artifact", async () => {
    const { pause, asked } = host({ text: "A picture.", model: "m-1" });
    const { reduced } = await call(own.connection, tool, { bytes: 20_000 }, { pause, scope: ADA });
    expect(reduced.text).toContain("A picture.");
    expect(asked).toMatchObject([{ pause_type: "sampling", source: "fix", tool, system_prompt: "", model_hints: [] }]);
    const [payload] = asked;
    if (payload?.pause_type !== "sampling") throw new Error("It asks for something else.");
    const content = payload.messages.map((message) => message.content).find(({ kind }) => kind === "artifact");
    expect(content).toMatchObject({ mime_type: "image/png", size_bytes: 20_000 });
    expect(JSON.stringify(payload).length).toBeLessThan(2000);
    const id = content?.kind === "artifact" ? content.id : "";
    expect((await own.at.store.get(id, ADA))?.length).toBe(20_000);
    expect(await own.at.store.get(id, { user_id: "bob" })).toBe(null);
  });

  it.each([null, undefined])("may be declined by %s, and the connection lives on", async (says) => {
    const { pause, asked } = host(says);
    const calling = call(own.connection, tool, {}, { pause });
    // Before 2026-07-28 the tool itself is told, and says what becomes of it.
    const ended = await calling.then(
      ({ reduced, isError }) => (isError ? reduced.text : "no error"),
      (error: Error) => error.message,
    );
    expect(ended).toMatch(era === "legacy" ? /reject|-1|declin/i : /which was declined/);
    expect(asked).toHaveLength(1);
    expect((await call(own.connection, "greet", { name: "Ada" })).isError).toBe(false);
  });

  it("are declined where the call has nobody to ask", async () => {
    const ended = await call(own.connection, tool).then(
      ({ isError }) => isError,
      () => true,
    );
    expect(ended).toBe(true);
  });

  it.each([
    ["a text", "hello"],
    ["no text", { model: "m" }],
    ["a number", { text: 1 }],
  ])("end the call when the reply is %s", async (_what, says) => {
    const calling = call(own.connection, tool, {}, { pause: host(says).pause });
    await expect(calling).rejects.toThrow(/invalid reply of a model to .*of the source "fix"/);
  });

  it("are not asked where the host did not say that it answers them", async () => {
    const at = await setting();
    await using connection = await opened(fixture(at, transport, era), at);
    const { pause, asked } = host({ text: "hello" });
    const ended = await call(connection, tool, {}, { pause }).then(
      ({ isError }) => isError,
      () => true,
    );
    expect([ended, asked]).toEqual([true, []]);
  });
});

/** What a host would be shown. */
async function shownOf(params: object): Promise<Extract<Asked, { readonly pause_type: "sampling" }> | undefined> {
  const { sluice, store } = await setting();
  const reading = { scope: ADA, signal: AbortSignal.timeout(20_000) };
  const deps = { sluice, store, namespace: "fix" };
  const question = await readSampling(params, reading, deps, { source: "fix", tool: "ask" });
  return question?.payload as Extract<Asked, { readonly pause_type: "sampling" }> | undefined;
}

const user = (content: unknown): object => ({ role: "user", content });
const text = (words: string): object => ({ type: "text", text: words });

describe("what the host is shown", () => {
  it("has texts without what hides, the system prompt, the tokens and the models", async () => {
    const shown = await shownOf({
      messages: [user(text("He\u202ello\u001b[2J")), { role: "assistant", content: text("Yes?") }],
      systemPrompt: "Be\u200b brief.",
      maxTokens: 50,
      temperature: 1,
      modelPreferences: { hints: [{ name: "claude" }, {}, { name: "gp\u202et" }], costPriority: 1 },
    });
    expect(shown).toEqual({
      pause_type: "sampling",
      messages: [
        { role: "user", content: { kind: "text", uri: "", mime_type: null, text: "Hello[2J" } },
        { role: "assistant", content: { kind: "text", uri: "", mime_type: null, text: "Yes?" } },
      ],
      system_prompt: "Be brief.",
      max_tokens: 50,
      model_hints: ["claude", "gpt"],
      source: "fix",
      tool: "ask",
    });
  });

  it("names a long text as an artifact, whole", async () => {
    const shown = await shownOf({ messages: [user(text("word ".repeat(2000)))], maxTokens: 5 });
    expect(shown?.messages).toMatchObject([{ content: { kind: "artifact", size_bytes: 10_000 } }]);
  });

  it.each([
    ["no messages", { maxTokens: 5 }],
    ["no tokens", { messages: [user(text("hello"))] }],
    [
      "more messages than anybody reads",
      { messages: Array.from({ length: 65 }, () => user(text("hello"))), maxTokens: 5 },
    ],
    [
      "more text than anybody reads",
      { messages: Array.from({ length: 20 }, () => user(text("x y ".repeat(990)))), maxTokens: 5 },
    ],
    [
      "tools for the model",
      { messages: [user(text("hello"))], maxTokens: 5, tools: [{ name: "a", inputSchema: { type: "object" } }] },
    ],
    ["nothing", {}],
  ])("is nothing of a request with %s", async (_what, params) => {
    expect(await shownOf(params)).toBe(undefined);
  });

  it("is bounded and hides nothing, whatever a server sends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 9000 }),
        fc.base64String({ maxLength: 200 }),
        async (words, data) => {
          const shown = await shownOf({
            messages: [user(text(words)), user({ type: "image", data, mimeType: words.slice(0, 50) })],
            systemPrompt: words,
            maxTokens: 5,
          });
          const said = JSON.stringify(shown ?? "");
          expect(said.length).toBeLessThanOrEqual(65_536);
          expect(JSON.parse(said)).toEqual(shown ?? "");
          for (const { content } of shown?.messages ?? []) {
            const seen = content.kind === "text" ? content.text : content.summary;
            expect(seen).not.toMatch(/[\p{Cs}\u202a-\u202e\u2066-\u2069\u001b\u0000]/u);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

test("a ToolNode answers a real server for its tool", async () => {
  const { pause, asked } = host({ text: "Forty-two." });
  const options = { store: new MemoryArtifactStore(), sampling: true };
  const config = {
    name: "demo",
    transport: "mcp",
    connection: "npx --no-install mcp-server-everything stdio",
  } as const;
  await using node = new ToolNode(config, options);
  await node.connect();
  const args = { prompt: "What is six times seven?", maxTokens: 20 };
  const { text: said } = await node.call("trigger-sampling-request", args, { pause });
  expect(said).toContain("Forty-two.");
  expect(said).toContain("person");
  expect(asked).toMatchObject([{ max_tokens: 20, system_prompt: "You are a helpful test server." }]);
});

test("servers of a UTCP manual ask as others do, as programs and over HTTP", async () => {
  await using serving = await serveFixture();
  const [command, ...args] = FIXTURE;
  for (const server of [{ command, args }, { url: serving.url }]) {
    const tool_call_template = { call_template_type: "mcp", config: { mcpServers: { fix: server } } };
    const tool = { name: "ask_about_image", inputs: { type: "object", properties: {} }, tool_call_template };
    const connection = JSON.stringify({ utcp_version: "1.1.0", tools: [tool] });
    const config = { name: "api", transport: "utcp", connection, allowed_communication_protocols: ["mcp"] } as const;
    await using node = new ToolNode(config, { store: new MemoryArtifactStore(), sampling: true });
    await node.connect();
    const { pause, asked } = host({ text: "Forty-two." });
    const { text: said } = await node.call("ask_about_image", {}, { pause });
    expect([said.includes("Forty-two."), asked.length]).toEqual([true, 1]);
  }
});
