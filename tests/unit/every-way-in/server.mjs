/**
 * A server whose answers a test writes: each call names a file, and what stands in it is the answer, byte for byte.
 *
 * `node server.mjs` speaks MCP over stdio; `node server.mjs http` over Streamable HTTP, and answers `GET /api`; both say how
 * the answer is written: where its `id` stands, in which pieces, and behind which other answer. `node server.mjs print FILE`
 * prints a file.
 * @module
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A response with its `id` first, or last as the official SDK writes it. `kind` is `result` or `error`. */
export function composed(id, kind, body, place) {
  const [jsonrpc, named] = ['"jsonrpc":"2.0"', `"id":${JSON.stringify(id)}`];
  const [before, after] =
    place === "last" ? [`{"${kind}":`, `,${jsonrpc},${named}}`] : [`{${jsonrpc},${named},"${kind}":`, "}"];
  return Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
}

const schema = { type: "object", properties: { file: { type: "string" } } };
const tools = [
  { name: "give", description: "Gives what stands in a file.", inputSchema: schema },
  { name: "other", description: "The same, for calls at the same time.", inputSchema: schema },
  { name: "app", description: "For apps alone.", inputSchema: schema, _meta: { ui: { visibility: ["app"] } } },
];

/** Calls that wait for their partner, by the name of the pair. */
const pairs = new Map();

/** Works when it is this call's turn: neither of a pair before both are there, and `turn` 1 behind 0. */
async function inTurn({ pair, turn }, work) {
  if (pair === undefined) return work();
  const both = pairs.get(pair) ?? { arrived: 0, all: withResolvers(), first: withResolvers() };
  pairs.set(pair, both);
  both.arrived += 1;
  if (both.arrived === 2) both.all.resolve();
  await both.all.promise;
  if (turn === 1) await both.first.promise;
  try {
    return await work();
  } finally {
    if (turn === 0) both.first.resolve();
    else pairs.delete(pair);
  }
}

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

/** How a resource is to be answered, as its URI says. */
function asked(uri) {
  const { chunk, ...how } = Object.fromEntries(new URL(uri).searchParams);
  return { ...how, chunk: Number(chunk) };
}

/** What a message is answered, and how that is written; undefined: with nothing. */
function answerTo({ id, method, params = {} }) {
  const plain = (value) => ({ bytes: composed(id, "result", Buffer.from(JSON.stringify(value)), "first"), how: {} });
  if (id === undefined || method === undefined) return undefined;
  if (method === "initialize") {
    const capabilities = { tools: {}, resources: {} };
    const serverInfo = { name: "suite", version: "1.0.0" };
    return plain({ protocolVersion: params.protocolVersion, capabilities, serverInfo });
  }
  if (method === "tools/list") return plain({ tools });
  if (method === "resources/list") return plain({ resources: [] });
  if (method === "resources/templates/list") return plain({ resourceTemplates: [] });
  if (method === "tools/call" || method === "resources/read" || method === "prompts/get") {
    const how = method !== "resources/read" ? (params.arguments ?? {}) : asked(params.uri);
    const { file, place, as = "result" } = how;
    return { bytes: composed(id, as, readFileSync(file), place), how };
  }
  if (method === "ping") return plain({});
  return {
    bytes: composed(id, "error", Buffer.from('{"code":-32601,"message":"Method not found"}'), "first"),
    how: {},
  };
}

/** Writes in pieces of at most `chunk` bytes, of which there are not too many. */
async function writeInPieces(stream, bytes, { chunk = 65_536 }) {
  const most = Math.max(chunk, Math.ceil(bytes.length / 300));
  for (let at = 0, step = 1; at < bytes.length; step = (step * 7 + 3) % 11) {
    const end = Math.min(bytes.length, at + Math.max(1, Math.ceil((most * (step + 1)) / 11)));
    if (!stream.write(bytes.subarray(at, end))) await once(stream, "drain");
    else if (step % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    at = end;
  }
}

async function stdio() {
  let written = Promise.resolve();
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = answerTo(JSON.parse(line));
    if (answer === undefined) continue;
    const { bytes, how } = answer;
    const write = () =>
      (written = written.then(() => writeInPieces(process.stdout, Buffer.concat([bytes, Buffer.from("\n")]), how)));
    void inTurn(how, write);
  }
  process.exit(0);
}

async function answerPlain(query, response) {
  if (query.has("type")) response.setHeader("content-type", query.get("type"));
  const name = encodeURIComponent(query.get("name"));
  if (query.has("name")) response.setHeader("content-disposition", `attachment; filename*=UTF-8''${name}`);
  await writeInPieces(response, readFileSync(query.get("file")), { chunk: Number(query.get("chunk")) });
  response.end();
}

function http() {
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url, "http://suite.test");
      if (url.pathname === "/api") {
        await answerPlain(url.searchParams, response);
        return;
      }
      if (request.method !== "POST") {
        response.writeHead(request.method === "DELETE" ? 200 : 405).end();
        return;
      }
      let body = "";
      for await (const piece of request) body += piece;
      const answer = answerTo(JSON.parse(body));
      if (answer === undefined) {
        response.writeHead(202).end();
        return;
      }
      const { bytes, how } = answer;
      await inTurn(how, async () => {
        const isStream = how.events === true || how.events === "true";
        response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
        if (isStream) response.write("event: message\ndata: ");
        await writeInPieces(response, bytes, how);
        response.end(isStream ? "\n\n" : undefined);
      });
    })().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , what, file] = process.argv;
  if (what === "print") process.stdout.write(readFileSync(file));
  else if (what === "http") http();
  else await stdio();
}
