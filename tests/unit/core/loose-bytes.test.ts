/** Bytes of typed blocks that servers write otherwise than in one clean run: what a model is told, and what comes back. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice, NoOpArtifactStore, type Sluice } from "../../../web/src/index.js";

const pdf = (size: number): Buffer => Buffer.concat([Buffer.from("%PDF-1.7\n1 0 obj\n"), randomBytes(size - 17)]);

/** Every place where the protocol says that a string is base64. */
const PLACES = {
  image: (data: string) => ({ content: [{ type: "image", mimeType: "application/pdf", data }] }),
  audio: (data: string) => ({ content: [{ type: "audio", mimeType: "application/pdf", data }] }),
  blob: (blob: string) => ({
    content: [{ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob } }],
  }),
  contents: (blob: string) => ({ contents: [{ uri: "file:///a.pdf", mimeType: "application/pdf", blob }] }),
};

/** Ways to break base64 into lines that no uniform form writes again. */
const BROKEN: Readonly<Record<string, (base64: string) => string>> = {
  "lines of any length": (text) => `${text.slice(0, 70)}\n${text.slice(70, 200)}\n${text.slice(200)}`,
  "single spaces": (text) => text.replace(/.{1,60}/g, "$& ").trim(),
  "lines of many lengths": (text) => text.replace(/.{40}(..)*?[A-M]/g, "$&\r\n"),
  "two widths": (text) => text.slice(0, 760).replace(/.{76}/g, "$&\n") + text.slice(760).replace(/.{64}/g, "$&\n"),
};

async function restored(sluice: Sluice, result: unknown): Promise<unknown> {
  return sluice.restore((await sluice.transform(result, { dialect: "mcp" })).value);
}

const sizes = [300, 1_500, 6_000, 24_000, 150_000];

describe.each(Object.entries(PLACES))("bytes of %s", (_, place) => {
  describe.each(Object.entries(BROKEN))("in %s", (_how, broken) => {
    test.each(sizes)("are one file of %i bytes", async (size) => {
      const bytes = pdf(size);
      const base64 = bytes.toString("base64");
      const result = place(broken(base64));
      const store = new MemoryArtifactStore({ retention: null });
      const sluice = await createSluice({ store });
      for (const dialect of ["observation", "mcp"] as const) {
        const { text, artifacts } = await sluice.transform(result, { dialect });
        const named = artifacts.filter(({ id }) => text.split(/_meta"/)[0]?.includes(id));
        expect(named).toMatchObject([{ mime_type: "application/pdf", size_bytes: size }]);
        expect(Buffer.from((await store.get(named[0]?.id ?? "")) ?? []).equals(bytes)).toBe(true);
        expect(text).not.toContain(base64.slice(0, 30));
      }
      expect(await restored(sluice, result)).toEqual(result);
    });

    test.each(sizes)("of %i bytes are not shown where nothing is stored", async (size) => {
      const base64 = pdf(size).toString("base64");
      const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
      for (const dialect of ["observation", "mcp"] as const) {
        const { text } = await sluice.transform(place(broken(base64)), { dialect });
        expect(text).not.toContain(base64.slice(0, 30));
      }
    });
  });

  test("leave the words around them to be read", async () => {
    const bytes = pdf(1_502);
    const words = "IMPORTANT: page 1 of 3. ";
    const result = place(`${words}${bytes.toString("base64")} The rest is on request.`);
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform(result, { dialect });
      expect(text).toContain(`${words}artifact://${artifacts[0]?.id}`);
      expect(text).toContain(" The rest is on request.");
    }
    expect(await restored(sluice, result)).toEqual(result);
  });

  test("are all named where there are two runs", async () => {
    const result = place(pdf(1_502).toString("base64") + pdf(1_601).toString("base64"));
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform(result, { dialect });
      expect(artifacts).toHaveLength(2);
      for (const { id } of artifacts) expect(text).toContain(`artifact://${id}`);
    }
    expect(await restored(sluice, result)).toEqual(result);
  });
});

test("a configured field of JSON text is stored however it is escaped", async () => {
  const base64 = pdf(60).toString("base64");
  const config = { tool_fields: { t: [{ field_path: "f", content_type: "pdf" }] } };
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
  const values = [`${base64}\n`, `\n${base64}`, base64.replace(/.{20}/g, "$&\n"), 'He said "no" to that.'];
  for (const f of values) {
    const result = { content: [{ type: "text", text: JSON.stringify({ f, n: 1 }) }] };
    const { value, text, artifacts } = await sluice.transform(result, { tool: "t", dialect: "mcp" });
    expect(text).not.toContain(f.trim().slice(0, 20));
    expect(artifacts.some(({ id }) => text.includes(`artifact://${id}`))).toBe(true);
    expect(await sluice.restore(value)).toEqual(result);
  }
});
