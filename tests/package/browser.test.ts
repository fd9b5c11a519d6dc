/** The installed package in real Chromium, under a content security policy: as Vite builds it, and as Vite serves it. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { build, createServer, type InlineConfig } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium, recordComplaints } from "../support/chromium.js";
import { ROUND_TRIP } from "./report.js";
import { projectOf, served, siteOf, type Site } from "./sites.js";

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const app = inject("app");

/** What a page said while it ran, apart from its report. */
interface Visit {
  readonly report: Readonly<Record<string, unknown>>;
  readonly complaints: readonly string[];
  readonly fetched: readonly string[];
}

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** Opens a page as a new user, and waits for its report. */
async function visit(url: string): Promise<Visit> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints = recordComplaints(page);
  const fetched: string[] = [];
  context.on("response", (response) => {
    fetched.push(`${response.status()} ${new URL(response.url()).pathname} ${response.headers()["content-type"]}`);
  });
  await page.goto(url);
  const report = JSON.parse((await page.locator("output:not(:empty)").textContent()) ?? "") as Visit["report"];
  await context.close();
  return { report, complaints, fetched };
}

const UNDER_THE_POLICY = { ...ROUND_TRIP, violations: [] };
const EVERYWHERE = {
  page: UNDER_THE_POLICY,
  worker: UNDER_THE_POLICY,
  serviceWorker: UNDER_THE_POLICY,
  coreByUrl: ROUND_TRIP,
};

/** The app, and no other that is beneath it. */
function withPolicy(policy: string): InlineConfig {
  return { ...projectOf(app, policy), optimizeDeps: { entries: ["index.html"] } };
}

describe("built by Vite", () => {
  beforeAll(() =>
    build({
      ...withPolicy(POLICY),
      build: {
        rolldownOptions: {
          input: { index: join(app, "index.html"), "service-worker": join(app, "service-worker.js") },
          // A service worker has its address by its place: the root, without a hash.
          output: {
            entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js"),
          },
        },
      },
    }),
  );
  afterAll(() => rm(join(app, "dist"), { recursive: true, force: true }));

  describe("and served under script-src 'self' 'wasm-unsafe-eval'", () => {
    let site: Site;
    let seen: Visit;
    beforeAll(async () => {
      site = await served(app, POLICY);
      seen = await visit(site.url);
    });
    afterAll(() => site.close());

    test("works on the page, in a worker and in a service worker, without a complaint", () => {
      const { report, complaints } = seen;
      expect(report).toEqual(EVERYWHERE);
      expect(complaints).toEqual([]);
    });

    test("fetches the core, and what tells facts of PDFs, as assets of the build, compiled while they arrive", () => {
      const { fetched } = seen;
      const modules = fetched.filter((line) => line.includes(".wasm"));
      for (const line of modules) expect(line).toMatch(/^200 \/assets\/(?:core|pdf)-[\w-]+\.wasm application\/wasm$/);
      for (const name of ["core", "pdf"]) expect(modules.join("\n")).toContain(`/assets/${name}-`);
    });

    test("the policy holds in all three: none of them can make code from a string", async () => {
      const { report } = await visit(`${site.url}?code from a string`);
      for (const place of ["page", "worker", "serviceWorker"]) {
        expect([place, report[place]]).toEqual([place, expect.objectContaining({ name: "EvalError" })]);
      }
    });
  });

  test("where the policy forbids WebAssembly, the error says that the core could not be loaded", async () => {
    const site = await served(app, "default-src 'self'");
    try {
      const { report } = await visit(site.url);
      expect(report["page"]).toMatchObject({
        code: "E_CORE_LOAD",
        cause: expect.stringContaining("Content Security Policy"),
      });
      expect(report["worker"]).toMatchObject({ code: "E_CORE_LOAD" });
    } finally {
      await site.close();
    }
  });
});

describe("served by Vite while one develops", () => {
  let site: Site;
  let seen: Visit;
  beforeAll(async () => {
    const server = await createServer(withPolicy(POLICY));
    await server.listen();
    site = siteOf(server);
    seen = await visit(site.url);
  });
  afterAll(() => site.close());

  test("works on the page, in a worker and in a service worker, without a complaint", () => {
    const { report, complaints } = seen;
    expect(report).toEqual(EVERYWHERE);
    expect(complaints).toEqual([]);
  });

  test("fetches the core from the package, though the package itself was bundled beforehand", () => {
    const { fetched } = seen;
    expect(fetched.some((line) => line.includes("/.vite/deps/mcp-sluice.js"))).toBe(true);
    expect(fetched).toContain("200 /node_modules/mcp-sluice/dist/core/core.wasm application/wasm");
  });
});
