/**
 * What the package weighs as it travels, and what it should weigh.
 * @module
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { root } from "./run.mjs";

const DIST = join(root, "dist");

/**
 * Bytes, gzipped. A test allows `MARGIN` times as many, since other versions of compilers and bundlers make other bytes. Entries for browsers are the JavaScript that a page loads to start with, bundled and minified, glue included
 * and core.wasm not; `on demand` is what the root entry loads later: to read documents, to query and to edit. Those for Node are all that
 * they reach, without what is installed beside the package.
 */
export const BUDGETS = {
  // Of it 19 KB tell what kind of text a program printed, where tables stand among its words and whether they have headers, and what is said
  // last; 1 KB tells JSON and pictures of which the end is missing; 7 KB find bytes in the
  // spellings of Python, JavaScript and dumps; 3 KB take the places that a configuration names out of JSON that is stored as a whole; what
  // remains of facts tells kinds by their bytes, and texts by their forms.
  core: 202_500,
  contract: 24_000,
  // What documents, films, archives and fonts say of themselves: loaded with the first of them. What stands in a gzip file is told by the
  // tables of the core, which are in it once more.
  facts: 56_500,
  // The same of PDFs alone, with the first of them.
  pdf: 18_500,
  // SQLite, and tables that it reads: loaded with the first query.
  tables: 350_000,
  // 1 KB of it and of the next two tells databases from other bytes, and reads JSON in strings and the arguments of a table; 2 KB find what has to
  // be decoded, and rows among words.
  // 2 KB of it and of those below find tables that are drawn in text, what is whole of JSON that was cut, and where the records of a long file are.
  // 1 KB of it and of those below is compressed apart, since queries load what compiles the core, too; 1 KB asks what tells facts of files.
  // 1 KB of it and of what follows knows further kinds of files.
  // 7 KB of what queries load tell what SQLite would take for something else: amounts, dates and flags that are text, totals, quotes that are
  // never closed; and name the rows and columns of JSON.
  "mcp-sluice": 82_500,
  "mcp-sluice, on demand": 123_000,
  // Of it 6 KB keep bytes from models in messages that are no result, and 2 KB know hosts and limit calls.
  "mcp-sluice/mcp": 125_000,
  "mcp-sluice/browser": 95_500,
  "mcp-sluice/node": 254_500,
  "mcp-sluice/tools": 239_500,
  // 7 KB of it, of the server and of the command are the glue of the module that tells of PDFs, and 7 KB the notes of queries.
  "mcp-sluice/tools in Node": 439_500,
  "mcp-sluice/planner": 133_500,
  "mcp-sluice/planner/redis": 9_500,
  "mcp-sluice/s3": 19_500,
  "mcp-sluice/files": 57_500,
  "mcp-sluice/serve": 610_000,
  "mcp-sluice/serve/redis": 35_000,
  sluice: 863_500,
  // Of it 110 KB are the page that hosts with MCP Apps show: it must be one file, so it has its own copies of what it is made of. The parser
  // of HTML is there twice, for documents and for the elements, which pages import without a bundler.
  // 2.5 MB are the modules that read PDF and decode pictures. Bundled, they are half of what their packages would be.
  // 160 KB are the modules of the proxy once more, in few files, which start in half the time.
  // 320 KB are SQLite, which queries load. 13 KB read Arrow and Avro, 30 KB mail, 10 KB arrays of numbers.
  tarball: 4_710_000,
};

/** Gzipped bytes that a first visit to the playground loads before its first result: the page alone, and everything. */
export const FIRST_VISIT = { page: 90_000, all: 370_000 };

/** How far a test lets a size pass its budget. */
export const MARGIN = 1.03;

/** Installed by whoever wants it. */
const OUTSIDE = ["@redis/client", "@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"];

/** Prints the size of the core that was built. Another compiler makes other bytes, so that only a test holds it to its budget. */
export function printSize() {
  const parts = moduleParts("core").map((size) => `${size.name} ${kilo(size.plain)} (${kilo(size.gzipped)} gzipped)`);
  console.log(`size: ${parts.join(", ")}; ${kilo(coreSize())} gzipped, with a budget of ${kilo(BUDGETS.core)}`);
}

/**
 * Gzipped bytes of everything in `BUDGETS`, of a tarball and the folder that it was installed to.
 * @param {string} tarball
 * @param {string} folder
 * @returns {Promise<Record<keyof typeof BUDGETS, number>>}
 */
export async function measure(tarball, folder) {
  const dist = join(folder, "dist");
  const page = await bundled(join(dist, "index.js"), {});
  return {
    core: coreSize(dist),
    contract: moduleSize("contract", dist),
    facts: moduleSize("facts", dist),
    pdf: moduleSize("pdf", dist),
    tables: moduleSize("tables", dist),
    "mcp-sluice": page.start,
    "mcp-sluice, on demand": page.later,
    "mcp-sluice/mcp": await started(join(dist, "mcp.js")),
    "mcp-sluice/browser": await started(join(dist, "browser.js")),
    "mcp-sluice/node": await whole(join(dist, "node.js")),
    "mcp-sluice/tools": await started(join(dist, "tools.js")),
    "mcp-sluice/tools in Node": await whole(join(dist, "tools-node.js")),
    "mcp-sluice/planner": await started(join(dist, "planner.js")),
    "mcp-sluice/planner/redis": await whole(join(dist, "planner-redis.js")),
    "mcp-sluice/s3": await whole(join(dist, "s3.js")),
    "mcp-sluice/files": await started(join(dist, "files.js")),
    "mcp-sluice/serve": await whole(join(dist, "serve.js")),
    "mcp-sluice/serve/redis": await whole(join(dist, "serve-redis.js")),
    sluice: await whole(join(dist, "cli/main.js")),
    tarball: statSync(tarball).size,
  };
}

/** Gzipped bytes of core.wasm and core.mjs together. */
export function coreSize(dist = DIST) {
  return moduleSize("core", dist);
}

/** The same with Brotli, which servers of pages may have. */
export const coreBrotli = () =>
  moduleParts("core").reduce((sum, part) => sum + brotliCompressSync(part.bytes).length, 0);

function moduleSize(name, dist) {
  return moduleParts(name, dist).reduce((sum, part) => sum + part.gzipped, 0);
}

function moduleParts(module, dist = DIST) {
  return [`${module}.wasm`, `${module}.mjs`].map((name) => {
    const bytes = readFileSync(join(dist, "core", name));
    return { name, bytes, plain: bytes.length, gzipped: gzipped(bytes) };
  });
}

/** What a page loads to start with. */
const started = async (input) => (await bundled(input, {})).start;

/** All that an entry for Node reaches. */
async function whole(input) {
  const { start, later } = await bundled(input, { ssr: true });
  return start + later;
}

async function bundled(input, { ssr = false }) {
  const { build } = await import("vite");
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    root: join(input, ".."),
    ssr: { noExternal: true },
    build: {
      ssr,
      write: false,
      minify: true,
      rolldownOptions: { input, preserveEntrySignatures: "strict", external: OUTSIDE },
    },
  });
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const start = new Set();
  const follow = (name) => {
    const chunk = chunks.get(name);
    if (chunk === undefined || start.has(name)) return;
    start.add(name);
    chunk.imports.forEach(follow);
  };
  for (const { isEntry, fileName } of chunks.values()) if (isEntry) follow(fileName);
  const sum = (some) => some.reduce((bytes, name) => bytes + gzipped(chunks.get(name).code), 0);
  const names = [...chunks.keys()];
  return { start: sum(names.filter((name) => start.has(name))), later: sum(names.filter((name) => !start.has(name))) };
}

/** Bytes as kilobytes of 1000. */
export const kilo = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
