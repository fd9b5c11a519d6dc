/**
 * The playground as a static site, in `build/site`: from any sub-path, without a server of its own; and as a package of its own
 * in `build/playground`, for `sluice serve`.
 * @module
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { bundleBy } from "./bundle.mjs";
import { licencesOf, listed } from "./packages-in.mjs";
import { root } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { makePictures } from "./site-pictures.mjs";

/** Where the site is built. */
export const SITE = join(root, "build/site");

/** Where tests say that the site is served, for what other pages show of a link to it. */
export const TEST_URL = "https://sluice.example/play/";

/** Its package: `npm pack` and `npm publish` take this folder. */
export const PLAYGROUND = join(root, "build/playground");

/** Where the command finds it in the checkout, as it does where both are installed. */
const LINK = join(root, "node_modules/mcp-sluice-playground");

/** Where it is served; the next one that is free where it is not. */
const PORT = 4750;

/** What only a few PDFs need: kept when it is asked for, not before, and not in the package. */
const RARE = /^pdf\/(?:cmaps|iccs)\//;

/** What a visitor waits for who asks for it: a megabyte that nobody else should load. */
const ASKED_FOR = /^assets\/tokenizer-/;

/** What the site has beside the page, for whoever reads: not kept for when there is no network, and not in the package. */
const BESIDE = /^(?:docs(?:\/|$)|preview\.png$)/;

/**
 * Builds the site from `dist/`, which has to be there.
 * @param {{ url?: string, docs?: string }} [options] where it will be served, for the pictures of links; a folder of documentation
 */
export async function buildSite({ url, docs } = {}) {
  rmSync(join(root, "build/packages"), { recursive: true, force: true });
  await bundleBy("web/playground/vite.config.ts");
  await addPictures(url);
  if (docs !== undefined) {
    cpSync(docs, join(SITE, "docs"), { recursive: true });
    addTags([["name", "sluice-docs", "./docs/index.html"]]);
  }
  await bundleBy("web/playground/sw.config.ts", { define: { "self.__WB_MANIFEST": JSON.stringify(precached()) } });
  writeLicences();
  writePackage();
}

/** What comes along by itself, without being imported. */
const COPIED = ["pdfjs-dist", "@fontsource-variable/geist", "@fontsource-variable/geist-mono", "lucide-static"];

/** The picture of the still, and what other pages show of a link if the address of the site is known. */
async function addPictures(url) {
  const { page, preview } = await makePictures();
  writeFileSync(join(SITE, "sales-report.jpg"), page);
  if (url === undefined) return;
  writeFileSync(join(SITE, "preview.png"), preview.bytes);
  const title = "The demo server sent 5.3 MB. Your model reads 263 B.";
  addTags([
    ["property", "og:type", "website"],
    ["property", "og:site_name", "Sluice"],
    ["property", "og:title", title],
    [
      "property",
      "og:description",
      "MCP tool results, without the files in your model's context. Nothing is lost. Try it in the page.",
    ],
    ["property", "og:url", new URL("./", url).href],
    ["property", "og:image", new URL("./preview.png", url).href],
    ["property", "og:image:width", String(preview.width)],
    ["property", "og:image:height", String(preview.height)],
    ["property", "og:image:alt", title],
    ["name", "twitter:card", "summary_large_image"],
  ]);
}

/** Text as the value of an attribute. */
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** Puts `meta` elements into the page. */
function addTags(tags) {
  const path = join(SITE, "index.html");
  const lines = tags.map(([kind, name, content]) => `    <meta ${kind}="${name}" content="${escape(content)}" />\n`);
  writeFileSync(
    path,
    readFileSync(path, "utf8").replace("  </head>", () => `${lines.join("")}  </head>`),
  );
}

// Behind the list of what is kept for when there is no network: nobody needs it to see the page.
function writeLicences() {
  const folders = [
    ...["page", "worker", "service-worker"].flatMap(listed),
    ...COPIED.map((name) => join(root, "node_modules", name)),
  ];
  const ours = ["bundled", "core"].map((folder) => readFileSync(join(root, "dist", folder, "LICENSES.md"), "utf8"));
  writeFileSync(join(SITE, "licenses/LICENSES.md"), [licencesOf([...new Set(folders)]), ...ours].join("\n"));
}

function writePackage() {
  rmSync(PLAYGROUND, { recursive: true, force: true });
  mkdirSync(PLAYGROUND, { recursive: true });
  cpSync(SITE, join(PLAYGROUND, "site"), {
    recursive: true,
    filter: (path) => !RARE.test(`${nameOf(path)}/`) && !BESIDE.test(nameOf(path)),
  });
  const index = join(PLAYGROUND, "site/index.html");
  // What the tags name is not in the package.
  writeFileSync(
    index,
    readFileSync(index, "utf8").replaceAll(
      / *<meta (?:name="(?:sluice-docs|twitter:card)"|property="og:)[^>]*>\n/g,
      "",
    ),
  );
  cpSync(join(root, "LICENSE"), join(PLAYGROUND, "LICENSE"));
  cpSync(join(root, "docs/playground.md"), join(PLAYGROUND, "README.md"));
  const { version, license, author, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = {
    name: "mcp-sluice-playground",
    version,
    description: "The page of `sluice serve`: what MCP servers send, and what a model would see of it.",
    license,
    author,
    files: ["site"],
    type: "module",
    exports: { "./package.json": "./package.json" },
    // The page speaks to the server of its own version.
    peerDependencies: { "mcp-sluice": version },
    engines,
  };
  writeFileSync(join(PLAYGROUND, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  rmSync(LINK, { recursive: true, force: true });
  symlinkSync(relative(dirname(LINK), PLAYGROUND), LINK, "junction");
}

/**
 * Serves the built site on this machine alone, at the same port each time if that is free: what a browser keeps belongs to
 * an address.
 * @param {number} [port]
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveSite(port = PORT) {
  const { preview } = await import("vite");
  const server = await preview({
    configFile: false,
    root: join(root, "web/playground"),
    build: { outDir: SITE },
    preview: { host: "127.0.0.1", port },
    logLevel: "error",
  });
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}

/** Every file of the site, for workbox: those that have no hash in their names with one of their contents. */
function precached() {
  return readdirSync(SITE, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => nameOf(join(file.parentPath, file.name)))
    .filter((url) => url !== "sw.js" && !RARE.test(url) && !BESIDE.test(url) && !ASKED_FOR.test(url))
    .map((url) => ({ url, revision: url.startsWith("assets/") ? null : hash(url) }));
}

function nameOf(path) {
  return relative(SITE, path).split(sep).join("/");
}

function hash(url) {
  return createHash("sha256")
    .update(readFileSync(join(SITE, url)))
    .digest("hex")
    .slice(0, 16);
}

/** The address of the site, which ends with a slash. */
function readUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^https?:$/.test(url?.protocol ?? "")) {
    throw new Error(`--url takes the address of the site, such as https://sluice.example/: ${text} is none.`);
  }
  return url.href.endsWith("/") ? url.href : `${url.href}/`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({ options: { url: { type: "string" } } });
    const url = values.url === undefined ? undefined : readUrl(values.url);
    await setup("build");
    await build();
    const docs = await import("./docs/site.mjs");
    if (!(await docs.buildSite())) return 1;
    await buildSite({ url, docs: docs.SITE });
    console.log(`The site is in ${relative(process.cwd(), SITE)}: copy the folder to any static host.`);
    return 0;
  });
}
