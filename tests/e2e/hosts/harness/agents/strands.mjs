/** An agent on Strands, as its documentation shows one. */
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Agent, McpClient } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";

const { url, server } = JSON.parse(process.env.HARNESS);
const client = new McpClient({ transport: new StdioClientTransport(server) });
const model = new OpenAIModel({ api: "chat", modelId: "fake", apiKey: "none", clientConfig: { baseURL: url } });
const agent = new Agent({ model, tools: [client] });
await agent.invoke("Go on.");
await client.disconnect();
