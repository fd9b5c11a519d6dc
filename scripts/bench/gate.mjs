/**
 * The gate alone, in WebAssembly: documents in chunks of 64 KB, in the dialect of MCP clients, nothing stored.
 * @module
 */
import { readFileSync } from "node:fs";
import { compileSource, corePool } from "../../dist/core/engine.js";
import { median, pdfOf, resultOf } from "./measure.mjs";

const CHUNK = 65_536;

/** At least so many GB/s, or so many times as fast as `JSON.parse` and `JSON.stringify`. */
const GIGABYTES = { bar: "≥ 2 GB/s", isMet: ({ speed }) => speed >= 2 };
const TIMES = { bar: "≥ 3 ×", isMet: ({ ratio }) => ratio >= 3 };

const call = JSON.stringify({ tool: "download", namespace: "bench", dialect: "mcp", readTool: "" });

/** Rows without long strings, 0.9 MB. */
const rows = Array.from({ length: 12_000 }, (_, id) => ({
  id,
  name: `item number ${id}`,
  unit: "piece",
  v: id / 7,
}));

const lines = "It was a dark and stormy night; the rain fell in torrents, and nobody counted the drops.\n";

/** What goes through the gate, and what is to be reached. */
export const documents = {
  base64: { bytes: () => resultOf(pdfOf(12)), ...GIGABYTES },
  "long text": { bytes: () => json({ content: [{ type: "text", text: lines.repeat(100_000) }] }), ...GIGABYTES },
  "12,000 rows": { bytes: () => json({ structuredContent: { rows } }), ...TIMES },
};

const json = (value) => Buffer.from(JSON.stringify(value));

/** The gate, in turn with `JSON.parse` and `JSON.stringify` of the same. */
export async function gateAlone({ bytes: make, bar, isMet }, rounds) {
  const engine = await gateEngine();
  const bytes = make();
  const text = bytes.toString();
  const times = [];
  for (let round = -2; round < rounds * 3; round += 1) {
    const ours = timed(() => pass(engine, bytes));
    const plain = timed(() => JSON.stringify(JSON.parse(text)));
    if (round >= 0) times.push({ ours, plain });
  }
  const speed = bytes.length / median(times.map(({ ours }) => ours)) / 1e6;
  const ratio = median(times.map(({ ours, plain }) => plain / ours));
  return {
    seen: `${speed.toFixed(2)} GB/s, ${ratio.toFixed(1)} × JSON.parse and JSON.stringify`,
    bar,
    met: isMet({ speed, ratio }),
    speed,
    ratio,
  };
}

/** The core, alone. */
export async function gateEngine() {
  const compiled = await compileSource(readFileSync(new URL("../../dist/core/core.wasm", import.meta.url)));
  return corePool(compiled, "{}").take();
}

/** A document through the gate, in chunks. */
export function pass(engine, bytes) {
  engine.give(call);
  engine.call("begin");
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const chunk = bytes.subarray(at, at + CHUNK);
    engine.call("body", chunk.length).set(chunk);
    engine.call("push", chunk.length);
    if (engine.call("events").length > 0) engine.call("clearEvents");
  }
  engine.call("finish");
  engine.call("clearEvents");
}

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}
