#!/usr/bin/env bash
# OpenCode 1.18.33: sends `notifications/cancelled` for each tool call that the server has answered.
#
# An MCP server answers two calls at once. After each answer the client says that it cancels the request with that id, for
# the reason "AbortError". MCP ("Cancellation") wants cancellations for requests that are believed to be under way, and lets servers
# ignore others. A server or a proxy that counts cancelled calls, or looks up what it has to stop, meets an id that it no longer
# knows after every call. The model is a program on loopback.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock opencode-linux-x64-baseline@1.18.33

cat >server.js <<'END'
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const log = (line) => appendFileSync("seen", `${line}\n`);
const calls = new Map();
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "greeter", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "greet", inputSchema: { type: "object", properties: {} } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "Hello." }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") {
    log(`${calls.get(params.requestId) ?? "another request"}: cancelled, ${params.reason.split(":")[0]}`);
  }
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
  if (method !== "tools/call") return;
  calls.set(id, `call ${calls.size + 1}`);
  log(`${calls.get(id)}: answered`);
});
END

cat >probe.js <<'END'
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const model = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { messages, tools = [] } = JSON.parse(body);
  const done = messages.filter(({ role }) => role === "tool").length;
  const call = { index: 0, id: `call_${done}`, type: "function", function: { name: "greeter_greet", arguments: "{}" } };
  // A title is asked for without tools.
  const isCall = tools.length > 0 && done < 2;
  const delta = isCall ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: "Done." };
  const head = { id: `chatcmpl-${done}`, object: "chat.completion.chunk", created: 0, model: "fake" };
  const chunks = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: isCall ? "tool_calls" : "stop" }] },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
});

model.listen(0, "127.0.0.1", () => {
  const options = { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: "none" };
  const config = {
    autoupdate: false,
    share: "disabled",
    provider: { fake: { npm: "@ai-sdk/openai-compatible", options, models: { fake: { tool_call: true } } } },
    mcp: { greeter: { type: "local", command: [process.execPath, "server.js"], timeout: 30000 } },
  };
  mkdirSync("home/.config/opencode", { recursive: true });
  writeFileSync("home/.config/opencode/opencode.json", JSON.stringify(config));
  const opencode = "node_modules/opencode-linux-x64-baseline/bin/opencode";
  const off = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"];
  const env = Object.fromEntries(off.map((name) => [`OPENCODE_DISABLE_${name}`, "1"]));
  Object.assign(env, { PATH: process.env.PATH, HOME: `${process.cwd()}/home` });
  spawn(opencode, ["run", "--model", "fake/fake", "Go on."], { env, stdio: "ignore", timeout: 180_000 }).on("exit", () => {
    model.closeAllConnections();
    model.close();
  });
});
END

cat >expected <<'END'
call 1: answered
call 1: cancelled, AbortError
call 2: answered
call 2: cancelled, AbortError
END

node probe.js
cat seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
