/** `sluice serve` on one machine: what it serves, where it keeps it, and how it ends. */
import { once } from "node:events";
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Room } from "../command.js";
import {
  asked,
  begin,
  called,
  EVERYTHING,
  initialized,
  posted,
  serve,
  stored,
  withWord,
  type Served,
} from "./serving.js";

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
      sources: [{ name: "everything", transport: "mcp", has_mcp: true }],
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

  test("passes messages of pages on as they are", async () => {
    const session = await begin(server.url);
    const headers = await initialized(session, "everything");
    const call = { id: 1, method: "tools/call", params: { name: "get-tiny-image", arguments: {} } };
    const text = await (await posted(session, "everything", call, headers)).text();
    expect(text).toContain("iVBORw0KGgo");
    expect(text).not.toContain("sluice");
  });

  test("serves what it has to nobody who is in no session", async () => {
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
    expect(await withWord(word)).toBeGreaterThan(2);
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
    await vi.waitFor(() => expect(server.said()).toContain("ending"), { timeout: 5000 });
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
    await vi.waitFor(() => expect(server.said()).toContain("ending"), { timeout: 5000 });
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
  for (const secret of [token, session.headers["authorization"] ?? "none"]) expect(server.said()).not.toContain(secret);
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
      const { status, body } = await asked(`${server.url}${path}`, own);
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 403, { error: { code: "E_FORBIDDEN" } }]);
    }
    expect((await asked(`${server.url}sessions`, { host, ...headers }, "POST")).status).toBe(403);
  });

  test.each(["127.0.0.1", "localhost", "[::1]"])("%s is this machine", async (name) => {
    const own = `${name}:${new URL(server.url).port}`;
    expect((await asked(`${server.url}health`, { host: own, origin: `http://${own}` })).status).toBe(200);
  });
});
