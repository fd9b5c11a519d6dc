#!/usr/bin/env bash
# OpenAI Agents 0.20.0: a server is told its own name, where MCP has the client's.
#
# In `initialize` a client says who it is: `clientInfo` has "the name and version of the client implementation". The SDK's servers of
# MCP send the name that their user gave the server, with version 1.0.0, and where the user gave none, the word for the transport and the
# command. So a server that goes by `clientInfo` meets a client called like the server itself, and cannot know the SDK by name or version.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @openai/agents@0.20.0 zod@4.6.7

cat >server.js <<'END_OF_FILE'
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const said =
    method === "initialize"
      ? { result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: "notes", version: "3" } } }
      : { error: { code: -32601, message: "Method not found" } };
  if (method === "initialize") appendFileSync("seen.txt", `${JSON.stringify(params.clientInfo)}\n`);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
END_OF_FILE

cat >probe.js <<'END_OF_FILE'
import { MCPServerStdio } from "@openai/agents";

for (const name of [{ name: "Notes of the team" }, {}]) {
  const server = new MCPServerStdio({ command: "node", args: ["server.js"], ...name });
  await server.connect();
  await server.close();
}
END_OF_FILE
node probe.js

expected='{"name":"Notes of the team","version":"1.0.0"}
{"name":"stdio: node","version":"1.0.0"}'
seen=$(cat seen.txt)
echo "$seen"
[ "$seen" = "$expected" ] || { echo "It says something else now." >&2; exit 1; }
