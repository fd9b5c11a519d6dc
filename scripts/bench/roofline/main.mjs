/**
 * `npm run bench:roofline`: what the largest result takes at least. Memory, gate, hash, pipe and disk each work alone on the same 64 MiB
 * of bytes; then what the proxy takes for all of it. `--write` puts the table into the documentation.
 * @module
 */
import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gateEngine, pass } from "../gate.mjs";
import { inFolder, keep, markdown, pdfOf, resultOf, writeDown } from "../measure.mjs";
import { Connection, DIRECT } from "../proxy/connection.mjs";
import { compareBytes, piped } from "../proxy/stdio.mjs";

const MEBIBYTES = 64;
const CHUNK = 65_536;

/** What the file store writes at a time. */
const WRITE = 1_048_576;

/** Most of the plain time that the proxy may take. */
const SHARE = 0.33;

const { values } = parseArgs({ options: { quick: { type: "boolean" }, write: { type: "boolean" } } });
const rounds = values.quick ? 3 : 15;

const bytes = pdfOf(MEBIBYTES);
const line = resultOf(bytes);
const engine = await gateEngine();
const copy = Buffer.alloc(line.length);

function inChunks(source, size, use) {
  for (let at = 0; at < source.length; at += size) use(source.subarray(at, at + size), at);
}

let last = 0;
const server = await Connection.open(DIRECT);
const fromPipe = () => piped(server, (last += 1), bytes.length);

let file = "";

function hashed() {
  const hash = createHash("sha256");
  inChunks(bytes, CHUNK, (chunk) => hash.update(chunk));
  return hash.digest("hex");
}

async function written(end) {
  const handle = await open(file, "wx");
  for (let at = 0; at < bytes.length; at += WRITE) await handle.write(bytes, at, Math.min(WRITE, bytes.length - at));
  await end(handle);
}

/** Each part of the work, how many bytes it is about, and whether the proxy cannot do without it. */
const PARTS = {
  memory: {
    what: "the line copied, in 64 KB chunks",
    size: line.length,
    run: () => inChunks(line, CHUNK, (chunk, at) => chunk.copy(copy, at)),
  },
  wasm: {
    what: "the line copied into the core's memory",
    size: line.length,
    run: () => inChunks(line, CHUNK, (chunk) => engine.call("body", chunk.length).set(chunk)),
  },
  pipe: {
    what: "pipe: the line read from the server and thrown away",
    size: line.length,
    isNeeded: true,
    run: fromPipe,
  },
  gate: {
    what: "gate: the line searched and decoded, copy included",
    size: line.length,
    isNeeded: true,
    run: () => pass(engine, line),
  },
  hash: {
    what: "hash: SHA-256 of the bytes",
    size: bytes.length,
    isNeeded: true,
    run: hashed,
  },
  disk: {
    what: "disk: the bytes written to a file, as the store writes them",
    size: bytes.length,
    isNeeded: true,
    run: () => written((handle) => handle.close()),
  },
  durable: {
    what: "the same with fsync, as a durable store",
    size: bytes.length,
    run: () => written((handle) => handle.sync().then(() => handle.close())),
  },
};

/** What each part takes alone in ms, the best of rounds in turn: the least is what is asked for. */
async function alone() {
  const times = Object.fromEntries(Object.keys(PARTS).map((name) => [name, []]));
  for (let round = -2; round < rounds; round += 1) {
    for (const [name, { run }] of Object.entries(PARTS)) {
      globalThis.gc?.();
      const start = performance.now();
      await run();
      if (round >= 0) times[name].push(performance.now() - start);
      // Writers wait once too much has not reached the disk.
      await rm(file, { force: true });
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, Math.min(...all)]));
}

const ms = (value) => value.toFixed(0);

function rowsOf(parts, { ours, plain }) {
  const needed = Object.entries(PARTS).filter(([, { isNeeded }]) => isNeeded);
  const all = needed.map(([name]) => parts[name]);
  const sum = all.reduce((one, other) => one + other, 0);
  const bound = Math.max(...all, sum / 2);
  const row = (work, time, size) => [
    work,
    ms(time),
    size === undefined ? "" : (size / time / 1e6).toFixed(1),
    `${(time / plain).toFixed(2)} ×`,
  ];
  return [
    ...Object.entries(PARTS).map(([name, { what, size }]) => row(what, parts[name], size)),
    row("pipe, gate, hash and disk, one after the other", sum),
    row("the same side by side on two cores: the longest, and no less than half of the sum", bound),
    row("through the proxy", ours),
    row("the plain way: read, `JSON.parse`, `Buffer.from`, SHA-256, nothing written", plain),
  ];
}

const parts = await inFolder((folder) => {
  file = join(folder, "bytes");
  return alone();
});
await server.close();
const { times } = await compareBytes(MEBIBYTES, rounds, SHARE);
const whole = { ours: Math.min(...times.map(({ ours }) => ours)), plain: Math.min(...times.map(({ plain }) => plain)) };
const rows = rowsOf(parts, whole);
const table = markdown(["work", "ms", "GB/s", "of the plain way"], rows, { numbers: true });
console.log(table);
keep("bench-roofline.json", { rounds, parts, ...whole });
if (values.write) writeDown("bench:roofline", table);
