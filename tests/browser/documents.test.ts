/** Documents in a browser: converted in a web worker, which is ended when its time is over. */
import { expect, test } from "vitest";
import { createSluice, MemoryArtifactStore } from "mcp-sluice";

const encoder = new TextEncoder();

async function asked(bytes: Uint8Array, filename: string, mime_type: string, args: object): Promise<string> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putBytes(bytes, { filename, mime_type, namespace: "ns" });
  const sluice = await createSluice({ store });
  const [reader] = sluice.tools({ namespace: "ns", clientShowsImages: true });
  const result = await reader?.call({ uri: `artifact://${id}`, ...args });
  return result?.content.map((block) => (block.type === "text" ? block.text : block.mimeType)).join("\n") ?? "";
}

test("HTML is read as text in a worker", async () => {
  const html = encoder.encode("<h1>News</h1><p>The <b>harbour</b> opens.</p>");
  expect(await asked(html, "a.html", "text/html", { as: "text", lines: "1-3" })).toContain(
    "# News\n\nThe harbour opens.",
  );
});

test("a table is queried", async () => {
  const csv = encoder.encode("city,amount\nBern,3\nOslo,5\nBern,4\n");
  const query = "SELECT city, SUM(amount) AS total FROM rows GROUP BY city ORDER BY city";
  expect(await asked(csv, "a.csv", "text/csv", { query })).toContain("city,total\nBern,7\nOslo,5");
});

test("a large image is scaled down by the browser's own canvas", async () => {
  const canvas = new OffscreenCanvas(3000, 1500);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const pixels = context.createImageData(3000, 1500);
  for (let at = 0; at < pixels.data.length; at += 65_536) {
    crypto.getRandomValues(pixels.data.subarray(at, Math.min(pixels.data.length, at + 65_536)));
  }
  context.putImageData(pixels, 0, 0);
  const png = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  expect(await asked(png, "a.png", "image/png", { as: "image" })).toMatch(/1568 × 784 pixels.*\nimage\/jpeg$/s);
});

test("PDF says where it is read", async () => {
  const pdf = encoder.encode("%PDF-1.4\n");
  expect(await asked(pdf, "a.pdf", "application/pdf", {})).toContain("PDF is read where Sluice runs in Node");
});
