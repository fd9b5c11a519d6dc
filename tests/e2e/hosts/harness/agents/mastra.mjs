/** An agent on Mastra, as its documentation shows one. */
import { Agent } from "@mastra/core/agent";
import { MCPClient } from "@mastra/mcp";

const { url, server } = JSON.parse(process.env.HARNESS);
const client = new MCPClient({ servers: { fix: server }, timeout: 60_000 });
const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "Go on.",
  model: { id: "fake/fake", url, apiKey: "none" },
  tools: await client.listTools(),
});
await agent.generate("Go on.", { maxSteps: 500 });
await client.disconnect();
