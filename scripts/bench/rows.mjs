/**
 * Many small values: reduced, against parsed and written again.
 * @module
 */
import { createSluice, MemoryArtifactStore } from "../../dist/node.js";
import { median } from "./measure.mjs";

/** 12,000 rows (0.9 MB, no long strings) through the gate, against `JSON.parse` and `JSON.stringify` of the same. */
export async function rows(rounds) {
  const table = Array.from({ length: 12_000 }, (_, id) => ({
    id,
    name: `item number ${id}`,
    unit: "piece",
    v: id / 7,
  }));
  const bytes = new TextEncoder().encode(JSON.stringify({ structuredContent: { rows: table } }));
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const decoder = new TextDecoder();
  const times = [];
  for (let round = -2; round < rounds * 5; round += 1) {
    const start = performance.now();
    const stream = sluice.open({ namespace: "bench" });
    await stream.write(bytes);
    await stream.close();
    const middle = performance.now();
    JSON.stringify(JSON.parse(decoder.decode(bytes)));
    if (round >= 0) times.push({ ours: middle - start, plain: performance.now() - middle });
  }
  const ratio = median(times.map(({ ours, plain }) => plain / ours));
  return {
    seen: `${ratio.toFixed(2)} × faster (${median(times.map(({ ours }) => ours)).toFixed(1)} ms)`,
    bar: "> 1 ×",
    met: ratio > 1,
    bytes: bytes.length,
    ratio,
  };
}
