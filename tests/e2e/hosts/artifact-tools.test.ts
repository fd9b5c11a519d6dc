/** The tools of a Sluice, given to models by the libraries that people use: each takes the definition as it is. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tool as langChainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool as openAiTool } from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, tool as vercelTool } from "ai";
import { createAgent } from "langchain";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { createSluice, type ArtifactTool } from "../../../web/src/index.js";
import { FakeModel } from "./fake-model.js";

const LOG = Array.from({ length: 9000 }, (_, line) => `line ${line + 1}`).join("\n");

/** What a model has seen of a result, and the tool that it can call. */
async function stored(): Promise<{ readonly seen: string; readonly reader: ArtifactTool; readonly uri: string }> {
  const sluice = await createSluice({ store: "memory" });
  const [reader] = sluice.tools({ namespace: "ci" });
  const { text } = await sluice.transform(
    { content: [{ type: "text", text: LOG }] },
    { namespace: "ci", dialect: "mcp" },
  );
  const uri = /artifact:\/\/ci_[0-9a-f]+/.exec(text)?.[0] ?? "";
  return { seen: text, reader: reader as ArtifactTool, uri };
}

const textOf = async (reader: ArtifactTool, args: unknown): Promise<string> =>
  (await reader.call(args)).content[0].text;

type Agents = (url: string, reader: ArtifactTool) => Promise<unknown>;

const vercel: Agents = (baseURL, { name, description, inputSchema, ...reader }) => {
  const execute = (args: unknown): Promise<string> => textOf({ name, description, inputSchema, ...reader }, args);
  return generateText({
    model: createOpenAICompatible({ name: "fake", baseURL }).chatModel("fake"),
    tools: { [name]: vercelTool({ description, inputSchema: jsonSchema(inputSchema), execute }) },
    prompt: "Read it.",
    stopWhen: stepCountIs(3),
    maxRetries: 0,
  });
};

const langChain: Agents = (baseURL, reader) => {
  const { name, description, inputSchema: schema } = reader;
  const model = new ChatOpenAI({ model: "fake", apiKey: "none", maxRetries: 0, configuration: { baseURL } });
  const tools = [langChainTool((args: unknown) => textOf(reader, args), { name, description, schema })];
  return createAgent({ model, tools }).invoke({ messages: [{ role: "user", content: "Read it." }] });
};

const openAi: Agents = (baseURL, reader) => {
  setTracingDisabled(true);
  const { name, description, inputSchema } = reader;
  const parameters = { properties: {}, required: [], ...inputSchema, additionalProperties: true as const };
  const execute = (args: unknown): Promise<string> => textOf(reader, args);
  const tools = [openAiTool({ name, description, parameters, strict: false, execute })];
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  return run(new Agent({ name: "agent", model: new OpenAIResponsesModel(client, "fake"), tools }), "Read it.");
};

test.each([
  ["Vercel AI SDK", vercel],
  ["LangChain", langChain],
  ["OpenAI Agents", openAi],
])("%s offers it, and its model reads what was stored", async (_, ask) => {
  const { seen, reader, uri } = await stored();
  expect(seen).toContain(`Read it with ${reader.name} `);
  await using model = await FakeModel.start();
  model.follow({ call: reader.name, args: { uri, lines: "4711" } }, { say: "Done." });
  await ask(model.url, reader);
  expect(model.prompts[0]).toContain('"ci_artifact_read"');
  expect(model.prompts[1]).toContain("line 4711");
});

test("an MCP server lists it as it is, and its clients call it", async () => {
  const { reader, uri } = await stored();
  const { call, ...definition } = reader;
  const server = new Server({ name: "own", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [definition] }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }) => (await call(params.arguments)) as unknown as CallToolResult,
  );
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(here), client.connect(there)]);
  expect((await client.listTools()).tools).toEqual([definition]);
  const result = await client.callTool({ name: reader.name, arguments: { uri, lines: "4711" } });
  expect(JSON.stringify(result)).toContain("line 4711");
  await client.close();
});
