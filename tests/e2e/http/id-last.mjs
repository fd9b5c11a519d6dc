/**
 * A server over stdio whose answers end with their ids, as those of the official SDK do. Its tool `letters` answers with so
 * many of them as `bytes` says; with `waits` once its tool `go` is called as well, which is answered behind it.
 * @module
 */
import { once } from "node:events";
import { createInterface } from "node:readline";

const PIECE = "abcdefghijklmnopqrstuvwxyz012345".repeat(2048);

/** Calls that are answered together, the large answer first. */
const together = {};

async function print(text) {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

async function answer(id, result) {
  await print(`{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`);
}

async function letters(id, bytes) {
  await print('{"result":{"content":[{"type":"text","text":"');
  for (let left = bytes; left > 0; left -= PIECE.length) await print(PIECE.slice(0, left));
  await print(`"}]},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`);
}

async function call(id, { name, arguments: { bytes, waits } = {} }) {
  const say = name === "letters" ? () => letters(id, bytes) : () => answer(id, { content: [] });
  if (name === "letters" && !waits) {
    await say();
    return;
  }
  together[name] = say;
  if (together.letters === undefined || together.go === undefined) return;
  await together.letters();
  await together.go();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    await answer(id, {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "id-last", version: "1.0.0" },
    });
  } else if (method === "tools/call") {
    await call(id, params);
  } else if (id !== undefined) {
    await answer(id, { tools: [] });
  }
}
process.exit(0);
