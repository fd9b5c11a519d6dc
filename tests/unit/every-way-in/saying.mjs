/**
 * A server that says what a test wrote down: the file that `SUITE_SAYS` names has, by the method of a request, what it is answered (`result`
 * or `error`) and which messages come before the answer.
 *
 * `node saying.mjs` speaks MCP over stdio, `node saying.mjs http` over Streamable HTTP.
 * @module
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const CAPABILITIES = { tools: {}, prompts: {}, resources: {}, logging: {}, completions: {} };

function answersTo({ id, method, params }) {
  if (id === undefined || method === undefined) return [];
  const said = JSON.parse(readFileSync(process.env.SUITE_SAYS, "utf8"));
  const { before = [], result, error } = said[method] ?? {};
  const answer = error === undefined ? { result: result ?? plainResult(method, params) } : { error };
  const { progressToken: token } = params?.["_meta"] ?? {};
  for (const { method: told, params: progress } of before) {
    if (told === "notifications/progress" && token !== undefined) progress.progressToken = token;
  }
  return [...before, { jsonrpc: "2.0", id, ...answer }];
}

function plainResult(method, params) {
  if (method !== "initialize") return method === "tools/list" ? { tools: [] } : {};
  const serverInfo = { name: "saying", version: "1.0.0" };
  return { protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo };
}

async function stdio() {
  for await (const line of createInterface({ input: process.stdin })) {
    for (const message of answersTo(JSON.parse(line))) {
      process.stdout.write(`${JSON.stringify(message)}\n`);
      // SDKs drop the progress of a call that they read together with its result.
      if (message.method === "notifications/progress") await sleep(50);
    }
  }
  process.exit(0);
}

async function respond(request, response) {
  if (request.method !== "POST") return response.writeHead(request.method === "DELETE" ? 200 : 405).end();
  let body = "";
  for await (const piece of request) body += piece;
  const messages = answersTo(JSON.parse(body));
  if (messages.length === 0) return response.writeHead(202).end();
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const message of messages) response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  return response.end();
}

function http() {
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}

if (process.argv[2] === "http") http();
else await stdio();
