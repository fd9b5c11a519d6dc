/** The elements in an app without `pdfjs-dist`: no bundler looks for it, or has anything else to say. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import esbuild from "esbuild";
import { rollup } from "rollup";
import { build, createLogger } from "vite";
import webpack from "webpack";
import { beforeAll, expect, inject, test } from "vitest";

const app = join(inject("app"), "bundled");
const entry = join(app, "page.js");
const elements = join(inject("app"), "node_modules/mcp-sluice/dist/ui/index.js");

beforeAll(async () => {
  await mkdir(app);
  await writeFile(
    entry,
    'import { SluiceViewer } from "mcp-sluice/ui";\n\ndocument.body.append(new SluiceViewer());\n',
  );
});

/** What Vite says. */
async function vite(): Promise<string[]> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  await build({
    root: app,
    configFile: false,
    logLevel: "warn",
    customLogger: { ...createLogger("warn"), warn: say, warnOnce: say, error: say },
    build: { write: false, chunkSizeWarningLimit: 10_000, rolldownOptions: { input: entry } },
  });
  return said;
}

/** What webpack says. That some chunks are large is known. */
async function webpacked(): Promise<string[]> {
  const compiler = webpack({
    mode: "production",
    context: app,
    entry,
    output: { path: join(app, "webpack") },
    performance: false,
  });
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    compiler.run((error, result) => (error === null ? resolve(result) : reject(error)));
  });
  const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
  return [...errors, ...warnings].map(({ message }) => message);
}

/** What esbuild says. */
async function esbuilt(): Promise<string[]> {
  const { errors, warnings } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: "esm",
    outdir: join(app, "esbuild"),
    write: false,
    logLevel: "silent",
  });
  return [...errors, ...warnings].map(({ text }) => text);
}

/** What Rollup says. Without a plugin it resolves paths alone. */
async function rolledUp(): Promise<string[]> {
  const said: string[] = [];
  const bundle = await rollup({ input: elements, onLog: (_, { message }) => void said.push(message) });
  await bundle.generate({ format: "es" });
  await bundle.close();
  return said;
}

test("the app has no pdfjs-dist", () => {
  expect(existsSync(join(inject("app"), "node_modules/pdfjs-dist"))).toBe(false);
});

test.each([
  ["Vite", vite],
  ["webpack", webpacked],
  ["esbuild", esbuilt],
  ["Rollup", rolledUp],
])(
  "%s bundles them, and says nothing",
  async (_, bundled) => {
    expect(await bundled()).toEqual([]);
  },
  120_000,
);
