/** Documents in a browser: converted in a web worker, which is ended when its time is over. */
import { describe, expect, test } from "vitest";
import { type ArtifactToolResult, createSluice, MemoryArtifactStore } from "mcp-sluice";
import { wrapClient } from "mcp-sluice/mcp";
import { pdfOf } from "../support/pdf.js";

const encoder = new TextEncoder();

type Block = ArtifactToolResult["content"][number];

async function blocks(bytes: Uint8Array, filename: string, mime_type: string, args: object): Promise<readonly Block[]> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putBytes(bytes, { filename, mime_type, namespace: "ns" });
  const sluice = await createSluice({ store });
  const [reader] = sluice.tools({ namespace: "ns", clientShowsImages: true });
  const result = await reader?.call({ uri: `artifact://${id}`, ...args });
  return result?.content ?? [];
}

async function asked(...input: Parameters<typeof blocks>): Promise<string> {
  return (await blocks(...input)).map((block) => (block.type === "text" ? block.text : block.mimeType)).join("\n");
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

describe("PDF", () => {
  const report = pdfOf([
    { lines: ["Harbour report"], title: "Start" },
    { lines: ["The crane stands still."], title: "Cranes" },
  ]);

  test("is read by pages, with its outline, in a worker that is ended", async () => {
    expect(await asked(report, "a.pdf", "application/pdf", { pages: "2" })).toContain("The crane stands still.");
    expect(await asked(report, "a.pdf", "application/pdf", {})).toMatch(/2 pages[^]*Cranes/);
  });

  test("a page is a picture", async () => {
    const [text, image] = await blocks(report, "a.pdf", "application/pdf", { as: "image", pages: "2" });
    expect(text).toMatchObject({ text: expect.stringContaining("page 2, as 1212 × 1568 pixels") });
    expect(await inkOf(image)).toBeGreaterThan(1000);
  });

  test("is read as a resource, too, behind a client of MCP", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putBytes(report, { mime_type: "application/pdf", namespace: "ns" });
    const server = { readResource: (_: object) => Promise.reject<object>(new Error("The server was asked.")) };
    const client = wrapClient(server, { store, namespace: "ns" });
    expect(await client.readResource({ uri: `artifact://${id}?pages=2` })).toMatchObject({
      contents: [{ text: expect.stringContaining("The crane stands still.") }],
    });
  });
});

/** How many pixels of a picture are dark. */
async function inkOf(block: Block | undefined): Promise<number> {
  if (block?.type !== "image") return 0;
  const bytes = Uint8Array.from(atob(block.data), (char) => char.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d") as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  return data.filter((value, at) => at % 4 === 0 && value < 128).length;
}
