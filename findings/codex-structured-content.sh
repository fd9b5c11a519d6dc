#!/usr/bin/env bash
# Codex 0.169.0: a tool's pictures and texts do not reach the model if the result has `structuredContent`, too.
#
# An MCP server answers two calls with the same text and the same picture, the second time with a small `structuredContent`
# beside them. MCP says of `content` and `structuredContent` that both may be there, and wants the structured value's JSON in a text
# block as well, for clients that do not know it. Of the first result the model gets the text and the picture. Of the
# second it gets the JSON of `structuredContent` alone: no word says that a picture was there. The model is a program on loopback.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock codex-linux-x64@npm:@openai/codex@0.169.0-linux-x64

cat >server.js <<'END_OF_FILE'
import { createInterface } from "node:readline";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const content = [
  { type: "text", text: "Sales of the year" },
  { type: "image", mimeType: "image/png", data: png },
];
const results = { chart: { content }, chart_with_value: { content, structuredContent: { total: 42 } } };
const tools = Object.keys(results).map((name) => ({ name, inputSchema: { type: "object", properties: {} } }));

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "charts", version: "1" },
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
END_OF_FILE

cat >probe.js <<'END_OF_FILE'
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const calls = ["chart", "chart_with_value"];
let turn = 0;

const describe = (part) => (part.type === "input_image" ? "a picture" : `text ${JSON.stringify(part.text)}`);

const model = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (!request.url.endsWith("/responses")) return response.writeHead(404).end();
  const { input } = JSON.parse(body);
  const { output } = input.findLast(({ type }) => type === "function_call_output") ?? {};
  const parts = typeof output === "string" ? [{ type: "input_text", text: output }] : (output ?? []);
  // A line with the time that the call took stands before each result.
  const shown = parts.map((part) => ({ ...part, text: part.text?.replace(/^Wall time: .*\nOutput:\n?/, "") }));
  if (output !== undefined) {
    const said = shown.filter(({ text }) => text !== "").map(describe);
    console.log(`${calls[turn - 1]}: the model gets ${said.join(" and ")}`);
  }
  const name = calls[turn];
  turn += 1;
  const item =
    name === undefined
      ? { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] }
      : { type: "function_call", call_id: `call_${turn}`, namespace: "mcp__charts", name, arguments: "{}" };
  const answer = { id: `resp_${turn}`, output: [item], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
  const events = [
    { type: "response.created", response: { id: answer.id } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: answer },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
});

model.listen(0, "127.0.0.1", () => {
  mkdirSync("home/.codex", { recursive: true });
  writeFileSync(
    "home/.codex/config.toml",
    `model = "fake"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:${model.address().port}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[mcp_servers.charts]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(`${process.cwd()}/server.js`)}]
required = true
`,
  );
  const codex = "node_modules/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
  const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Go on."];
  const env = { PATH: process.env.PATH, HOME: `${process.cwd()}/home`, FAKE_KEY: "none" };
  spawn(codex, args, { env, stdio: "ignore", timeout: 120_000 }).on("exit", () => {
    model.closeAllConnections();
    model.close();
  });
});
END_OF_FILE

cat >expected <<'END'
chart: the model gets text "Sales of the year" and a picture
chart_with_value: the model gets text "{\"total\":42}"
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
