/**
 * `npm run bench:doors`: what is promised about the proxy and the transports. `--quick` takes fewer rounds, and leaves
 * out the SDKs over stdio, which take a minute each.
 * @module
 */
import { report } from "../report.mjs";
import { compareHttp } from "./http.mjs";
import { compareBytes, compareSdk, inFlight, memory, smallCall } from "./stdio.mjs";

const quick = process.argv.includes("--quick");
const rounds = quick ? 3 : 9;

const steps = [
  { work: "64 MiB over stdio, stored and hashed", measure: () => compareBytes(64, rounds) },
  { work: "memory at 64 MiB", measure: () => memory(64) },
  { work: "memory at 256 MiB", measure: () => memory(256) },
  { work: "memory at 1 GiB", measure: () => memory(1024) },
  { work: "64 MiB over HTTP, SDK v1", measure: () => compareHttp(1, 64, quick ? 1 : 3) },
  { work: "64 MiB over HTTP, SDK v2", measure: () => compareHttp(2, 64, quick ? 1 : 3) },
  { work: "a call of 1 KB", measure: () => smallCall(quick ? 3 : 5) },
  { work: "1,000 calls in flight", measure: () => inFlight(1000) },
];
const sdks = [
  { work: "64 MiB over stdio, SDK v1 with its cap raised", measure: () => compareSdk(1, 64) },
  { work: "64 MiB over stdio, SDK v2 with its cap raised", measure: () => compareSdk(2, 64) },
];

await report("bench-doors.json", rounds, quick ? steps : [...steps, ...sdks]);
