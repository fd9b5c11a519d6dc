/**
 * Real results: what the servers of the demo and of the tests answer to calls that people make, with files of a fixed seed and with
 * those of this repository.
 * @module
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer as createViteServer, runnerImport } from "vite";
import { makePdf } from "../../demo/pdf.mjs";
import { makePng } from "../../demo/png.mjs";
import { root } from "../../run.mjs";
import { connect } from "../client.mjs";
import { fileOf } from "../tasks/files.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Files of the tasks that servers are asked for. */
const FILES = ["sales.csv", "stock.csv", "events.ndjson", "config.json", "prices.html", "handbook.docx"];

/** The file that the database server needs, which setup compiles where it can. */
const SQLITE = join(root, "tests/e2e/node_modules/sqlite3/build/Debug/node_sqlite3.node");

/** Calls of each server: the tool, its arguments, and what the table says of them where a tool is called twice. */
const tableau = () => [
  ["download_workbook", { name: "Sales Dashboard" }],
  ["get_view_as_pdf", { view_name: "Revenue by Region" }],
  ["list_workbooks", {}],
];

const everything = () => [
  ["echo", { message: "Hello" }],
  ["get-sum", { a: 2, b: 3 }],
  ["get-annotated-message", { messageType: "success", includeImage: true }],
  ["get-tiny-image", {}],
  ["get-resource-links", { count: 3 }],
  ["get-resource-reference", { resourceType: "Blob", resourceId: 1 }, "a blob"],
  ["get-resource-reference", { resourceType: "Text", resourceId: 1 }, "a text"],
  ["get-structured-content", { location: "Chicago" }],
];

/** A file of this repository. */
const own = (name) => ({ path: join(root, name) });

const filesystem = (folder) => {
  const file = (name) => ({ path: join(folder, name) });
  return [
    ["list_allowed_directories", {}],
    ["list_directory", own("docs")],
    ["list_directory_with_sizes", own("web/src/core")],
    ["directory_tree", own("wasm")],
    ["search_files", { ...own("docs"), pattern: "**/*.md" }],
    ["get_file_info", own("README.md")],
    ["read_text_file", own("README.md"), "README.md"],
    ["read_text_file", own("docs/configuration.md"), "configuration.md"],
    ["read_text_file", own("web/src/core/sluice.ts"), "sluice.ts"],
    ["read_text_file", own("package-lock.json"), "package-lock.json"],
    ["read_text_file", { ...file("sales.csv"), head: 200 }, "200 lines of CSV"],
    ["read_text_file", file("sales.csv"), "50,000 lines of CSV"],
    ["read_text_file", { ...file("events.ndjson"), tail: 100 }, "100 lines of NDJSON"],
    ["read_text_file", file("config.json"), "config.json"],
    ["read_text_file", file("prices.html"), "HTML"],
    ["read_text_file", file("report.pdf"), "a PDF as text"],
    ["read_media_file", file("photo.png"), "a PNG"],
    ["read_media_file", file("handbook.docx"), "a DOCX"],
    ["read_multiple_files", { paths: [join(root, "ARCHITECTURE.md"), join(root, "CONTRIBUTING.md")] }],
    ["write_file", { ...file("note.txt"), content: "Call the warehouse.\n" }],
    ["edit_file", { ...file("note.txt"), edits: [{ oldText: "Call", newText: "Write to" }] }],
    ["read_text_file", file("missing.txt"), "no such file"],
  ];
};

const PEOPLE = Array.from({ length: 60 }, (_, number) => ({
  name: `person ${number}`,
  entityType: "person",
  observations: [`works in team ${number % 7}`, `has been here for ${number % 12} years`, "prefers mail"],
}));

const memory = () => [
  ["create_entities", { entities: PEOPLE }],
  ["create_relations", { relations: [{ from: "person 1", to: "person 2", relationType: "knows" }] }],
  ["add_observations", { observations: [{ entityName: "person 3", contents: ["speaks Danish"] }] }],
  ["search_nodes", { query: "team 3" }],
  ["open_nodes", { names: ["person 1", "person 2"] }],
  ["read_graph", {}],
];

const pdfViewer = (folder) => [
  ["list_pdfs", {}],
  ["read_pdf_bytes", { url: join(folder, "report.pdf") }],
];

const pdfReader = (folder) => {
  const source = { path: join(folder, "report.pdf") };
  return [
    ["read_pdf", { sources: [source], include_full_text: true }, "text"],
    ["read_pdf", { sources: [{ ...source, pages: "1" }], include_images: true }, "text and pictures"],
  ];
};

const imageExtractor = (folder) => [["extract_image_from_file", { file_path: join(folder, "photo.png") }]];

const sqlite = () => {
  const photo = makePng({ width: 160, height: 120 });
  const report = makePdf({ pages: 1 });
  const values = `('photo.png', '${photo.toString("base64")}', NULL), ('report.pdf', NULL, X'${report.toString("hex")}')`;
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n";
  return [
    ["create_table", { query: "CREATE TABLE files (name TEXT, encoded TEXT, content BLOB)" }],
    ["write_query", { query: `INSERT INTO files VALUES ${values}` }],
    ["list_tables", {}],
    ["describe_table", { table_name: "files" }],
    ["read_query", { query: "SELECT name FROM files" }, "names"],
    ["read_query", { query: `SELECT i, i * 7 % 13 AS rest, 'row ' || i AS name FROM (${numbers})` }, "2,000 rows"],
    ["read_query", { query: "SELECT name, encoded FROM files" }, "base64 in a row"],
    ["read_query", { query: "SELECT name, content FROM files" }, "a BLOB as numbers"],
  ];
};

const READ_PHOTO = `async () => {
  const bytes = new Uint8Array(await (await fetch("/photo.png")).arrayBuffer());
  return "data:image/png;base64," + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}`;

const playwright = (url) => [
  ["browser_navigate", { url }],
  ["browser_snapshot", {}],
  ["browser_take_screenshot", { type: "png" }],
  ["browser_evaluate", { function: READ_PHOTO }, "a data URL"],
  ["browser_network_requests", { static: true }],
  ["browser_console_messages", { level: "info" }],
];

const devtools = (url) => [
  ["list_pages", {}],
  ["navigate_page", { pageId: 1, type: "url", url }],
  ["take_snapshot", { pageId: 1 }],
  ["take_screenshot", { pageId: 1 }],
  ["evaluate_script", { pageId: 1, function: READ_PHOTO }, "a data URL"],
  ["list_network_requests", { pageId: 1 }],
];

/** Tools of the playground's demo that need no page; they are called without arguments. */
const DEMO = ["sales_report", "sales_chart", "jingle", "export_csv", "web_page", "source_code", "sales_table"];
const DEMO_TALK = ["find_reports", "fails", "small_talk"];

/** Calls whose answer says that they failed, as they should. */
const FAILING = new Set(["no such file", "fails"]);

/**
 * Makes all calls once, server by server.
 * @param {string} folder an empty one, for the files that servers work on
 * @returns {Promise<readonly { name: string, server: string, tool: string, text: string }[]>} `text` is JSON
 */
export async function realResults(folder) {
  const files = { "report.pdf": makePdf({ title: "Quarterly Report", seed: 21 }), "photo.png": makePng() };
  for (const name of FILES) files[name] = (await fileOf(name)).bytes;
  await Promise.all(Object.entries(files).map(([name, bytes]) => writeFile(join(folder, name), bytes)));
  const page = await servePage(files);
  const found = [];
  try {
    for (const { server, program, calls } of await servers(folder, page.url)) {
      const { args, cwd, env } = program;
      const client = await connect(args, { cwd, env });
      for (const [tool, given, what] of calls) found.push(resultOf(server, tool, what, await client.call(tool, given)));
      await client.close();
    }
  } finally {
    await page.close();
  }
  return [...found, ...(await playground())];
}

/** How each server is started, and what it is asked. */
async function servers(folder, url) {
  const { module: programs } = await runnerImport(join(root, "tests/e2e/servers/programs.ts"));
  const files = programs.filesystem(folder);
  const tableauServer = { args: [path("../../demo/tableau-server.mjs")] };
  return [
    { server: "tableau", program: tableauServer, calls: tableau() },
    { server: "everything", program: programs.everything(folder), calls: everything() },
    { server: "filesystem", program: { ...files, args: [...files.args, root] }, calls: filesystem(folder) },
    { server: "memory", program: programs.memory(folder), calls: memory() },
    { server: "pdf", program: programs.pdfViewer(folder, join(folder, "report.pdf")), calls: pdfViewer(folder) },
    { server: "pdf-reader", program: programs.pdfReader(folder), calls: pdfReader(folder) },
    { server: "image-extractor", program: programs.imageExtractor(folder), calls: imageExtractor(folder) },
    ...(existsSync(SQLITE) ? [{ server: "sqlite", program: programs.sqlite(folder), calls: sqlite() }] : []),
    { server: "playwright", program: programs.playwright(folder), calls: playwright(url) },
    { server: "chrome-devtools", program: programs.devtools(folder), calls: devtools(url) },
  ];
}

async function playground() {
  // It loads what makes a file when a tool is called.
  const loader = await createViteServer({
    configFile: false,
    root,
    logLevel: "error",
    server: { middlewareMode: true },
  });
  const { FILE_TOOLS, otherTools } = await loader.ssrLoadModule("/web/playground/demo/tools.ts");
  const { Live } = await loader.ssrLoadModule("/web/playground/demo/live.ts");
  const tools = [...FILE_TOOLS, ...otherTools(new Live())];
  const found = [];
  for (const name of [...DEMO, ...DEMO_TALK]) {
    const { call } = tools.find(({ listed }) => listed.name === name);
    found.push(resultOf("playground", name, undefined, await call({}, {})));
  }
  await loader.close();
  return found;
}

function resultOf(server, tool, what, result) {
  const name = `${server} \`${tool}\`${what === undefined ? "" : `, ${what}`}`;
  if ((result.isError === true) !== FAILING.has(what ?? tool)) throw new Error(`${name}: ${JSON.stringify(result)}`);
  return { name, server, tool, text: JSON.stringify(result) };
}

/** A page with a table and a picture, for the servers that drive a browser. */
async function servePage(files) {
  const rows = Array.from({ length: 100 }, (_, row) => `<tr><td>row ${row}</td><td>${row * row}</td></tr>`);
  const html = `<!doctype html><title>Files</title><h1>Files</h1><img src="/photo.png"><table>${rows.join("")}</table>`;
  const server = createServer(({ url = "/" }, response) => {
    response.setHeader("content-type", url === "/" ? "text/html" : "application/octet-stream");
    response.end(url === "/" ? html : (files[url.slice(1)] ?? ""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
