#!/usr/bin/env bash
# Gemini CLI 0.61.0: the model gets nothing of a tool result that has its value in `structuredContent` alone.
#
# An MCP server declares an output schema and answers with the value in `structuredContent`: once with the same JSON in a text
# block, as MCP recommends for older clients, and once with an empty `content`, which its schema allows. The first reaches the model
# as text. Of the second the model gets an empty response, with no sign that something is missing, although this client
# asks for a protocol version that has `structuredContent`. The model is a program on loopback.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts @google/gemini-cli@0.61.0

cat >server.js <<'END'
import { createInterface } from "node:readline";

const structuredContent = { temperature: 22.5 };
const content = [{ type: "text", text: JSON.stringify(structuredContent) }];
const results = { with_text: { content, structuredContent }, without_text: { content: [], structuredContent } };
const outputSchema = {
  type: "object",
  properties: { temperature: { type: "number" } },
  required: ["temperature"],
};
const inputSchema = { type: "object", properties: {} };
const tools = Object.keys(results).map((name) => ({ name, description: "Weather", inputSchema, outputSchema }));
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => results[name],
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
END

cat >probe.js <<'END'
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const calls = ["with_text", "without_text"];
const seen = new Set();

const model = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { contents = [], tools = [] } = body === "" ? {} : JSON.parse(body);
  const parts = contents.flatMap((item) => item.parts ?? []);
  const results = parts.map((part) => part.functionResponse).filter(Boolean);
  for (const { name, response: given } of results) {
    if (seen.has(name)) continue;
    seen.add(name);
    console.log(`${name}: the model gets ${JSON.stringify(given)}`);
  }
  const name = tools.length > 0 ? calls[results.length] : undefined;
  const part = name === undefined ? { text: "Done." } : { functionCall: { name: `mcp_weather_${name}`, args: {} } };
  const answer = { candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }] };
  const isStreamed = request.url.includes("streamGenerateContent");
  response.writeHead(200, { "content-type": isStreamed ? "text/event-stream" : "application/json" });
  response.end(isStreamed ? `data: ${JSON.stringify(answer)}\r\n\r\n` : JSON.stringify(answer));
});

model.listen(0, "127.0.0.1", () => {
  const settings = {
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    mcpServers: { weather: { command: process.execPath, args: [`${process.cwd()}/server.js`], trust: true } },
  };
  mkdirSync("home/.gemini", { recursive: true });
  writeFileSync("home/.gemini/settings.json", JSON.stringify(settings));
  const env = {
    PATH: process.env.PATH,
    HOME: `${process.cwd()}/home`,
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
  };
  const args = ["node_modules/@google/gemini-cli/bundle/gemini.js", "-p", "Go on.", "-y", "-m", "gemini-2.5-flash", "--skip-trust"];
  spawn(process.execPath, args, { env, stdio: "ignore", timeout: 180_000 }).on("exit", () => {
    model.closeAllConnections();
    model.close();
  });
});
END

cat >expected <<'END'
mcp_weather_with_text: the model gets {"output":"<untrusted_context>\n{\"temperature\":22.5}\n</untrusted_context>"}
mcp_weather_without_text: the model gets {}
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
