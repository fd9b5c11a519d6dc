/**
 * MCP Apps: a real proxy in front of a real server, and in Chromium a host's page that shows the app in a sandboxed frame of another
 * origin, under the policy that the extension demands of hosts.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type axeCore from "axe-core";
import { getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import { build } from "vite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchChromium, recordComplaints, type Browser, type Frame, type Page } from "../../support/chromium.js";
import { pdfOf } from "../../support/pdf.js";
import type { Answered } from "./host-page.js";

/** The policy for apps that declare no domains, without `'self'`, which is the host's choice. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; media-src data:; " +
  "connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'";

const CAPABILITIES = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SLOW = { timeout: 30_000 };

const CSV = `city,price\n${Array.from({ length: 4000 }, (_, row) => `city ${row + 1},${row * 3}`).join("\n")}\n`;
const LOG = Array.from({ length: 9000 }, (_, line) => `line ${line + 1} of a log`).join("\n");
const EVIL = `<h1>A page</h1><script>parent.postMessage("ran","*")</script>${"<p>text</p>".repeat(4000)}`;
const FILES: Readonly<Record<string, readonly [string, Uint8Array | string]>> = {
  "picture.png": ["image/png", pngOf(640, 400)],
  "prices.csv": ["text/csv", CSV],
  "report.pdf": [
    "application/pdf",
    pdfOf(Array.from({ length: 90 }, (_, at) => ({ lines: [`Words of page ${at + 1}`] }))),
  ],
  "run.log": ["text/plain", LOG],
  "page.html": ["text/html", EVIL],
  "large.bin": ["application/octet-stream", new Uint8Array(5_000_000).map((_, at) => at % 251)],
};

let folder: string;
let client: Client;
let listener: Server;
let browser: Browser;
let page: Page;
let port: number;
let complaints: string[];
/** What was saved, and what the browser asked for. */
const saved: object[] = [];
const requests: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-apps-"));
  for (const [name, [, bytes]] of Object.entries(FILES)) await writeFile(join(folder, name), bytes);
  client = new Client({ name: "host", version: "1.0.0" }, { capabilities: CAPABILITIES });
  const command = [
    here("../../../dist/cli/main.js"),
    "proxy",
    "--store",
    join(folder, "store"),
    "--namespace",
    "files",
  ];
  const server = [process.execPath, here("server.mjs"), folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...command, "--", ...server] }));
  const { tools } = await client.listTools();
  const reader = tools.find(({ name }) => name === "files_artifact_read");
  if (reader === undefined) throw new Error("the tool is not listed");
  const { contents } = await client.readResource({ uri: getToolUiResourceUri(reader) ?? "none" });
  await serve((contents[0] as { text: string }).text);
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 900, height: 800 } });
  complaints = recordComplaints(page);
  page.on("request", (request) => requests.push(request.url()));
  await page.exposeFunction("hostRead", (params: { uri: string }) => answered(() => client.readResource(params)));
  await page.exposeFunction("hostSave", async (params: object) => {
    saved.push(params);
    return { result: {} };
  });
  await page.goto(`http://127.0.0.1:${port}/`);
}, 120_000);

afterAll(async () => {
  await browser.close();
  listener.close();
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  for (const list of [saved, requests, complaints]) list.length = 0;
});

async function answered(work: () => Promise<object>): Promise<Answered> {
  try {
    return { result: { ...(await work()) } };
  } catch (error) {
    const { code = -32603, message } = error as { code?: number; message: string };
    return { error: { code, message } };
  }
}

/** Serves the host's page, and the app at another origin, where the host's policy holds. */
async function serve(app: string): Promise<void> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: here("host-page.ts"), output: { format: "iife" } },
    },
  });
  const [{ output }] = [built].flat() as { output: { code?: string }[] }[] as [{ output: { code: string }[] }];
  const host = `<!doctype html><html lang="en"><title>Host</title><body><script>${output[0]?.code}</script>`;
  listener = createServer(({ url }, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    if (url === "/app") response.setHeader("content-security-policy", POLICY).end(app);
    else if (url === "/") response.end(host);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, resolve));
  ({ port } = listener.address() as AddressInfo);
}

interface Opening {
  readonly theme?: "light" | "dark";
  readonly capabilities?: object;
  readonly given?: object;
}

/** Stores a file of the server's through the proxy: its URI. */
async function stored(name: string): Promise<string> {
  const [mimeType] = FILES[name] as readonly [string, unknown];
  const { content } = await client.callTool({ name: "file", arguments: { name, mimeType } });
  return /artifact:\/\/files_[0-9a-f]+/.exec(JSON.stringify(content))?.[0] ?? "none";
}

/** Reads an artifact as a model does, and shows the app beside it as a host does. */
async function open(uri: string, { theme = "light", capabilities, given = {} }: Opening = {}): Promise<Frame> {
  const args = { uri, ...given };
  const result = await client.callTool({ name: "files_artifact_read", arguments: args });
  const shown = {
    address: `http://localhost:${port}/app`,
    capabilities: capabilities ?? { serverResources: {}, serverTools: {}, downloadFile: {} },
    context: { theme, containerDimensions: { maxHeight: 700 } },
    arguments: args,
    result,
  };
  await page.evaluate((told) => globalThis.showApp(told as Parameters<typeof globalThis.showApp>[0]), shown as never);
  const frame = page.frames().find((each) => each.url().endsWith("/app"));
  if (frame === undefined) throw new Error("no frame");
  return frame;
}

/** What axe finds in the app, whose policy the driver's own evaluation passes. */
async function violations(frame: Frame): Promise<readonly string[]> {
  const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  await frame.evaluate(source);
  return frame.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof axeCore };
    const { violations: all } = await axe.run(document, { rules: { "page-has-heading-one": { enabled: false } } });
    return all.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

const shot = async (name: string): Promise<void> => {
  const place = process.env["SLUICE_SCREENSHOTS"];
  if (place !== undefined) await page.screenshot({ path: join(place, `${name}.png`) });
};

/** Nothing was fetched but the app, and nothing refused by its policy. */
function expectQuiet(): void {
  expect(complaints).toEqual([]);
  expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([`http://localhost:${port}/app`]);
}

describe("the app in a host", () => {
  test("shows a picture, its name, type and size", async () => {
    const frame = await open(await stored("picture.png"));
    await frame.getByRole("img", { name: "picture.png" }).waitFor(SLOW);
    expect(await frame.locator("sluice-viewer header").innerText()).toMatch(/picture\.png\s+image\/png · [\d.]+ [KM]B/);
    await frame.getByText("640 × 400 pixels").waitFor(SLOW);
    await shot("picture");
    expect(await violations(frame)).toEqual([]);
    expectQuiet();
  });

  /** Every part of a colour below 64, and above 191. */
  const DARK = /^rgb\((?:(?:\d|[1-5]\d|6[0-3])(?:, |\))){3}$/;
  const LIGHT = /^rgb\((?:(?:19[2-9]|2\d\d)(?:, |\))){3}$/;

  test("shows a table in the host's dark theme, and follows a change", async () => {
    const frame = await open(await stored("prices.csv"), { theme: "dark" });
    await frame.getByText("city 3", { exact: true }).waitFor(SLOW);
    const surface = (): Promise<string> =>
      frame.locator("sluice-viewer").evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(await surface()).toMatch(DARK);
    await shot("table-dark");
    expect(await violations(frame)).toEqual([]);
    await page.evaluate(() => globalThis.changeContext({ theme: "light" }));
    await expect.poll(surface).toMatch(LIGHT);
    expectQuiet();
  });

  test("shows pages of a PDF, the one that was read first, and turns them", async () => {
    const frame = await open(await stored("report.pdf"), { given: { pages: "7" } });
    const picture = frame.getByRole("img", { name: /^Page 7/ });
    await picture.waitFor(SLOW);
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(500);
    await shot("pdf");
    expect(await violations(frame)).toEqual([]);
    await frame.getByRole("button", { name: "Next" }).click();
    await frame.getByRole("img", { name: /^Page 8/ }).waitFor(SLOW);
    await frame.getByText("Words of page 8").waitFor({ ...SLOW, state: "attached" });
    await frame.getByRole("spinbutton", { name: "Page" }).fill("200");
    await frame.getByRole("spinbutton", { name: "Page" }).press("Enter");
    await frame.getByRole("img", { name: "Page 90 of 90" }).waitFor(SLOW);
    expectQuiet();
  });

  test("shows text, and the source of a page of HTML without running it", async () => {
    const text = await open(await stored("run.log"));
    await text.getByText("line 12 of a log", { exact: true }).waitFor(SLOW);
    await shot("text");
    expect(await violations(text)).toEqual([]);
    expectQuiet();
    requests.length = 0;
    const heard = page.evaluate(
      () =>
        new Promise<boolean>((resolve) => addEventListener("message", ({ data }) => data === "ran" && resolve(true))),
    );
    const frame = await open(await stored("page.html"));
    await frame.getByText("<h1>A page</h1>").waitFor(SLOW);
    expect(frame.childFrames()).toEqual([]);
    expect(await Promise.race([heard, frame.evaluate(() => false)])).toBe(false);
    expectQuiet();
  });

  test("hands the whole file to the host, in parts of a megabyte", async () => {
    const frame = await open(await stored("large.bin"));
    await frame.getByRole("button", { name: "Download" }).click();
    await expect.poll(() => saved.length, SLOW).toBe(1);
    const [{ contents }] = saved as [{ contents: { resource: { uri: string; mimeType: string; blob: string } }[] }];
    const { uri, mimeType, blob } = contents[0]?.resource ?? { uri: "", mimeType: "", blob: "" };
    expect([uri, mimeType]).toEqual(["file:///large.bin", "application/octet-stream"]);
    expect(Buffer.from(blob, "base64").equals(FILES["large.bin"]?.[1] as Uint8Array)).toBe(true);
    expectQuiet();
  });

  test("is used with the keyboard alone", async () => {
    const frame = await open(await stored("prices.csv"));
    await frame.getByText("city 3", { exact: true }).waitFor(SLOW);
    await frame.getByRole("tab", { name: "Preview" }).focus();
    await page.keyboard.press("ArrowRight");
    await frame.getByText("city 3,6", { exact: true }).waitFor(SLOW);
    await page.keyboard.press("ArrowRight");
    await frame.getByText("SHA-256").waitFor(SLOW);
    await frame.getByRole("button", { name: "Copy URI" }).focus();
    await page.keyboard.press("Enter");
    await frame.getByText(/^Copied$|copy it by hand/).waitFor({ ...SLOW, state: "attached" });
    expect(
      await frame.evaluate(() => String(getSelection()) === "" || String(getSelection()).includes("artifact://")),
    ).toBe(true);
  });

  test("says in one sentence why there is nothing, and what to do", async () => {
    const frame = await open("artifact://files_0123456789ab");
    const alert = frame.getByRole("alert");
    await alert.waitFor(SLOW);
    expect(await alert.innerText()).toMatch(/artifact/i);
    expect(await frame.getByRole("button").count()).toBe(0);
    await shot("missing");
    expect(await violations(frame)).toEqual([]);
    const closed = await open(await stored("run.log"), { capabilities: {} });
    expect(await closed.getByRole("alert").innerText()).toContain("lets no app read what the server stored");
    expectQuietOf(2);
  });

  test("shows the result of an edit, and not what it was made of", async () => {
    const uri = await stored("run.log");
    const args = { uri, old_string: "line 1 of a log\n", new_string: "another first line\n" };
    const result = await client.callTool({ name: "files_artifact_edit", arguments: args });
    expect(JSON.stringify(result)).toContain("artifact://");
    const shown = {
      address: `http://localhost:${port}/app`,
      capabilities: { serverResources: {} },
      context: {},
      arguments: args,
      result,
    };
    await page.evaluate((told) => globalThis.showApp(told as Parameters<typeof globalThis.showApp>[0]), shown as never);
    await page.frameLocator("iframe").getByText("another first line", { exact: true }).waitFor(SLOW);
  });
});

function expectQuietOf(apps: number): void {
  expect(complaints).toEqual([]);
  expect(requests.filter((url) => !url.startsWith("data:"))).toHaveLength(apps);
}

/** A PNG of noise, which no compression makes small. */
function pngOf(width: number, height: number): Uint8Array {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let at = 0; at < rows.length; at += 1) rows[at] = at % (1 + width * 3) === 0 ? 0 : (at * at * 31 + at) % 256;
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crcOf(body), 4 + body.length);
    return frame;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array()),
  ]);
}

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
