/** The playground's files, as `sluice serve` answers them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Page } from "../../../../web/src/cli/serve/page.js";

const SCRIPT = "export const answer = 42;\n".repeat(400);

let folder: string;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-page-"));
  await writeFile(join(folder, "index.html"), "<html><head></head></html>");
  await writeFile(join(folder, "main.js"), SCRIPT);
  await writeFile(join(folder, "core.wasm"), new Uint8Array(20_000));
  await writeFile(join(folder, "font.woff2"), new Uint8Array(20_000));
  const opened = await Page.open(folder);
  if (opened === null) throw new Error("There is no page.");
  page = opened;
});

afterAll(() => rm(folder, { recursive: true }));

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Response> =>
  page.answer(new Request(`http://127.0.0.1${path}`, { method, headers }));

const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };

test("a browser gets scripts and WebAssembly gzipped, and other clients get them as they are", async () => {
  const answer = await get("/main.js", BROWSER);
  const packed = Buffer.from(await answer.arrayBuffer());
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  expect(packed.length).toBeLessThan(SCRIPT.length / 10);
  expect(gunzipSync(packed).toString()).toBe(SCRIPT);
  expect((await get("/core.wasm", BROWSER)).headers.get("content-encoding")).toBe("gzip");

  const plain = await get("/main.js");
  expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, SCRIPT]);
});

test("what is compressed already stays as it is", async () => {
  const answer = await get("/font.woff2", BROWSER);
  expect([answer.headers.get("content-encoding"), answer.headers.get("content-length")]).toEqual([null, "20000"]);
});

test("a file that the browser has is not sent again, in whatever form it came", async () => {
  for (const headers of [{}, BROWSER]) {
    const tag = (await get("/main.js", headers)).headers.get("etag") ?? "";
    expect((await get("/main.js", { ...headers, "if-none-match": tag })).status).toBe(304);
  }
  expect((await get("/main.js", BROWSER, "HEAD")).headers.get("content-length")).toBe(String(SCRIPT.length));
});
