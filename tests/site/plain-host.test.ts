/** Hosts that know few media types: those that serve `.mjs` as bytes, or nothing with a type; and what others show of a link to one. */
import { access, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { PLAYGROUND, SITE, TEST_URL } from "../../scripts/site.mjs";
import { during, run, visitor } from "./visit.js";

/** What a host must know for a page to run at all: browsers run no script and compile no module of another type. */
const KNOWN: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

interface PlainHost extends AsyncDisposable {
  readonly url: string;
}

/** Serves the built site; files of other kinds have the type `other`, or none. */
async function serve(other: string | undefined): Promise<PlainHost> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const path = normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    const type = KNOWN[extname(path)] ?? other;
    readFile(join(SITE, path)).then(
      (bytes) => response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

describe.each(["application/octet-stream", undefined])("where a host serves other files as %s", (other) => {
  const host = during(() => serve(other));
  const seen = visitor({ url: () => host().url });

  test("a PDF is drawn, page and text", async () => {
    const { page } = seen;
    await run(page, "sales_report");
    const card = page.locator("playground-tools sluice-artifact").first();
    await card.getByRole("button", { name: /^Preview/ }).click();
    const sheet = page.locator("playground-drawer canvas").first();
    await sheet.waitFor();
    await page.locator("playground-drawer .sheet").getByText("Sales report").first().waitFor({ state: "attached" });
    // More than one colour: it is not an empty sheet.
    const colours = await sheet.evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      const found = new Set<number>();
      for (let at = 0; at < data.length; at += 4) found.add(((data[at] ?? 0) << 8) | (data[at + 1] ?? 0));
      return found.size;
    });
    expect(colours).toBeGreaterThan(2);
    expect(seen.requests.filter((url) => url.endsWith(".mjs"))).toEqual([]);
    expect(seen.complaints).toEqual([]);
  });
});

describe("a link to the site", () => {
  const tagsIn = (html: string): ReadonlyMap<string, string> =>
    new Map(
      [...html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)" \/>/g)].map(([, name = "", text = ""]) => [
        name,
        text,
      ]),
    );

  test("shows the sentence of the page, and a picture that is there, by its whole address", async () => {
    const html = await readFile(join(SITE, "index.html"), "utf8");
    const tags = tagsIn(html);
    const [, heading = ""] = /<h1>([^]*?)<\/h1>/.exec(html) ?? [];
    const sentence = heading
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
    expect(tags.get("og:title")).toBe(sentence);
    expect(tags.get("og:url")).toBe(TEST_URL);
    expect(tags.get("og:image")).toBe(`${TEST_URL}preview.png`);
    const picture = await readFile(join(SITE, "preview.png"));
    expect(String(picture.subarray(1, 4))).toBe("PNG");
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)].map(String)).toEqual(
      ["og:image:width", "og:image:height"].map((name) => tags.get(name)),
    );
  });

  test("has none of it in the package, whose address is not known", async () => {
    const tags = tagsIn(await readFile(join(PLAYGROUND, "site/index.html"), "utf8"));
    expect([...tags.keys()].filter((name) => /^(?:og|twitter):/.test(name))).toEqual([]);
    expect(tags.has("description")).toBe(true);
    await expect(access(join(PLAYGROUND, "site/preview.png"))).rejects.toThrow("ENOENT");
  });
});
