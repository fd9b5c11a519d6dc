/**
 * A server over stdio whose tool `wait` answers when another call says so: `tell` makes it report progress `count` times,
 * `finish` answers it with so many letters as `bytes` says, or with an error where `fails` is set. Calls of `wait` are told
 * apart by `name`. When the client's roots change, it tells that its list of tools did.
 * @module
 */
import { once } from "node:events";
import { createInterface } from "node:readline";

const LETTERS = "abcdefghijklmnopqrstuvwxyz012345";

/** By name: calls of `wait`, or who waits for one. */
const calls = new Map();

function held(name) {
  if (!calls.has(name)) calls.set(name, withResolvers());
  return calls.get(name);
}

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

async function print(message) {
  if (!process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)) await once(process.stdout, "drain");
}

const says = (text) => ({ content: [{ type: "text", text }] });

const TOOLS = {
  async tell(wait, { count = 1 }) {
    for (let left = count; left > 0; left -= 1) {
      wait.progress += 1;
      const params = { progressToken: wait.token, progress: wait.progress, message: `step ${wait.progress}` };
      await print({ method: "notifications/progress", params });
    }
  },
  async finish({ id }, { bytes = 0, fails = false }) {
    const error = { code: -32_000, message: "as was asked for" };
    const text = LETTERS.repeat(Math.ceil(bytes / LETTERS.length)).slice(0, bytes);
    await print(fails ? { id, error } : { id, result: says(text) });
  },
};

async function call(id, { name: tool, arguments: { name = "", ...args } = {}, _meta = {} }) {
  if (tool === "wait") {
    held(name).resolve({ id, token: _meta.progressToken, progress: 0 });
    return;
  }
  await TOOLS[tool](await held(name).promise, args);
  if (tool === "finish") calls.delete(name);
  await print({ id, result: says("done") });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const capabilities = { tools: { listChanged: true } };
    const { protocolVersion } = params;
    await print({ id, result: { protocolVersion, capabilities, serverInfo: { name: "directed", version: "1.0.0" } } });
  } else if (method === "tools/call") {
    // Others are heard meanwhile.
    void call(id, params);
  } else if (method === "notifications/roots/list_changed") {
    await print({ method: "notifications/tools/list_changed" });
  } else if (id !== undefined) {
    const tools = ["wait", ...Object.keys(TOOLS)].map((name) => ({ name, inputSchema: { type: "object" } }));
    await print({ id, result: { tools } });
  }
}
process.exit(0);
