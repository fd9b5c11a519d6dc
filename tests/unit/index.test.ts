import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import * as root from "../../web/src/index.js";

const SOURCES = fileURLToPath(new URL("../../web/src/", import.meta.url));

/** The source files that a module pulls in, itself included; names with `#` as browsers resolve them. */
async function reached(entry: string, seen = new Map<string, string>()): Promise<Map<string, string>> {
  if (seen.has(entry)) return seen;
  const source = await readFile(entry, "utf8");
  seen.set(entry, source);
  for (const [, name = ""] of source.matchAll(/^(?:import|export)\b(?! type\b)[^;]*?from "([^"]+)"/gm)) {
    const inBrowsers = name
      .replace("#compile", join(SOURCES, "core/compile-web.js"))
      .replace("#folder", join(SOURCES, "artifacts/folder-web.js"))
      .replace("#hash", join(SOURCES, "artifacts/hash-web.js"))
      .replace("#telemetry", join(SOURCES, "telemetry/api-web.js"))
      .replace("#byte-search", join(SOURCES, "json/byte-search-web.js"));
    if (/^[./]/.test(inBrowsers)) await reached(resolve(dirname(entry), inBrowsers).replace(/\.js$/, ".ts"), seen);
  }
  return seen;
}

test.each(["index.ts", "files.ts"])("%s is fit for browsers: nothing it reaches imports from Node", async (entry) => {
  const sources = await reached(join(SOURCES, entry));
  expect(sources.size).toBeGreaterThan(15);
  for (const [file, source] of sources) {
    if (file.endsWith(".mjs")) continue;
    expect([file, [...source.matchAll(/from "node:[^"]+"|\bBuffer\b|\bprocess\./g)].map(String)]).toEqual([file, []]);
  }
});

test("a result is reduced by three lines", async () => {
  const store = new root.MemoryArtifactStore();
  const sluice = await root.createSluice({ store });
  const pdf = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(4_000, "x")]);
  const { text, artifacts } = await sluice.transform(
    { pdf: pdf.toString("base64") },
    { tool: "download", namespace: "tableau" },
  );
  expect(text).toContain(artifacts[0]?.id);
  expect(Buffer.from((await store.get(artifacts[0]?.id ?? "")) ?? []).equals(pdf)).toBe(true);
});

test("a host's state store brings its artifact store", async () => {
  const artifactStore = new root.MemoryArtifactStore();
  const sluice = await root.createSluice({ stateStore: { artifactStore } });
  const { artifacts } = await sluice.transform({ text: "long ".repeat(10_000) });
  expect(await artifactStore.exists(artifacts[0]?.id ?? "")).toBe(true);
});

test("a configuration's retention holds for its store", async () => {
  const store = new root.MemoryArtifactStore();
  const sluice = await root.createSluice({ store, config: { retention: { max_artifact_bytes: 10_000 } } });
  const { artifacts, failures } = await sluice.transform({ text: "long ".repeat(10_000) });
  expect(failures).toMatchObject([{ code: "E_TOO_LARGE", path: "retention.max_artifact_bytes" }]);
  expect(artifacts).toMatchObject([{ source: { truncated: true, original_size: 50_000 } }]);
  const wrong = root.createSluice({ config: { retention: { ttl_seconds: -1 } } });
  await expect(wrong).rejects.toMatchObject({ code: "E_CONFIG_VALUE", path: "retention.ttl_seconds" });
});

test("without a store it works, and warns on the console", async () => {
  const said: unknown[] = [];
  const { warn } = console;
  console.warn = (...words) => said.push(...words);
  try {
    const sluice = await root.createSluice();
    await sluice.transform("x".repeat(20_000));
  } finally {
    console.warn = warn;
  }
  expect(said).toEqual([expect.stringContaining("no artifact store")]);
});

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

test("every folder of the library has tests of the same name", async () => {
  const tested = await folders(fileURLToPath(new URL(".", import.meta.url)));
  expect(tested).toEqual(expect.arrayContaining(await folders(SOURCES)));
});
