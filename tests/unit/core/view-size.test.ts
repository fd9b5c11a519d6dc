/** What a model reads of a result is never more than what was sent, but for the two reasons that docs/concepts.md gives. */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";

/** Characters of a reference to bytes with its sentence: what replaces an image that is shorter than this. */
const REFERENCE = 140;

/** Characters by which an observation says of a link how it is opened. */
const HINT = 110;

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
});

const PNG = "89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61";
const bytes = fc.uint8Array({ maxLength: 3000 }).map((noise) => Buffer.from(noise));
const pictures = bytes.map((noise) => Buffer.concat([Buffer.from(PNG, "hex"), noise]));
const words = fc
  .tuple(fc.string({ maxLength: 24, unit: "grapheme" }), fc.integer({ min: 0, max: 1500 }))
  .map(([word, times]) => word.repeat(times));
const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 700 });
const embedded = (resource: object): object => ({ type: "resource", resource: { uri: "x://a", ...resource } });

/** A block of each kind. */
const blocks = fc.oneof(
  words.map((text) => ({ type: "text", text })),
  pictures.map((data) => ({ type: "text", text: data.toString("base64") })),
  pictures.map((data) => ({ type: "text", text: `see data:image/png;base64,${data.toString("base64")} here` })),
  fc.json({ maxDepth: 4 }).map((text) => ({ type: "text", text })),
  numbers.map((list) => ({ type: "text", text: JSON.stringify({ list }) })),
  pictures.map((data) => ({ type: "image", mimeType: "image/png", data: data.toString("base64") })),
  bytes.map((data) => ({ type: "audio", mimeType: "audio/wav", data: data.toString("base64") })),
  words.map((text) => embedded({ mimeType: "text/plain", text })),
  words.map((text) => embedded({ mimeType: "text/plain", blob: Buffer.from(text).toString("base64") })),
  bytes.map((data) => embedded({ mimeType: "application/octet-stream", blob: data.toString("base64") })),
  fc.webUrl().map((uri) => ({ type: "resource_link", uri, name: "a" })),
);
const structures = fc.option(
  fc.oneof(
    numbers.map((list) => ({ list })),
    bytes.map((data) => ({ list: [...data] })),
    words.map((text) => ({ text })),
  ),
  { nil: undefined },
);

/** What a model reads of a result: the list that restores it is for programs. */
async function readAs(dialect: "mcp" | "observation", result: object): Promise<string> {
  const { text } = await sluice.transform(result, { tool: "t", namespace: "n", dialect });
  if (dialect === "observation") return text;
  const { _meta, ...read } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(read);
}

test.each(["mcp", "observation"] as const)("no view in %s is larger than the result", async (dialect) => {
  await fc.assert(
    fc.asyncProperty(fc.array(blocks, { maxLength: 4 }), structures, async (content, structuredContent) => {
      const result = { content, ...(structuredContent !== undefined && { structuredContent }) };
      const links = content.filter((block) => "type" in block && block.type === "resource_link").length;
      const most = JSON.stringify(result).length + REFERENCE * (content.length + 1) + HINT * links;
      expect((await readAs(dialect, result)).length).toBeLessThanOrEqual(most);
    }),
    { numRuns: 300 },
  );
});

test.each([200, 1000, 3000])("bytes, texts and numbers of %i characters and more only shrink", async (size) => {
  const noise = Buffer.from(Array.from({ length: size }, (_, at) => (at * 7919) % 251));
  const data = Buffer.concat([Buffer.from(PNG, "hex"), noise]).toString("base64");
  const text = "word ".repeat(size / 5);
  for (const block of [
    { type: "text", text },
    { type: "text", text: data },
    { type: "text", text: `see data:image/png;base64,${data} here` },
    { type: "image", mimeType: "image/png", data },
    { type: "audio", mimeType: "audio/wav", data },
    embedded({ mimeType: "application/octet-stream", blob: data }),
    embedded({ mimeType: "text/plain", blob: Buffer.from(text).toString("base64") }),
    embedded({ mimeType: "text/plain", text }),
  ]) {
    const result = { content: [block] };
    for (const dialect of ["mcp", "observation"] as const) {
      expect((await readAs(dialect, result)).length).toBeLessThanOrEqual(JSON.stringify(result).length);
    }
  }
});
