/**
 * The demo: asks real servers, and shows each result as it came and as a model sees it.
 * @module
 */
import { join, relative } from "node:path";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSluice, FileArtifactStore } from "../../dist/node.js";
import { opening, showCall, showCheck, showTotals } from "./page.mjs";
import { makePdf } from "./pdf.mjs";
import { makePng } from "./png.mjs";
import { startServers } from "./servers.mjs";

/** @typedef {{ server: string, tool: string, args: Record<string, unknown>, why: string, original?: string }} Call */

/** `original` is the name of the file that the artifact must equal. @returns {Call[]} */
const calls = (folder) => [
  {
    server: "tableau",
    tool: "download_workbook",
    args: { name: "Sales Dashboard" },
    why: "a whole PDF as base64, in JSON, in a text block",
    original: "workbook.pdf",
  },
  {
    server: "tableau",
    tool: "get_view_as_pdf",
    args: { view_name: "Revenue by Region" },
    why: "the same PDF twice, as text and as structuredContent",
  },
  { server: "tableau", tool: "list_workbooks", args: {}, why: "small, so it passes as it is" },
  { server: "everything", tool: "get-tiny-image", args: {}, why: "an image block between two texts" },
  {
    server: "everything",
    tool: "get-resource-links",
    args: { count: 3 },
    why: "links: nothing is read that nobody asked for",
  },
  {
    server: "everything",
    tool: "get-resource-reference",
    args: { resourceType: "Blob", resourceId: 1 },
    why: "an embedded resource with a blob",
  },
  {
    server: "everything",
    tool: "get-structured-content",
    args: { location: "Chicago" },
    why: "text and structuredContent that say the same",
  },
  {
    server: "filesystem",
    tool: "read_media_file",
    args: { path: join(folder, "photo.png") },
    why: "a PNG, once as a block and once in structuredContent",
    original: "photo.png",
  },
  {
    server: "filesystem",
    tool: "read_text_file",
    args: { path: join(folder, "report.pdf") },
    why: "a PDF read as text: broken bytes, twice",
  },
];

const root = fileURLToPath(new URL("../..", import.meta.url));
const demo = join(root, "build", "demo");
const files = join(demo, "files");
const store = join(demo, "store");

async function makeFiles() {
  await rm(demo, { recursive: true, force: true });
  await mkdir(files, { recursive: true });
  await writeFile(join(files, "workbook.pdf"), makePdf({ title: "Sales Dashboard" }));
  await writeFile(join(files, "report.pdf"), makePdf({ title: "Quarterly Report", seed: 21 }));
  await writeFile(join(files, "photo.png"), makePng());
}

async function showAll(clients, sluice) {
  const shown = [];
  for (const call of calls(files)) {
    const value = await clients[call.server].callTool({ name: call.tool, arguments: call.args });
    const { text, artifacts, bytesIn } = await sluice.transform(value, { tool: call.tool, namespace: call.server });
    const row = { call, name: `${call.server} ${call.tool}`, sent: bytesIn, seen: Buffer.byteLength(text), artifacts };
    showCall(call, { ...row, value, text, fetch: (ref) => `npx ${fetchArguments(ref).join(" ")}` });
    shown.push(row);
  }
  return shown;
}

// What a person types in the checkout to have an artifact as a file.
function fetchArguments({ id, filename, mime_type }) {
  const name = /^[\w.-]+$/.test(filename ?? "") ? filename : `${id}.${extension(mime_type)}`;
  return [
    "--no-install",
    "sluice",
    "artifacts",
    "get",
    id,
    "--store",
    relative(root, store),
    "-o",
    join("build", "demo", name),
  ];
}

const extension = (type) =>
  ({ "application/pdf": "pdf", "image/png": "png", "application/json": "json", "text/plain": "txt" })[type] ?? "bin";

// Fetches what one call put aside, with the command that was printed, and compares it with its origin.
async function check({ call, artifacts }) {
  const [artifact] = artifacts;
  if (artifact === undefined) throw new Error(`${call.tool} put nothing aside`);
  const args = fetchArguments(artifact);
  await promisify(execFile)("npx", args, { cwd: root, shell: process.platform === "win32" });
  const same = (await sha256(join(root, args.at(-1)))) === (await sha256(join(files, call.original)));
  showCheck(`npx ${args.join(" ")}`, relative(root, join(files, call.original)), same);
  return same;
}

const sha256 = async (file) =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex");

await makeFiles();
const sluice = await createSluice({ store: new FileArtifactStore(store) });
const clients = await startServers(files);
try {
  opening();
  const shown = await showAll(clients, sluice);
  showTotals(shown);
  process.exitCode = (await check(shown[0])) ? 0 : 1;
} finally {
  await Promise.all(Object.values(clients).map((client) => client.close()));
}
