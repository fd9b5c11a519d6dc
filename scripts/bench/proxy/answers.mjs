/**
 * What the server of the benchmarks answers, in pieces.
 * @module
 */

/** 768 KiB that begin like a PDF and go on like its compressed streams, and their base64: 1 MiB. */
const BLOCK = Buffer.alloc(768 * 1024);
for (let at = 0, state = 1; at < BLOCK.length; at += 1) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  BLOCK[at] = state >>> 24;
}
BLOCK.write("%PDF-1.7\n");
const ENCODED = Buffer.from(BLOCK.toString("base64"));

const TOOLS = ["bytes", "small"].map((name) => ({ name, inputSchema: { type: "object" } }));

/** The answer to a request: pieces of JSON text. */
export function* answerOf(id, method, params) {
  if (method === "tools/call" && params.name === "bytes") yield* bytes(id, params.arguments.bytes);
  else yield JSON.stringify({ result: resultOf(method, params), jsonrpc: "2.0", id });
}

function resultOf(method, params) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } };
  }
  if (method === "tools/list") return { tools: TOOLS };
  return method === "tools/call" ? { content: [{ type: "text", text: "small ".repeat(160) }] } : {};
}

function* bytes(id, size) {
  yield '{"result":{"content":[{"type":"resource","resource":{"uri":"file:///report.pdf","mimeType":"application/pdf","blob":"';
  for (let left = size; left > 0; left -= BLOCK.length) {
    yield left >= BLOCK.length ? ENCODED : BLOCK.subarray(0, left).toString("base64");
  }
  yield `"}}]},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}
