/** An agent on OpenAI Agents, as its documentation shows one; with Responses or with Chat Completions. */
import {
  Agent,
  MCPServerStdio,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
} from "@openai/agents";
import OpenAI from "openai";

const { url, server, mode } = JSON.parse(process.env.HARNESS);
setTracingDisabled(true);
const Model = mode === "chat" ? OpenAIChatCompletionsModel : OpenAIResponsesModel;
const mcp = new MCPServerStdio({ name: "fix", ...server });
await mcp.connect();
const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
const agent = new Agent({ name: "agent", instructions: "", model: new Model(client, "fake"), mcpServers: [mcp] });
await run(agent, "Go on.", { maxTurns: 500 });
await mcp.close();
