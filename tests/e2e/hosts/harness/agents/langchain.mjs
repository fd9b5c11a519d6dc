/** An agent on LangChain and its MCP adapters, as their documentation shows one. */
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";

const { url, server } = JSON.parse(process.env.HARNESS);
const client = new MultiServerMCPClient({ mcpServers: { fix: { transport: "stdio", ...server } } });
const model = new ChatOpenAI({ model: "fake", apiKey: "none", maxRetries: 0, configuration: { baseURL: url } });
const agent = createAgent({ model, tools: await client.getTools() });
await agent.invoke({ messages: [{ role: "user", content: "Go on." }] }, { recursionLimit: 1000 });
await client.close();
