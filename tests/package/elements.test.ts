/** The elements on a page without a bundler, as their page in the documentation shows it; in the frameworks of the examples; on a server. */
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import type { Browser } from "playwright-core";
import { compile as compileSvelte } from "svelte/compiler";
import type { Plugin } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { compileScript, parse } from "vue/compiler-sfc";
import { bundle } from "../../scripts/bundle.mjs";
import { launchChromium, recordComplaints } from "../support/chromium.js";
import { ROOT, run } from "./run.js";
import { projectOf, served, type Site } from "./sites.js";

const app = inject("app");
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

let browser: Browser;
let server: Server;

beforeAll(async () => {
  const [, example = ""] = /```html\n([\s\S]*?)```/.exec(await readFile(join(ROOT, "docs/elements.md"), "utf8")) ?? [];
  await writeFile(join(app, "elements.html"), example);
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    readFile(join(app, path)).then(
      (bytes) => response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream").end(bytes),
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  server.close();
});

test("the example of the documentation shows a card, and the table in it", async () => {
  const page = await browser.newPage();
  const complaints = recordComplaints(page, { isStrict: true });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/elements.html`);
  await page.locator("sluice-artifact").getByText("cities.csv").first().waitFor();
  await page.locator("sluice-viewer").getByText("717710").waitFor();
  expect(complaints).toEqual([]);
});

test("a server imports them, twice if it has to, and has no DOM of them", async () => {
  const program = `
    const elements = await import("mcp-sluice/ui");
    const again = await import(import.meta.resolve("mcp-sluice/ui") + "?again");
    const dom = ["customElements", "HTMLElement", "document", "window"].filter((name) => globalThis[name] !== undefined);
    console.log(JSON.stringify([Object.keys(elements), again.SluiceMeter !== elements.SluiceMeter, dom]));
  `;
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: app });
  expect(stderr).toBe("");
  const names: unknown = expect.arrayContaining(["SluiceArtifact", "SluiceMeter", "SluiceViewer"]);
  expect(JSON.parse(stdout)).toEqual([names, true, []]);
});

test("a page that loads them twice, as two parts of an app may, keeps those of the first time", async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/elements.html`);
  // As text: Vitest rewrites imports in functions.
  const isFirst = await page.evaluate(`(async () => {
    const path = "/node_modules/mcp-sluice/dist/ui/index.js";
    const [first] = [await import(path), await import(path + "?again")];
    return customElements.get("sluice-meter") === first.SluiceMeter;
  })()`);
  expect(isFirst).toBe(true);
});

describe("one whole file", () => {
  const root = join(app, "elements");
  const FRAMEWORKS = ["react", "react-dom", "vue", "svelte"];

  /** What shows each of them, as its README says. */
  const MAINS = {
    react: `
      import { createElement } from "react";
      import { createRoot } from "react-dom/client";
      import { Cities } from "./Cities.tsx";
      createRoot(document.querySelector("#app")).render(createElement(Cities));`,
    vue: `
      import { createApp } from "vue";
      import Cities from "./Cities.vue";
      createApp(Cities).mount("#app");`,
    svelte: `
      import { mount } from "svelte";
      import Cities from "./Cities.svelte";
      mount(Cities, { target: document.querySelector("#app") });`,
  };

  /** What the plugins of Vite for Vue and Svelte do, by the compilers that they call. */
  const compilers: Plugin = {
    name: "compilers",
    enforce: "pre",
    transform(code, id) {
      if (id.endsWith(".svelte")) return { code: compileSvelte(code, { filename: id }).js.code, map: null };
      if (!id.endsWith(".vue")) return null;
      const isCustomElement = (tag: string): boolean => tag.startsWith("sluice-");
      const { descriptor } = parse(code, { filename: id, templateParseOptions: { isCustomElement } });
      const { content } = compileScript(descriptor, { id, inlineTemplate: true });
      return { code: content, map: null, moduleType: "ts" };
    },
  };

  let site: Site;

  beforeAll(async () => {
    await cp(join(ROOT, "examples/elements"), root, { recursive: true });
    await mkdir(join(root, "node_modules"));
    for (const name of FRAMEWORKS) await symlink(join(ROOT, "node_modules", name), join(root, "node_modules", name));
    for (const [name, main] of Object.entries(MAINS)) {
      await writeFile(join(root, `${name}.js`), main);
      const page = `<!doctype html><div id="app"></div><script type="module" src="./${name}.js"></script>`;
      await writeFile(join(root, `${name}.html`), page);
    }
    await bundle({
      ...projectOf(root, ""),
      plugins: [compilers],
      define: {
        __VUE_OPTIONS_API__: true,
        __VUE_PROD_DEVTOOLS__: false,
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: false,
      },
      build: { rolldownOptions: { input: Object.keys(MAINS).map((name) => join(root, `${name}.html`)) } },
    });
    site = await served(root, "default-src 'self'; style-src 'self'; img-src blob:");
  });
  afterAll(() => site.close());

  test.each(Object.keys(MAINS))("in %s shows a card, whose preview is a table", async (name) => {
    const page = await browser.newPage();
    const complaints = recordComplaints(page, { isStrict: true });
    await page.goto(`${site.url}${name}.html`);
    await page.locator("sluice-artifact").getByText("cities.csv").first().waitFor();
    expect(await page.locator("sluice-viewer").count()).toBe(0);
    await page.getByRole("button", { name: /^Preview/ }).click();
    await page.locator("sluice-viewer").getByText("717710").waitFor();
    expect(complaints).toEqual([]);
  });
});
