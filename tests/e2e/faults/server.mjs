/**
 * A server with faults, each a tool. Written by hand, so that every byte is meant.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";

const encoder = new TextEncoder();

async function write(bytes) {
  if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
}

const reply = (id, result) => write(`${JSON.stringify({ result, jsonrpc: "2.0", id })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });

/** The first half of a large result. */
async function half(id) {
  await write(
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"image","mimeType":"image/png","data":"`,
  );
  const block = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(60_001, 7)]).toString("base64");
  for (let turn = 0; turn < 20; turn += 1) await write(turn === 0 ? block : "BwcH".repeat(20_000));
}

const tools = {
  small: (id) => reply(id, text("small")),
  async half(id) {
    await half(id);
    process.stderr.write("half is written\n");
  },
  async bytes(id, { size }) {
    const bytes = Buffer.alloc(size, size % 251);
    bytes.write("%PDF-1.7\n");
    const blob = bytes.toString("base64");
    const resource = { uri: "file:///a.pdf", mimeType: "application/pdf", blob };
    await reply(id, { content: [{ type: "resource", resource }] });
  },
  async crash(id) {
    await half(id);
    process.kill(process.pid, "SIGKILL");
  },
  exit: () => process.exit(7),
  async broken(id) {
    await half(id);
    await write("\n");
  },
  async stray(id) {
    await write("INFO: about to answer\n");
    await write("[INFO] in brackets\n");
    await write("{ not: 'json' }\n");
    await reply(id, text("answered"));
  },
  async utf8(id) {
    await write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"a`);
    await write(new Uint8Array([0xff, 0xc3]));
    await write(`b"}]}}\n`);
  },
  /** A line of so many MiB that is no result of anybody's. */
  async line(id, { mebibytes, head }) {
    await write(head);
    const block = encoder.encode("x".repeat(1024 * 1024));
    for (let turn = 0; turn < mebibytes; turn += 1) await write(block);
    await write("\n");
    await reply(id, text("after"));
  },
  async flood(id, { count }) {
    const data = "lorem ipsum ".repeat(80);
    for (let turn = 0; turn < count; turn += 1) {
      await write(
        `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } })}\n`,
      );
    }
    await reply(id, text("flooded"));
  },
  async noise(id, { mebibytes }) {
    const line = `${"noise ".repeat(170)}\n`;
    for (let turn = 0; turn < mebibytes * 1024; turn += 1) await write(line);
    await reply(id, text("answered"));
  },
  /** Says nothing any more, and lives on. */
  mute() {
    closeSync(1);
    setInterval(() => undefined, 1000);
  },
  async child(id) {
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    child.unref();
    await reply(id, text(`${process.pid} ${child.pid}`));
  },
};

if (process.argv.includes("--stubborn")) {
  process.on("SIGTERM", () => process.stderr.write("SIGTERM came\n"));
  setInterval(() => undefined, 1000);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    await reply(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "faults", version: "1" } });
  } else if (method === "tools/call") {
    await tools[params.name](id, params.arguments ?? {});
  } else if (id !== undefined) {
    await reply(id, {});
  }
}
