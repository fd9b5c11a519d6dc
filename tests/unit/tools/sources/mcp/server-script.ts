/**
 * Servers of the earlier era in a few lines, for what the fixture never does. A tool is the body of a function of `args`,
 * `id`, `params` and `write`; what it returns is the JSON text of its result, or nothing where it writes by itself.
 * @module
 */

/** What differs from a plain server. */
export interface ScriptDeps {
  /** By name, the body of the function that is called. */
  readonly tools: Readonly<Record<string, string>>;
  /** Runs before anything is read. */
  readonly prelude?: string;
  /** Runs for each message, as the body of a function of `message`; true: it is dealt with. */
  readonly before?: string;
  /** Capabilities beside `tools`. */
  readonly capabilities?: object;
  /** Whether an answer's `id` stands behind its result, as the official SDK writes it. */
  readonly idLast?: boolean;
}

/** Makes a plain server one of the later era, as its `before`. */
export const DISCOVERABLE = `if (message.method !== "server/discover") return false;
  answer(message.id, JSON.stringify({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" }));
  return true;`;

/** The program's text, for `node --input-type=module -e`. */
export function serverScript({
  tools,
  prelude = "",
  before = "",
  capabilities = {},
  idLast = false,
}: ScriptDeps): string {
  const bodies = Object.entries(tools).map(
    ([name, body]) => `${JSON.stringify(name)}: async (args, id, params) => { ${body} },`,
  );
  return `
import { createInterface } from "node:readline";
${prelude}
const write = (text) => process.stdout.write(text + "\\n");
const answer = (id, result) => write(${
    idLast
      ? '`{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`'
      : '`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`'
  });
const base64 = (byte, size) => Buffer.alloc(size, byte).fill("%PDF-1.7\\n", 0, 9).toString("base64");
const blob = (byte, size) => JSON.stringify({ content: [{ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: base64(byte, size) } }] });
const tools = { ${bodies.join("\n")} };
const before = (message) => { ${before} };
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (before(message) === true || id === undefined || method === undefined) continue;
  if (method === "initialize") answer(id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { tools: {}, ...${JSON.stringify(capabilities)} }, serverInfo: { name: "script", version: "1" } }));
  else if (method === "tools/list") answer(id, JSON.stringify({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }));
  else if (method === "tools/call") void tools[params.name](params.arguments, id, params).then((result) => result === undefined || answer(id, result));
  else write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }));
}
`;
}
