/** Texts and JSON with files in them: what is told of one is what is stored of it. */
import { expect, test } from "vitest";
import type { Dialect } from "../../../web/src/core/sluice.js";
import { createSluice, humanSize, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/index.js";
import { noise } from "../artifacts/noise.js";
import { base64, textResult } from "./samples.js";

/** A file of about `size` bytes, another for each number. */
const file = (number: number, size = 1_500): string =>
  base64(Buffer.concat([Buffer.from("%PDF-1.7\n1 0 obj\n"), noise(size, number + 1)]));

const csv = (count: number): string =>
  `id,data\n${Array.from({ length: count }, (_, id) => `${id},${file(id)}`).join("\n")}`;

test.each([10, 20, 60])(
  "a table of %i files that is short without them stays, with a reference for each",
  async (count) => {
    for (const store of [new MemoryArtifactStore(), new NoOpArtifactStore({ warn: () => undefined })]) {
      const sluice = await createSluice({ store });
      const { text, artifacts } = await sluice.transform(textResult(csv(count)));
      expect(artifacts).toHaveLength(count);
      expect(text).toMatch(/^"id,data\\n0,artifact:\/\//);
      for (const { id } of artifacts) expect(text).toContain(id);
      expect(text).not.toContain("All of it is shown");
    }
  },
);

test.each(["observation", "mcp"] as const)(
  "a stored table has one size wherever it is told: %s",
  async (dialect: Dialect) => {
    const store = new MemoryArtifactStore({ retention: null });
    const sluice = await createSluice({ store });
    const original = textResult(csv(140));
    const { text, value, artifacts } = await sluice.transform(original, { dialect });
    const table = artifacts.find(({ mime_type }) => mime_type === "text/csv");
    const stored = Buffer.from((await store.get(table?.id ?? "")) ?? []);
    expect(table?.size_bytes).toBe(stored.length);
    expect(table?.source["description"]).toMatch(new RegExp(`^CSV, ${humanSize(stored.length)}, 140 rows`));
    expect(text).toContain(`CSV, ${humanSize(stored.length)}, 140 rows`);
    if (dialect === "mcp") expect(await sluice.restore(value)).toEqual(original);
    else {
      const { artifact, preview } = value as { artifact: { size_bytes: number }; preview: string };
      expect(artifact.size_bytes).toBe(stored.length);
      // In a preview a reference has no form.
      expect(stored.toString().replace(/&form=[^\n,]*/g, "")).toContain(preview);
      expect(preview).toMatch(/^id,data\n0,artifact:\/\/.*\n1,artifact:/);
    }
  },
);

test("so has JSON that was collapsed, and a text inside it", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  const log = `${"so it went, ".repeat(1_000)}${file(999)}`;
  const original = { a: Array.from({ length: 200 }, (_, id) => `${id} ${file(id)} ${"and so on ".repeat(40)}`), log };
  const { artifacts, value } = await sluice.transform(original, { dialect: "mcp" });
  expect(await sluice.restore(value)).toEqual(original);
  for (const { id, size_bytes, mime_type, source } of artifacts) {
    const stored = Buffer.from((await store.get(id)) ?? []);
    expect(size_bytes).toBe(stored.length);
    expect(source["description"]).toContain(`, ${humanSize(stored.length)}`);
    for (const [, inner = "", size] of stored
      .toString("latin1")
      .matchAll(/artifact:\/\/([\w-]+)\?type=[^&]*&size=(\d+)/g)) {
      expect((await store.stat(inner))?.size_bytes).toBe(Number(size));
    }
    if (mime_type === "application/json") expect(stored.toString()).toContain("artifact://");
  }
});

test("where nothing is stored, a table says that its files are lost", async () => {
  const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
  const { text } = await sluice.transform(textResult(csv(140)));
  expect(text).not.toContain("All of it is shown.");
  expect(text).toContain("error=not-stored");
});
