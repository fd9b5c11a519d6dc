/**
 * What a result that needs nothing costs.
 * @module
 */
import { createSluice, MemoryArtifactStore } from "../../dist/node.js";
import { median } from "./measure.mjs";

/** Microseconds added, at most. */
const LIMIT = 60;
const CALLS = 3000;

/** Median time of `transform` on a 2 KB CallToolResult, both dialects; nothing of it is done without Sluice. */
export async function small() {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const rows = Array.from({ length: 24 }, (_, id) => ({
    id,
    name: `workbook ${id}`,
    project: "Analytics",
    owner: "ada",
  }));
  const result = { content: [{ type: "text", text: JSON.stringify({ rows }) }] };
  const medians = {};
  for (const dialect of ["observation", "mcp"]) {
    const times = [];
    for (let call = 0; call < CALLS; call += 1) {
      const start = performance.now();
      await sluice.transform(result, { tool: "list_workbooks", namespace: "tableau", dialect });
      times.push((performance.now() - start) * 1000);
    }
    medians[dialect] = median(times.slice(CALLS / 10));
  }
  const worst = Math.max(...Object.values(medians));
  return {
    seen: `${medians.observation.toFixed(0)} µs observation, ${medians.mcp.toFixed(0)} µs mcp`,
    bar: `< ${LIMIT} µs`,
    met: worst < LIMIT,
    bytes: JSON.stringify(result).length,
    ...medians,
  };
}
