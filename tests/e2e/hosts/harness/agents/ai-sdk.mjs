/** An agent on the Vercel AI SDK, as its documentation shows one. */
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs } from "ai";

const { url, server } = JSON.parse(process.env.HARNESS);
const client = await createMCPClient({ transport: new StdioTransport(server) });
const model = createOpenAICompatible({ name: "fake", baseURL: url }).chatModel("fake");
const tools = await client.tools();
await generateText({ model, tools, prompt: "Go on.", stopWhen: stepCountIs(500), maxRetries: 0 });
await client.close();
