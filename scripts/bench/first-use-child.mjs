/** What `first-use.mjs` measures. */
const start = performance.now();
const { createSluice, MemoryArtifactStore } = await import("../../dist/node.js");
const sluice = await createSluice({ store: new MemoryArtifactStore() });
await sluice.transform({ content: [{ type: "text", text: "hello" }] }, { tool: "greet" });
console.log(JSON.stringify({ time: performance.now() - start }));
