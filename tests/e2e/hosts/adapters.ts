/**
 * Agents built on the MCP adapters that people build on, each the way its documentation shows.
 * @module
 */
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as VercelStdio } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { MultiServerMCPClient, type ClientConfig } from "@langchain/mcp-adapters";
import { ChatOpenAI } from "@langchain/openai";
import {
  Agent,
  MCPServerStdio,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
} from "@openai/agents";
import { generateText, stepCountIs, type ToolSet } from "ai";
import { createAgent } from "langchain";
import OpenAI from "openai";

/** A command that speaks MCP on standard input and output. */
export interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

/** An agent with its servers started. */
export interface Host extends AsyncDisposable {
  /** Asks the model, which may call tools, until it is done. Throws what the adapter throws. @returns its last words */
  ask(question: string): Promise<string>;
}

/** Starts an agent on these servers, with the model at `url`. */
export type OpenHost = (url: string, servers: readonly Server[]) => Promise<Host>;

/** All of them, by name. */
export const HOSTS: Readonly<Record<string, OpenHost>> = {
  LangChain: langChain,
  "Vercel AI SDK": vercel,
  "OpenAI Agents, responses": (url, servers) => openAiAgents(url, servers, OpenAIResponsesModel),
  "OpenAI Agents, chat completions": (url, servers) => openAiAgents(url, servers, OpenAIChatCompletionsModel),
};

/** LangChain as it comes, or with a setting for what becomes of content. */
export async function langChain(
  url: string,
  servers: readonly Server[],
  options: Pick<ClientConfig, "outputHandling"> = {},
): Promise<Host> {
  const connections = servers.map(({ command, args }, at) => [
    `server-${at}`,
    { transport: "stdio" as const, command, args: [...args], stderr: "ignore" as const },
  ]);
  const client = new MultiServerMCPClient({ ...options, mcpServers: Object.fromEntries(connections) });
  const model = new ChatOpenAI({ model: "fake", apiKey: "none", maxRetries: 0, configuration: { baseURL: url } });
  const agent = createAgent({ model, tools: await client.getTools() });
  return {
    async ask(question) {
      const { messages } = await agent.invoke({ messages: [{ role: "user", content: question }] });
      return messages.at(-1)?.text ?? "";
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function vercel(url: string, servers: readonly Server[]): Promise<Host> {
  const clients = await Promise.all(
    servers.map(({ command, args }) =>
      createMCPClient({ transport: new VercelStdio({ command, args: [...args], stderr: "ignore" }) }),
    ),
  );
  const tools: ToolSet = Object.assign({}, ...(await Promise.all(clients.map((client) => client.tools()))));
  const model = createOpenAICompatible({ name: "fake", baseURL: url }).chatModel("fake");
  return {
    async ask(prompt) {
      const { text } = await generateText({ model, tools, prompt, stopWhen: stepCountIs(8), maxRetries: 0 });
      return text;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

async function openAiAgents(
  url: string,
  servers: readonly Server[],
  Model: typeof OpenAIResponsesModel | typeof OpenAIChatCompletionsModel,
): Promise<Host> {
  setTracingDisabled(true);
  const mcpServers = servers.map(
    ({ command, args }, at) => new MCPServerStdio({ name: `server-${at}`, command, args: [...args] }),
  );
  for (const server of mcpServers) await server.connect();
  const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const agent = new Agent({ name: "agent", instructions: "", model: new Model(client, "fake"), mcpServers });
  return {
    async ask(question) {
      const { finalOutput } = await run(agent, question);
      return String(finalOutput);
    },
    async [Symbol.asyncDispose]() {
      for (const server of mcpServers) await server.close();
    },
  };
}
