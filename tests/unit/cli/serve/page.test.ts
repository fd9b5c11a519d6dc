import { mkdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Page } from "../../../../web/src/cli/serve/page.js";
import { Room } from "../command.js";

const FILES = {
  "index.html": "<!doctype html><html><head><title>Page</title></head><body></body></html>",
  "callback.html": "<!doctype html><head></head>",
  "sw.js": "self.x = 1;",
  "assets/main-1a2b3c.js": "export {};",
  "assets/core-1a2b3c.wasm": "\0asm",
  "pdf/pdf.worker.min.mjs": "export {};",
  "manifest.webmanifest": "{}",
  "icon.svg": "<svg/>",
  "pdf/standard_fonts/some.pfb": "bytes",
};

let room: Room;
let page: Page;

beforeAll(async () => {
  room = await Room.open();
  await room.write("secret.txt", "secret");
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(room.path(`site/${name}`)), { recursive: true });
    await room.write(`site/${name}`, content);
  }
  await symlink(room.path("secret.txt"), room.path("site/link.txt"));
  page = (await Page.open(room.path("site"))) as Page;
});

afterAll(() => room[Symbol.asyncDispose]());

const asked = (path: string, init?: RequestInit): Promise<Response> =>
  page.answer(new Request(`http://127.0.0.1:4751${path}`, init));

describe("the page", () => {
  test.each([
    ["/", "text/html"],
    ["/index.html", "text/html"],
    ["/sw.js", "text/javascript"],
    ["/assets/core-1a2b3c.wasm", "application/wasm"],
    ["/pdf/pdf.worker.min.mjs", "text/javascript"],
    ["/manifest.webmanifest", "application/manifest+json"],
    ["/icon.svg", "image/svg+xml"],
    ["/pdf/standard_fonts/some.pfb", "application/octet-stream"],
  ])("%s is %s, and nothing is guessed", async (path, type) => {
    const answer = await asked(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toContain(type);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const bytes = await answer.arrayBuffer();
    expect(answer.headers.get("content-length")).toBe(String(bytes.byteLength));
  });

  test("is told where its server is, and no other page is", async () => {
    expect(await (await asked("/")).text()).toBe(
      FILES["index.html"].replace("</head>", '<meta name="sluice-server" content="./" /></head>'),
    );
    expect(await (await asked("/callback.html")).text()).toBe(FILES["callback.html"]);
  });

  test("is shown in no frame", async () => {
    for (const path of ["/", "/callback.html"]) {
      expect((await asked(path)).headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
    }
    expect((await asked("/sw.js")).headers.get("content-security-policy")).toBeNull();
  });

  test("is asked for anew each time, at the price of a header; what has a hash in its name is not", async () => {
    for (const path of ["/", "/sw.js", "/pdf/pdf.worker.min.mjs"]) {
      const answer = await asked(path);
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      const again = await asked(path, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
    expect((await asked("/assets/main-1a2b3c.js")).headers.get("cache-control")).toBe(
      "public, max-age=31536000, immutable",
    );
  });

  test("has tags by its content: another content has another", async () => {
    const tags = await Promise.all(
      Object.keys(FILES).map(async (name) => (await asked(`/${name}`)).headers.get("etag")),
    );
    const contents = new Set(Object.values(FILES));
    expect(new Set(tags).size).toBe(contents.size);
  });

  test("answers HEAD with all but the content", async () => {
    const answer = await asked("/sw.js", { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "11", ""]);
  });

  test.each(["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/..%5c..%5csecret.txt", "/link.txt"])(
    "%s leads out of it, and to nothing",
    async (path) => {
      expect(page.has(new URL(path, "http://x").pathname)).toBe(false);
      const answer = await asked(path);
      expect([answer.status, await answer.text()]).toEqual([404, ""]);
    },
  );

  test("has no address but those of its files", () => {
    const known = new Set(Object.keys(FILES).map((name) => `/${name}`));
    const any = fc.webPath().map((path) => `/${path}`);
    const path = fc.oneof(
      any,
      fc.constantFrom("", "/assets/", "/../", "/pdf/").chain((first) => any.map((rest) => first + rest)),
    );
    fc.assert(
      fc.property(path, (said) => {
        const { pathname } = new URL(`http://x${said}`);
        expect(page.has(pathname)).toBe(pathname === "/" || known.has(pathname));
      }),
    );
  });
});

test("a folder that is not there, or has no page in it, is none", async () => {
  expect(await Page.open(room.path("none"))).toBeNull();
  expect(await Page.open(room.path("site/assets"))).toBeNull();
});
