/**
 * The packed package in every runtime, bundler and package manager that it is said to work with: each runs the program
 * `app/runtimes/smoke.js`. They are installed from `runtimes/package.json`, by `npm run test:full`.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { NODE_VERSIONS, nodeFolder } from "./nodes.js";
import { ROUND_TRIP } from "./report.js";
import { ROOT, run } from "./run.js";
import { served } from "./sites.js";

const HERE = join(ROOT, "tests/package/runtimes");
const TOOLS = join(HERE, "node_modules");
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:";

/** What `smoke.js` reports wherever everything works. */
const SMOKE = {
  result: ROUND_TRIP,
  mcp: { name: "far.report", isError: false, named: true, stored: true },
  http: { name: "far.report", isError: false, named: true, stored: true },
  local: { answer: "done", short: true, stored: true },
  gate: "function",
};

const app = inject("app");
let browser: Browser | undefined;

/** Runs a program in the app's folder; gives the JSON that it prints. */
async function printed(program: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(program, args, { cwd: app });
  return JSON.parse(stdout);
}

const node = (version: string) => async (): Promise<unknown> =>
  printed(join(await nodeFolder(version), "node"), "runtimes/program.js");

/** The program of Bun for this machine: its own package gets it from a script, and scripts are not run. */
async function bun(): Promise<string> {
  const [folder = ""] = (await readdir(join(TOOLS, "@oven"))).filter((name) => name.startsWith("bun-"));
  return join(TOOLS, "@oven", folder, "bin", "bun");
}

async function bundle(name: string): Promise<void> {
  await run(process.execPath, ["bundlers.mjs", name, app], { cwd: HERE });
}

/** What the page reports in Chromium, under a content security policy, once a bundler has made it. */
const bundled = (name: string) => async (): Promise<unknown> => {
  await bundle(name);
  const site = await served(join(app, "built", name), POLICY);
  browser ??= await launchChromium();
  const page = await browser.newPage();
  try {
    await page.goto(site.url);
    return JSON.parse((await page.locator("output:not(:empty)").textContent()) ?? "") as unknown;
  } finally {
    await page.close();
    await site.close();
  }
};

async function inWorkerd(): Promise<unknown> {
  await bundle("workerd");
  return printed(process.execPath, join(TOOLS, "workerd/bin/workerd"), "test", "runtimes/workerd.capnp");
}

/** What the page says that Next.js makes while it builds. */
async function prerendered(): Promise<unknown> {
  const root = join(app, "runtimes/next");
  await mkdir(join(root, "node_modules"), { recursive: true });
  for (const name of ["next", "react", "react-dom"]) await symlink(join(TOOLS, name), join(root, "node_modules", name));
  await run(process.execPath, [join(TOOLS, "next/dist/bin/next"), "build"], { cwd: root });
  const html = await readFile(join(root, ".next/server/app/index.html"), "utf8");
  const [, text = ""] = /<output>(.*?)<\/output>/.exec(html) ?? [];
  return JSON.parse(text.replaceAll("&quot;", '"'));
}

/** Renders once, while it is built: nobody reads a document then. */
const PRERENDERED = "Next.js, prerendered";

/** Reading documents starts a process of its own. */
const DENO = ["run", "--no-prompt", "--allow-read", "--allow-run", "--allow-env"];

/** What is read where documents and tables are tried too. */
const DOCUMENTS = { page: true, picture: true, html: true, table: true };

/** Where the package works, and what is reported there. */
const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  ...Object.fromEntries(NODE_VERSIONS.map((version) => [`Node ${version}`, node(version)])),
  Bun: async () => printed(await bun(), "runtimes/program.js"),
  Deno: () => printed(process.execPath, join(TOOLS, "deno/bin.cjs"), ...DENO, "runtimes/program.js"),
  "Cloudflare's workerd": inWorkerd,
  "Vite 7": bundled("vite-7"),
  "Vite 8": bundled("vite-8"),
  webpack: bundled("webpack"),
  esbuild: bundled("esbuild"),
  Rollup: bundled("rollup"),
  [PRERENDERED]: prerendered,
};

afterAll(() => browser?.close());

test.each(Object.entries(WAYS))("%s", { timeout: 300_000 }, async (name, report) => {
  expect(await report()).toEqual(name === PRERENDERED ? SMOKE : { ...SMOKE, documents: DOCUMENTS });
});

test("the app has no pdfjs-dist, which bundlers are not to miss", () => {
  expect(existsSync(join(app, "node_modules/pdfjs-dist"))).toBe(false);
});

/** Packages see only what they name as their dependencies. */
describe("pnpm", () => {
  const strict = join(app, "..", "strict");

  beforeAll(async () => {
    const { peerDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      peerDependencies: Readonly<Record<string, string>>;
    };
    await mkdir(strict);
    await cp(join(app, "runtimes/every-entry.js"), join(strict, "every-entry.js"));
    const dependencies = { ...peerDependencies, "mcp-sluice": `file:${inject("tarball")}` };
    await writeFile(join(strict, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
    const store = join(ROOT, "build/pnpm-store");
    const args = ["install", "--store-dir", store, "--prefer-offline", "--ignore-scripts"];
    await run(process.execPath, [join(TOOLS, "pnpm/bin/pnpm.mjs"), ...args], { cwd: strict });
  }, 300_000);

  test("every entry loads", async () => {
    const { stdout } = await run(process.execPath, ["every-entry.js", "./ui"], { cwd: strict });
    const report = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    expect(Object.keys(report).length).toBeGreaterThan(10);
    expect(Object.entries(report).filter(([, loads]) => loads !== true)).toEqual([]);
  });

  test("the elements load where there is no page", async () => {
    const { stdout } = await run(
      process.execPath,
      ["-e", 'import("mcp-sluice/ui").then((ui) => console.log(typeof ui.configurePdf))'],
      { cwd: strict },
    );
    expect(stdout).toBe("function\n");
  });
});
