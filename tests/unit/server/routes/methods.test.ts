/** Addresses, methods and headers: the same everywhere. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { SAFETY } from "../../../../web/src/server/http/headers.js";
import { calledOnce, listening, program, served, visitor } from "../sources/serving.js";
import { Visitor } from "../visitor.js";

const ID = "web_0123456789ab";
const HERE = "http://127.0.0.1:8080";

/** Addresses and what may be asked of each, as `Allow` says it. */
const ADDRESSES: readonly (readonly [path: string, allowed: string])[] = [
  ["/health", "GET, HEAD"],
  ["/ready", "GET, HEAD"],
  ["/sessions", "POST"],
  ["/sessions/current", "GET, HEAD, DELETE"],
  ["/artifacts", "GET, HEAD, POST"],
  [`/artifacts/${ID}`, "GET, HEAD, DELETE"],
  [`/artifacts/${ID}/meta`, "GET, HEAD"],
  ["/events", "GET, HEAD"],
  ["/files", "GET, HEAD, POST"],
  [`/files/${ID}`, "GET, HEAD, PATCH, DELETE"],
  [`/files/${ID}/meta`, "GET, HEAD"],
  [`/files/${ID}/versions`, "GET, HEAD"],
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] as const;

const made = (base = "/"): SluiceServer =>
  new SluiceServer({ store: new MemoryArtifactStore(), filesStore: new MemoryArtifactStore(), base });

function expectSafe(response: Response): void {
  for (const [name, value] of Object.entries(SAFETY)) expect(response.headers.get(name)).toBe(value);
}

test.each(ADDRESSES)("%s answers to %s alone, and says so", async (path, allowed) => {
  await using server = made();
  for (const method of METHODS) {
    const ada = await Visitor.of(server);
    const response = await ada.ask(path, { method });
    const isAllowed = allowed.split(", ").includes(method);
    const { status, headers } = response;
    expect([method, status === 405, headers.get("allow")]).toEqual([method, !isAllowed, isAllowed ? null : allowed]);
    expectSafe(response);
    // Of one that is allowed, as long as it may last, no more is read.
    const text = await (isAllowed && method !== "HEAD" ? response.body?.cancel() : response.text());
    const told = text === undefined ? "something" : (/E_\w+/.exec(text)?.[0] ?? text);
    expect(told).toBe(method === "HEAD" ? "" : isAllowed ? "something" : "E_INVALID_ARGUMENT");
  }
});

test.each([
  "/nothing",
  "/artifacts/x/y",
  `/artifacts/${ID}/meta/more`,
  "/files/a/b",
  "/events/x",
  "/health/x",
  "/sessions/a/b",
  "/%2e%2e/x",
])("%s is nowhere, for every method", async (path) => {
  await using server = made();
  const ada = await Visitor.of(server);
  for (const method of METHODS) {
    const response = await ada.ask(path, { method });
    expect([method, response.status]).toEqual([method, 404]);
    expectSafe(response);
  }
});

test.each(ADDRESSES.slice(3))("%s needs a session, whatever is asked", async (path) => {
  await using server = made();
  for (const headers of [{}, { authorization: "Bearer x.y.z" }, { cookie: "sluice_session_8080=x.y.z" }] as Record<
    string,
    string
  >[]) {
    for (const method of METHODS) {
      const response = await server.fetch(new Request(`${HERE}${path}`, { method, headers }));
      expect([method, response.status]).toEqual([method, 401]);
      expectSafe(response);
    }
  }
});

test("below a path of its own it is the same", async () => {
  await using server = made("/sluice/");
  const at = (path: string): Promise<Response> => server.fetch(new Request(`${HERE}${path}`));
  expect((await at("/sluice/health")).status).toBe(200);
  expect((await at("/health")).status).toBe(404);
  const begun = await server.fetch(
    new Request(`${HERE}/sluice/sessions`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    }),
  );
  const [cookie = ""] = begun.headers.getSetCookie();
  expect(cookie).toContain("Path=/sluice/");
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  const stored = await server.fetch(new Request(`${HERE}/sluice/artifacts`, { method: "POST", body: "x", headers }));
  expect(stored.headers.get("location")).toMatch(/^\/sluice\/artifacts\/upload_/);
  const got = await server.fetch(new Request(new URL(stored.headers.get("location") ?? "", HERE), { headers }));
  expect(await got.text()).toBe("x");
});

test("a server that is closed says so, and answers nothing else", async () => {
  const server = made();
  const ada = await Visitor.of(server);
  await server[Symbol.asyncDispose]();
  const health = await ada.ask("/health");
  expect([health.status, await health.json()]).toEqual([503, { status: "closing" }]);
  const ready = await ada.ask("/ready");
  expect([ready.status, await ready.json()]).toEqual([503, { status: "closing" }]);
  const list = await ada.ask("/artifacts");
  expect([list.status, list.headers.get("retry-after")]).toEqual([503, "1"]);
  await server[Symbol.asyncDispose]();
});

/** The reference server that has everything, behind a server of ours: over stdio, and over HTTP. */
const MANIFEST = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
const PROGRAM = join(dirname(MANIFEST), "dist/index.js");
const TEXT = "demo://resource/dynamic/text/1";
const BLOB = "demo://resource/dynamic/blob/1";

async function overHttp(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [PROGRAM, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  await expect
    .poll(
      () =>
        fetch(url).then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  return url;
}

const WAYS = [
  ["stdio", async () => `"${process.execPath}" "${PROGRAM}" stdio`],
  ["Streamable HTTP", overHttp],
] as const;

describe.each(WAYS)("%s", (_, connection) => {
  const begun = async (): Promise<Visitor> => visitor(served({ sources: [program("all", await connection())] }));

  test("its tools are listed and called; an image is stored, and downloaded as it was", async () => {
    const ada = await begun();
    const { tools } = await ada.json<{ tools: readonly { name: string }[] }>("/tools");
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["all.echo", "all.get-tiny-image", "all.resources_read"]),
    );
    const { artifacts } = (await (await calledOnce(ada, "all.get-tiny-image")).json()) as {
      artifacts: readonly { id: string }[];
    };
    const image = await ada.ask(`/artifacts/${artifacts[0]?.id}`);
    expect(image.headers.get("content-type")).toBe("image/png");
    const bytes = Buffer.from(await image.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  });

  test("its resources are listed, read and watched", async () => {
    const ada = await begun();
    const { templates } = await ada.json<{ templates: readonly { uri_template: string }[] }>(
      "/resources/all/templates",
    );
    expect(templates.map(({ uri_template }) => uri_template)).toContain("demo://resource/dynamic/text/{resourceId}");
    const read = (uri: string): Promise<unknown> => ada.json(`/resources/all/${encodeURIComponent(uri)}`);
    expect(await read(TEXT)).toMatchObject({
      contents: [{ kind: "text", uri: TEXT, text: expect.stringContaining("Resource 1") }],
    });
    expect(await read(BLOB)).toMatchObject({ contents: [{ kind: "artifact", uri: BLOB }] });
    expect((await ada.ask(`/resources/all/${encodeURIComponent(TEXT)}/subscription`, { method: "PUT" })).status).toBe(
      204,
    );
    await using events = await listening(ada);
    const told = events.next("resource_updated");
    // It tells every five seconds.
    await calledOnce(ada, "all.toggle-subscriber-updates");
    expect(await told).toEqual({ kind: "resource_updated", namespace: "all", uri: TEXT });
  });
});
