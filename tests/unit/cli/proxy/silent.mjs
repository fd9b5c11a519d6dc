/**
 * A server whose tools are silent, each in its own way. It speaks lines, or with an argument HTTP: `events` begins an event stream at
 * once, `json` answers when it has an answer. It writes to standard error which calls were cancelled, and answers them all the same.
 */
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [kind] = process.argv.slice(2);

/** Sends what a message brings about. */
function answer({ id, method, params }, send) {
  const done = (ended, text) => send({ id: ended, result: { content: [{ type: "text", text }] } });
  if (method === "initialize") {
    const serverInfo = { name: "silent", version: "1" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "notifications/cancelled") {
    console.error(`cancelled ${params.requestId}`);
    done(params.requestId, "late");
  } else if (method === "tools/call" && params.name === "prompt") {
    done(id, `done ${id}`);
  } else if (method === "tools/call" && params.name === "works") {
    const { progressToken } = params["_meta"] ?? {};
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      send({ method: "notifications/progress", params: { progressToken, progress: step, message: `step ${step}` } });
      if (step < 4) return;
      clearInterval(timer);
      if (params.arguments?.ends !== false) done(id, `done ${id}`);
    }, 500);
  }
}

const open = new Map();

async function serve(request, response) {
  let body = "";
  for await (const piece of request) body += String(piece);
  const headers = { "mcp-session-id": "one" };
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  const message = JSON.parse(body);
  if (message.id === undefined) response.writeHead(202, headers).end();
  else open.set(message.id, response);
  if (kind === "events" && message.method === "tools/call") {
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" }).flushHeaders();
  }
  answer(message, (more) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...more });
    const at = more.id === undefined ? response : open.get(more.id);
    if (at?.headersSent) at.write(`data: ${text}\n\n`);
    else if (more.id !== undefined) at?.writeHead(200, { ...headers, "content-type": "application/json" }).write(text);
    if (more.id !== undefined) at?.end();
  });
}

if (process.argv.length === 2) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    answer(JSON.parse(line), (message) => {
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    });
  });
} else {
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
