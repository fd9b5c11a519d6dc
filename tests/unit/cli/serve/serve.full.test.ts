/** `sluice serve` on one machine: what it serves, where it keeps it, and how it ends. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Page } from "../../../../web/src/cli/serve/page.js";
import { Room } from "../command.js";
import {
  asked as askedOf,
  begin,
  beginAsPage,
  called,
  EVERYTHING,
  initialized,
  posted,
  serve,
  type Served,
  stored,
  withWord,
} from "./serving.js";

describe("sluice serve", () => {
  const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

  describe("a server in front of a command", () => {
    let server: Served;

    beforeAll(async () => {
      server = await serve(["--", ...EVERYTHING]);
    });

    afterAll(() => server[Symbol.asyncDispose]());

    test("offers it as a source, by its own name, to tools and to pages", async () => {
      const session = await begin(server.url);
      expect(await (await session.ask("sources")).json()).toMatchObject({
        sources: [{ name: "everything", transport: "mcp" }],
        chat: false,
        files: true,
      });
    });

    test("calls its tools, and stores what they give for the session alone", async () => {
      const session = await begin(server.url);
      expect(await called(session, "everything.echo", { message: "hello" })).toMatchObject({ is_error: false });
      const { artifacts } = (await called(session, "everything.get-tiny-image", {})) as {
        artifacts: readonly { id: string; mime_type: string; sha256: string }[];
      };
      const [image] = artifacts;
      expect(image?.mime_type).toBe("image/png");
      const bytes = new Uint8Array(await (await session.ask(`artifacts/${image?.id}`)).arrayBuffer());
      expect(sha256(bytes)).toBe(image?.sha256);
      const other = await begin(server.url);
      expect((await other.ask(`artifacts/${image?.id}`)).status).toBe(404);
    });

    test("gives its own page results as the source answered", async () => {
      const session = await beginAsPage(server.url);
      const headers = await initialized(session, "everything", "raw");
      const call = { id: 1, method: "tools/call", params: { name: "get-tiny-image", arguments: {} } };
      const text = await (await posted(session, "everything", call, headers, "raw")).text();
      expect(text).toContain("iVBORw0KGgo");
      expect(text).not.toContain("sluice");
    });

    test("serves nothing without a session", async () => {
      for (const path of ["artifacts", "sources", "tools", "events", "mcp/everything", "files"]) {
        expect([path, (await fetch(`${server.url}${path}`)).status]).toEqual([path, 401]);
      }
      expect((await fetch(`${server.url}health`)).status).toBe(200);
    });
  });

  test("the command sees the environment, but nothing that is the server's own", async () => {
    const secret = randomBytes(24).toString("hex");
    await using server = await serve(["--", ...EVERYTHING], {
      SLUICE_SERVE_SECRET: secret,
      SLUICE_SERVE_TOKEN: `token-${secret}`,
      SOME_VARIABLE: "is ${handed} on",
    });
    const session = await begin(server.url, { authorization: `Bearer token-${secret}` });
    const headers = await initialized(session, "everything");
    const call = { id: 1, method: "tools/call", params: { name: "get-env", arguments: {} } };
    const seen = [
      JSON.stringify(await called(session, "everything.get-env", {})),
      await (await posted(session, "everything", call, headers)).text(),
    ];
    for (const text of seen) {
      expect(text).toContain("is ${handed} on");
      expect(text).not.toContain(secret);
    }
  });

  test("words of a command stay as they were typed", async () => {
    const words = [`it's "one" word`, "${HOME}", "two  words", ""];
    const program = "process.stdin.resume(); process.stderr.write(JSON.stringify(process.argv.slice(1)) + '\\n')";
    await using server = await serve(["--", process.execPath, "-e", program, "--", ...words]);
    const session = await begin(server.url);
    const abort = new AbortController();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const message = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const { sources } = (await (await session.ask("sources")).json()) as { sources: readonly { name: string }[] };
    const left = session
      .ask(`mcp/${sources[0]?.name}`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: message,
        signal: abort.signal,
      })
      .catch(() => undefined);
    await vi.waitFor(() => expect(server.said()).toContain(JSON.stringify(words)), { timeout: 10_000 });
    abort.abort();
    await left;
  });

  describe("what is stored", () => {
    test("is in the folder of --store, sessions' and users' files apart, and users' files stay", async () => {
      await using room = await Room.open();
      const first = await serve(["--store", room.store]);
      const session = await begin(first.url);
      const bytes = randomBytes(100_000);
      await stored(session, bytes);
      const put = await session.ask("files?filename=mine.bin", {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: bytes as BodyInit,
      });
      expect(put.status).toBe(201);
      expect((await readdir(room.store)).sort()).toEqual(["files", "sessions"]);
      await first.end("SIGTERM");
      await using second = await serve(["--store", room.store]);
      const later = await begin(second.url);
      const { files } = (await (await later.ask("files")).json()) as { files: readonly { id: string }[] };
      const again = await later.ask(`files/${files[0]?.id}`);
      expect(sha256(new Uint8Array(await again.arrayBuffer()))).toBe(sha256(bytes));
    });

    test("goes at the end where no store is named", async () => {
      await using room = await Room.open();
      const server = await serve([], { TMPDIR: room.folder });
      await stored(await begin(server.url), randomBytes(1000));
      expect(await readdir(room.folder)).toHaveLength(1);
      await server.end("SIGTERM");
      expect(await readdir(room.folder)).toEqual([]);
    });
  });

  describe("a signal", () => {
    test.each([
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const)("%s ends it with %i, and every program that it started", async (signal, code) => {
      const word = `word-${randomBytes(8).toString("hex")}`;
      const server = await serve(["--", ...EVERYTHING, "stdio", word]);
      const session = await begin(server.url);
      await initialized(session, "everything");
      await called(session, "everything.echo", { message: "hello" });
      expect(await withWord(word)).toBeGreaterThan(1);
      const begun = performance.now();
      expect(await server.end(signal)).toEqual([code, null]);
      expect(performance.now() - begun).toBeLessThan(9500);
      expect(await withWord(word)).toBe(0);
    });

    test("lets a download come to its end, and takes nothing new", async () => {
      const server = await serve([]);
      onTestFinished(() => server[Symbol.asyncDispose]());
      const session = await begin(server.url);
      const bytes = randomBytes(30_000_000);
      const id = await stored(session, bytes);
      const download = await session.ask(`artifacts/${id}`);
      const reader = (download.body as ReadableStream<Uint8Array>).getReader();
      const pieces = [(await reader.read()).value as Uint8Array];
      const ended = server.end("SIGTERM");
      await vi.waitFor(() => expect(server.said()).toContain("stopping"), { timeout: 5000 });
      await expect(fetch(`${server.url}health`)).rejects.toThrow("fetch failed");
      for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
      expect(sha256(Buffer.concat(pieces))).toBe(sha256(bytes));
      expect(await ended).toEqual([143, null]);
    });

    test("is not held up by listeners, nor by a connection that was opened and never used", async () => {
      const server = await serve([]);
      const session = await begin(server.url);
      await session.ask("events");
      const unused = connect(Number(new URL(server.url).port), "127.0.0.1");
      await once(unused, "connect");
      const begun = performance.now();
      expect(await server.end("SIGTERM")).toEqual([143, null]);
      expect(performance.now() - begun).toBeLessThan(9000);
    });

    test("that comes twice ends it at once", async () => {
      const server = await serve([]);
      const session = await begin(server.url);
      const id = await stored(session, randomBytes(30_000_000));
      await session.ask(`artifacts/${id}`);
      server.process.kill("SIGINT");
      await vi.waitFor(() => expect(server.said()).toContain("stopping"), { timeout: 5000 });
      const begun = performance.now();
      expect(await server.end("SIGINT")).toEqual([null, "SIGINT"]);
      expect(performance.now() - begun).toBeLessThan(8000);
    });
  });

  test("--verbose tells of each request in a line, and of no secret", async () => {
    const token = randomBytes(24).toString("hex");
    await using server = await serve(["--verbose"], { SLUICE_SERVE_TOKEN: token });
    const session = await begin(server.url, { authorization: `Bearer ${token}` });
    await session.ask(`artifacts/none?token=${token}`);
    await session.ask(`artifacts/${token}`);
    await session.ask("artifacts/%1b%5b2J%0a");
    await vi.waitFor(() => expect(server.said()).toContain("%1b"), { timeout: 5000 });
    expect(server.said()).toMatch(/^sluice: POST \/sessions 201 \d+ ms$/m);
    expect(server.said()).toMatch(/^sluice: GET \/artifacts\/none 404 \d+ ms$/m);
    expect(server.said()).toMatch(/^sluice: GET \/artifacts\/… 404 \d+ ms$/m);
    for (const secret of [token, session.headers["authorization"] ?? "none"])
      expect(server.said()).not.toContain(secret);
  });

  test("without --verbose it says where it listens, and nothing else", async () => {
    await using server = await serve([]);
    await begin(server.url);
    expect(server.said()).toBe(`sluice: listening on ${server.url}\n`);
  });

  describe("a page of another origin, and a name that is somebody else's", () => {
    let server: Served;
    let host: string;

    beforeAll(async () => {
      server = await serve([]);
      ({ host } = new URL(server.url));
    });

    afterAll(() => server[Symbol.asyncDispose]());

    test.each([
      ["a name that leads here", { host: "evil.example" }],
      ["such a name with our port", { host: "evil.example:4751" }],
      ["a page elsewhere", { origin: "https://evil.example" }],
      ["a page of another port", { origin: "http://127.0.0.1:1" }],
      ["a page without an origin", { origin: "null" }],
      ["what a page elsewhere loads", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ])("%s is refused, whatever it asks for", async (_, headers) => {
      for (const path of ["", "health", "artifacts", "sessions/current", "mcp/x", "events"]) {
        const own = { host, ...headers };
        const { status, body } = await askedOf(`${server.url}${path}`, own);
        expect([path, status, JSON.parse(body)]).toMatchObject([path, 403, { error: { code: "E_FORBIDDEN" } }]);
      }
      expect((await askedOf(`${server.url}sessions`, { host, ...headers }, "POST")).status).toBe(403);
    });

    test.each(["127.0.0.1", "localhost", "[::1]"])("%s is this machine", async (name) => {
      const own = `${name}:${new URL(server.url).port}`;
      expect((await askedOf(`${server.url}health`, { host: own, origin: `http://${own}` })).status).toBe(200);
    });
  });
});

describe("its page", () => {
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

    test("is checked each time, at the price of a header; a file with a hash in its name is not", async () => {
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

    test.each([
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/..%2fsecret.txt",
      "/assets/..%5c..%5csecret.txt",
      "/link.txt",
    ])("%s leads out of it, and to nothing", async (path) => {
      expect(page.has(new URL(path, "http://x").pathname)).toBe(false);
      const answer = await asked(path);
      expect([answer.status, await answer.text()]).toEqual([404, ""]);
    });

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
});
