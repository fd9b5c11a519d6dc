/**
 * An MCP server over stdio whose tools take and make users' files. `LAB_ROOT` stands for `/tmp`.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const ROOT = process.env["LAB_ROOT"] ?? "/tmp";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ type: "text", text: JSON.stringify(value) });
/** As FastMCP answers: the same as text and as structure. */
const both = (value) => ({ content: [text(value)], structuredContent: value });
const b64 = (bytes) => Buffer.from(bytes).toString("base64");
const strings = (...names) => Object.fromEntries(names.map((name) => [name, { type: "string" }]));
const tool = (name, properties = {}, required = []) => ({
  name,
  inputSchema: { type: "object", properties, required },
});

const TABLE = `id,name\n${Array.from({ length: 12_000 }, (_, row) => `${row},n${row}\n`).join("")}`;

const tools = [
  tool("echo", { ...strings("filename", "username", "note"), filenames: { type: "array" } }, ["username"]),
  tool("anonymous", strings("filename")),
  tool("length", strings("filename", "username")),
  tool("bytes", { large: { type: "boolean" } }),
  tool("table"),
  tool("as_text", { large: { type: "boolean" } }),
  tool("write", { ...strings("username", "name", "content", "mime"), times: { type: "number" } }),
  tool("path", strings("path", "username")),
  tool("draft", { ...strings("username"), hours: { type: "number" } }),
  tool("show", { display: { type: "object" }, category: { type: "string" } }),
  tool("try_to_read", strings("path")),
  tool("try_to_write", strings("path")),
  tool("overwrite", strings("path")),
  tool("forge", strings("id")),
  tool("raw", { result: { type: "object" } }),
  tool("fail", strings("message")),
];

const calls = {
  echo: (args) => both({ results: { args, backwards: backwards(args) } }),
  anonymous: (args) => both({ results: { args } }),
  length: ({ filename }) => both({ results: { length: readFileSync(filename).length } }),
  bytes: ({ large }) => both(withBytes(large)),
  table: () => {
    const resource = { uri: "file:///names.csv", mimeType: "text/csv", blob: b64(TABLE) };
    return { content: [{ type: "resource", resource }] };
  },
  as_text: ({ large }) => ({ content: [text(withBytes(large))] }),
  write: ({ username, name, content = "", mime = "text/plain", times = 1 }) => {
    const path = `${ROOT}/${username}/${name}`;
    mkdirSync(`${ROOT}/${username}`, { recursive: true });
    writeFileSync(path, content.repeat(times));
    return both({ results: { written: true }, artifacts: [{ name, path, mime }] });
  },
  path: ({ path }) =>
    both({ results: { secret: "of no matter" }, artifacts: [{ name: "x", path, mime: "text/plain" }] }),
  draft: ({ username, hours }) => {
    const path = `${ROOT}/${username}/draft.docx`;
    writeFileSync(path, "Dear all");
    const expires = hours === undefined ? {} : { expires_hours: hours };
    const said = { reason: "needs_editing", next_actions: ["Edit the greeting"], category: "draft", ...expires };
    const mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    return both({ results: { done: "half" }, deferred_artifacts: [{ name: "draft.docx", path, mime, ...said }] });
  },
  show: ({ display, category }) => {
    const said = { name: "page.html", b64: b64("<h1>Hi</h1>"), mime: "text/html", viewer: "html", auto_open: true };
    return both({ results: { shown: 1 }, artifacts: [{ ...said, ...(category && { category }) }], display });
  },
  try_to_read: ({ path }) => both({ results: { came: attempt(() => readFileSync(path, "utf8")) } }),
  try_to_write: ({ path }) => both({ results: { came: attempt(() => written(path)) } }),
  overwrite: ({ path }) => {
    try {
      return both({ results: { came: written(path) } });
    } catch ({ message }) {
      return { isError: true, content: [{ type: "text", text: `Error executing tool overwrite: ${message}` }] };
    }
  },
  forge: ({ id }) =>
    both({ results: {}, artifacts: [{ name: "mine.txt", b64: `artifact://${id}`, mime: "text/plain" }] }),
  raw: ({ result }) => result,
};

/** No path of the user's folder reaches a model: so paths are spelled from their end. */
function backwards({ filename, filenames = [] }) {
  const paths = [filename, ...filenames].filter((path) => path?.startsWith("/"));
  return paths.map((path) => [...path].toReversed().join(""));
}

function attempt(work) {
  try {
    return work();
  } catch ({ code }) {
    return code;
  }
}

function written(path) {
  writeFileSync(path, "x");
  return "written";
}

function withBytes(large) {
  const said = { description: "All names", category: "dataset" };
  const bytes = large ? TABLE : "id,name\n1,a\n2,b\n3,c\n";
  return {
    results: { rows: large ? 12_000 : 3 },
    meta_data: { source: "lab" },
    retryable: true,
    artifacts: [{ name: "../names.csv", b64: b64(bytes), mime: "text/csv", ...said }],
  };
}

function answer({ method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "lab", version: "1.0.0" } };
  }
  return method === "tools/list" ? { tools } : calls[params.name](params.arguments ?? {});
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) continue;
  const { name, arguments: args } = message.params ?? {};
  if (name === "fail") send({ id: message.id, error: { code: -32602, message: args.message } });
  else send({ id: message.id, result: answer(message) });
}
