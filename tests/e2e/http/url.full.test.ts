/** `sluice proxy --listen --url`: what passes, what does not, and who may ask. */
import { once } from "node:events";
import { request as plainRequest, type IncomingMessage } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveFixture } from "../serving.js";
import { calling, json, listening, messagesOf, modern, post, session, upstream } from "./proxies.js";

const TOKEN = "a-token-that-is-long-enough";
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(30_000, 7)]);

let folder: string;
const options = (): string[] => ["--store", folder, "--namespace", "http"];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-http-"));
});

afterAll(() => rm(folder, { recursive: true }));

it("hands through that the server wants authorization, and what it says of how", async () => {
  await using server = await upstream(({ url, headers }, response) => {
    if (url?.startsWith("/.well-known/") === true) return json(response, { url });
    if (headers.authorization !== undefined) return json(response, { jsonrpc: "2.0", id: 1, result: {} });
    response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://example.com/x"' }).end("no");
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const refused = await post(proxy.url, calling(1, "any"));
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe('Bearer resource_metadata="https://example.com/x"');
  expect(await refused.text()).toBe("no");
  expect(proxy.said()).toMatch(/^sluice: the server needs authorization: .+$/m);
  const known = await fetch(new URL("/.well-known/oauth-protected-resource/mcp?a=b", proxy.url));
  expect(await known.json()).toEqual({ url: "/.well-known/oauth-protected-resource/mcp?a=b" });
  const passed = await post(proxy.url, calling(1, "any"), { authorization: "Bearer mine" });
  expect(passed.status).toBe(200);
});

it("answers nobody in the server's place whom the server does not let in", async () => {
  await using server = await upstream((_request, response) => void response.writeHead(401).end());
  await using proxy = await listening([...options(), "--url", server.url]);
  const own = await post(proxy.url, calling(1, "http_artifact_read", { uri: "artifact://http_000000000000" }));
  expect(own.status).toBe(401);
});

it("gives what one client stored to no client with another authorization", async () => {
  await using server = await upstream((_request, response, body) => {
    const { id, params } = JSON.parse(body) as { id: number; params: { name: string } };
    const image = { type: "image", mimeType: "image/png", data: PNG.toString("base64") };
    json(response, { jsonrpc: "2.0", id, result: { content: params.name === "shot" ? [image] : [] } });
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const asked = async (user: string, name: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
    const response = await post(proxy.url, calling(1, name, args), { authorization: `Bearer ${user}` });
    return JSON.stringify(await messagesOf(response));
  };
  const uri = /artifact:\/\/\w+/.exec(await asked("ada", "shot", {}))?.[0];
  await asked("bob", "any", {});
  const wanted = { uri, bytes: "0-7" };
  expect(await asked("ada", "http_artifact_read", wanted)).toContain("89 50 4e 47");
  expect(await asked("bob", "http_artifact_read", wanted)).toContain("There is no artifact");
});

it("passes every header but those of a connection, and adds its own", async () => {
  await using server = await upstream(({ headers }, response, body) => {
    const { id } = JSON.parse(body) as { id: number };
    json(response, { jsonrpc: "2.0", id, result: headers }, { "x-from": "server" });
  });
  await using proxy = await listening([...options(), "--url", server.url, "--header", "X-Key: secret: 1"]);
  const response = await post(proxy.url, calling(1, "any"), {
    "mcp-param-region": "eu",
    "x-key": "theirs",
    cookie: "a=b",
  });
  expect(response.headers.get("x-from")).toBe("server");
  const [message] = await messagesOf(response);
  expect(message?.["result"]).toMatchObject({ "mcp-param-region": "eu", "x-key": "secret: 1", cookie: "a=b" });
  expect(message?.["result"]).toMatchObject({ host: new URL(server.url).host });
});

it("keeps clients apart that have the same ids and no session", async () => {
  const waiting: (() => void)[] = [];
  await using server = await upstream(async (_request, response, body) => {
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    // The call is answered after the other request with its id has come.
    if (method === "tools/call") await new Promise<void>((resolve) => void waiting.push(resolve));
    else for (const go of waiting.splice(0)) go();
    const image = { type: "image", data: PNG.toString("base64"), mimeType: "image/png" };
    json(response, { jsonrpc: "2.0", id, result: method === "tools/call" ? { content: [image] } : { tools: [] } });
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const call = post(proxy.url, ...modern(1, "tools/call", { name: "image" }));
  while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const [listed] = await messagesOf(await post(proxy.url, ...modern(1, "tools/list")));
  const [called] = await messagesOf(await call);
  expect(listed?.["result"]).toMatchObject({ tools: [{ name: "http_artifact_read" }, { name: "http_artifact_edit" }] });
  expect(JSON.stringify(called)).toContain("[sluice] PNG image");
  expect(JSON.stringify(called)).not.toContain(PNG.toString("base64").slice(0, 400));
});

it("passes events that only say where to go on", async () => {
  await using fixture = await serveFixture();
  await using proxy = await listening([...options(), "--url", fixture.url]);
  const headers = await session(proxy.url);
  const response = await post(proxy.url, calling(1, "progress", { steps: 1 }), headers);
  expect(await response.text()).toMatch(/^id: .+\nretry: 50\ndata: *\n\n/);
});

it("passes what needs no change byte for byte", async () => {
  const text = '{ "jsonrpc":"2.0", "id":1,\n "result":{"content":[{"type":"text","text":"\\u00e9"}],"n":1.0e2} }';
  await using server = await upstream((_request, response) => {
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(text);
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  expect(await (await post(proxy.url, calling(1, "any"))).text()).toBe(text);
  await using bypass = await listening([...options(), "--bypass", "--url", server.url]);
  expect(await (await post(bypass.url, calling(1, "any"))).text()).toBe(text);
});

it("ends the server's work when the client goes", async () => {
  const closed: Promise<unknown>[] = [];
  await using server = await upstream((_request, response) => {
    closed.push(once(response, "close"));
    response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n");
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const abort = new AbortController();
  const response = await fetch(proxy.url, { headers: { accept: "text/event-stream" }, signal: abort.signal });
  abort.abort();
  await expect(response.text()).rejects.toThrow("aborted");
  await Promise.all(closed);
  expect(closed).toHaveLength(1);
});

it("has no path around it", async () => {
  await using server = await upstream(({ headers }, response) => {
    response.writeHead(307, { location: `http://${headers.host}/mcp/` }).end();
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const response = await fetch(proxy.url, { method: "POST", redirect: "manual", body: "{}" });
  expect([response.status, response.headers.get("location")]).toEqual([307, "/mcp/"]);
});

it("reads no further ahead than its client does", async () => {
  let written = 0;
  const event = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: "x".repeat(100_000) })}\n\n`;
  await using server = await upstream(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let count = 0; count < 2000 && !response.destroyed; count += 1) {
      written += event.length;
      await new Promise((resolve) => response.write(event, resolve));
    }
    response.end();
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const { port } = new URL(proxy.url);
  const request = plainRequest({ port, path: "/mcp", headers: { host: "localhost", accept: "text/event-stream" } });
  const [response] = (await once(request.end(), "response")) as [IncomingMessage];
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  // What the sockets between hold, of 200 MB.
  expect(written).toBeLessThan(50_000_000);
  let read = 0;
  for await (const chunk of response) read += (chunk as Buffer).length;
  expect(read).toBe(event.length * 2000);
});

it("says that the server is down, and not where it would be", async () => {
  await using proxy = await listening([...options(), "--url", "http://127.0.0.1:1/mcp"]);
  const response = await post(proxy.url, calling("seven", "any"));
  expect(response.status).toBe(502);
  const message =
    "The server cannot be reached: nothing is listening there; check its address, and that it is running.";
  const error = { code: -32_000, message };
  expect(await response.json()).toEqual({ jsonrpc: "2.0", id: "seven", error });
});

it("sends no message on that is larger than servers take", async () => {
  const seen: string[] = [];
  await using server = await upstream((_request, response, body) => {
    seen.push(body);
    response.writeHead(202).end();
  });
  await using proxy = await listening([...options(), "--url", server.url]);
  const response = await post(proxy.url, calling(5, "any", { text: "x".repeat(9 * 1024 * 1024) }));
  expect(await response.json()).toMatchObject({ id: 5, error: { code: -32_600 } });
  expect(seen).toEqual([]);
});

it("answers only those who name this machine, whatever else they say", async () => {
  await using server = await upstream((_request, response) => json(response, { jsonrpc: "2.0", id: 1, result: {} }));
  await using proxy = await listening([...options(), "--url", server.url]);
  const { port } = new URL(proxy.url);
  expect(await statusOf(proxy.url, { host: "evil.example" })).toBe(403);
  expect(await statusOf(proxy.url, { host: `localhost:${port}` })).toBe(200);
  expect(await statusOf(proxy.url, { host: `localhost:${port}`, origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(proxy.url, { host: `localhost:${port}`, origin: "null" })).toBe(403);
  expect(await statusOf(proxy.url, { host: `localhost:${port}`, origin: "http://localhost:6274" })).toBe(200);
});

it("wants the token that it was given, and keeps it to itself", async () => {
  await using server = await upstream(({ headers }, response) => {
    json(response, { jsonrpc: "2.0", id: 1, result: { seen: headers.authorization ?? null } });
  });
  await using proxy = await listening([...options(), "--url", server.url], { SLUICE_PROXY_TOKEN: TOKEN });
  const without = await post(proxy.url, calling(1, "any"));
  expect([without.status, without.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  expect((await post(proxy.url, calling(1, "any"), { authorization: `Bearer ${TOKEN}x` })).status).toBe(401);
  const [message] = await messagesOf(await post(proxy.url, calling(1, "any"), { authorization: `Bearer ${TOKEN}` }));
  expect(message?.["result"]).toEqual({ seen: null });
});

it("does not listen where others could reach it without a token", async () => {
  const args = [...options(), "--url", "http://127.0.0.1:1/mcp"];
  await expect(listening(args, {}, "0.0.0.0:0")).rejects.toThrow("SLUICE_PROXY_TOKEN");
});

/** `fetch` says itself what the headers Host and Origin are. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = plainRequest(url, { method: "POST", headers: { "content-type": "application/json", ...headers } });
    request.once("error", reject).once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.end(JSON.stringify(calling(1, "any")));
  });
}
