/**
 * Servers that people run, as npm has them: how each is started here.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "../../../scripts/chromium.mjs";

/** How a server is started. */
export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  /** Where it runs, and may leave files. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));

const OWN = "@modelcontextprotocol";

/** Every content type, and what else the protocol has. */
export const everything = (folder: string): Server => started(`${OWN}/server-everything`, folder, ["stdio"]);

/** Reads and writes files under `folder`. */
export const filesystem = (folder: string): Server => started(`${OWN}/server-filesystem`, folder, [folder]);

/** Keeps its graph in `folder`. */
export function memory(folder: string): Server {
  return { ...started(`${OWN}/server-memory`, folder, []), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } };
}

/** Shows PDFs in an app. */
export const pdfViewer = (folder: string, file: string): Server =>
  started(`${OWN}/server-pdf`, folder, ["--stdio", file]);

/** Text and pictures of PDFs. */
export const pdfReader = (folder: string): Server => started("@sylphx/pdf-reader-mcp", folder, []);

/** Pictures from files, addresses and base64. */
export const imageExtractor = (folder: string): Server => started("mcp-image-extractor", folder, []);

/** A database in a file; the package's own `sqlite3` has to be built first. */
export const sqlite = (folder: string): Server => started("mcp-server-sqlite-npx", folder, [join(folder, "data.db")]);

/** A browser, by Playwright. */
export const playwright = (folder: string): Server =>
  started("@playwright/mcp", folder, [
    "--headless",
    "--no-sandbox",
    "--isolated",
    "--caps=vision,pdf",
    `--executable-path=${chromium()}`,
  ]);

/** A browser, by its developers' tools; without what it would tell its makers. */
export const devtools = (folder: string): Server =>
  started("chrome-devtools-mcp", folder, [
    "--headless",
    "--isolated",
    "--no-usage-statistics",
    "--no-performance-crux",
    "--chromeArg=--no-sandbox",
    `--executablePath=${chromium()}`,
  ]);

// The script behind a package's command, run by this very node. Where there are several, the first is the server.
function started(name: string, cwd: string, args: readonly string[]): Server {
  const { bin } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const script = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { command: process.execPath, args: [join(modules, name, script ?? ""), ...args], cwd };
}

function chromium(): string {
  const found = findChromium();
  if (found === undefined) throw new Error("There is no Chromium: `npm run setup` installs one.");
  return found;
}
