import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { wrapClient } from "../../../web/src/mcp/wrap-client.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a listener that throws costs no answer, and is told of the next event", async () => {
  const told: string[] = [];
  const server = {
    callTool: async (_params: object) => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  };
  const client = wrapClient(server, {
    store: new MemoryArtifactStore(),
    onEvent: ({ kind }) => {
      told.push(kind);
      throw new Error("the listener's own");
    },
  });
  for (const name of ["one", "two"]) {
    expect(JSON.stringify(await client.callTool({ name }))).toContain("PNG image, 1 × 1");
  }
  expect(told).toEqual(["stored", "stored"]);
});
