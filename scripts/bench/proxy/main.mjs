/**
 * `npm run bench:proxy`: the targets of the proxy and the transports. `--quick` runs fewer rounds and leaves out the SDKs over stdio,
 * which take a minute each. `--write` puts the table into the documentation.
 * @module
 */
import { createServer } from "node:http";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { inFolder, median, report, reportTable, writeDown } from "../measure.mjs";
import { answerOf } from "./answers.mjs";
import { apart } from "./sdk.mjs";
import { compareBytes, comparePipe, compareSdk, inFlight, memory, ownStart, smallCall } from "./stdio.mjs";

/** Most memory of the bare client that ours may take, and how many times as fast it has to be. */
const SHARE = 1 / 3;
const FASTER = 2;

/** All in turn. Time is from the call to the result; memory is the most that the process had. */
async function compareHttp(version, mebibytes, rounds) {
  const server = await serve();
  const url = `http://127.0.0.1:${server.address().port}/mcp`;
  const seen = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await apart("http", version, mebibytes, url, "false", "");
    const gated = await inFolder((folder) => apart("http", version, mebibytes, url, "true", folder));
    seen.push({ bare, gated, read: await apart("read", mebibytes, url) });
  }
  server.close();
  const ratio = median(seen.map(({ bare, gated }) => bare.time / gated.time));
  const share = median(seen.map(({ bare, gated }) => gated.peak / bare.peak));
  const of = (which, what) => median(seen.map((each) => each[which][what])).toFixed(0);
  return {
    seen: `${ratio.toFixed(1)} × faster (${of("gated", "time")} ms against ${of("bare", "time")} ms; reading alone takes ${of("read", "time")} ms), ${share.toFixed(2)} × the memory (${of("gated", "peak")} MB against ${of("bare", "peak")} MB)`,
    bar: `≥ ${FASTER} × faster, ≤ 0.33 × the memory`,
    met: ratio >= FASTER && share <= SHARE,
    rounds: seen,
  };
}

async function serve() {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function answer(request, response) {
  if (request.method !== "POST") return response.writeHead(405).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
  if (id === undefined) return response.writeHead(202).end();
  response.writeHead(200, { "content-type": "application/json" });
  for (const piece of answerOf(id, method, params)) if (!response.write(piece)) await once(response, "drain");
  return response.end();
}

const { quick, write } = parseArgs({ options: { quick: { type: "boolean" }, write: { type: "boolean" } } }).values;
const rounds = quick ? 3 : 9;

const steps = [
  { work: "64 MiB over stdio, stored and hashed", measure: () => compareBytes(64, rounds, 0.33) },
  { work: "16 MiB over stdio", measure: () => compareBytes(16, rounds, 0.4) },
  { work: "256 MiB over stdio", measure: () => compareBytes(256, 3, 0.25) },
  { work: "1 GiB over stdio", measure: () => comparePipe(1024, 3) },
  { work: "memory at 64 MiB", measure: () => memory(64) },
  { work: "memory at 256 MiB", measure: () => memory(256) },
  { work: "memory at 1 GiB", measure: () => memory(1024) },
  { work: "64 MiB over HTTP, SDK v1", measure: () => compareHttp(1, 64, quick ? 1 : 3) },
  { work: "64 MiB over HTTP, SDK v2", measure: () => compareHttp(2, 64, quick ? 1 : 3) },
  { work: "a call of 1 KB", measure: () => smallCall(quick ? 3 : 5) },
  { work: "start of the proxy", measure: () => ownStart(rounds) },
  { work: "1,000 calls in flight", measure: () => inFlight(1000) },
];
const sdks = [
  { work: "64 MiB over stdio, SDK v1 with its cap raised", measure: () => compareSdk(1, 64) },
  { work: "64 MiB over stdio, SDK v2 with its cap raised", measure: () => compareSdk(2, 64) },
];

const rows = await report("bench-proxy.json", rounds, quick ? steps : [...steps, ...sdks]);
if (write) writeDown("bench:proxy", reportTable(rows));
