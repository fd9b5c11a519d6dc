/**
 * What a ToolNode tells its host, and a host its model, beside results.
 */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, wrapClient } from "../../../web/src/node.js";
import { ToolNode, ToolNodeError, type ExternalToolConfig } from "../../../web/src/tools-node.js";
import { faulty } from "../core/faulty-store.js";
import { startSaying, type Saying } from "./listeners.js";

const pdf = Buffer.concat([Buffer.from("%PDF-1.7\n1 0 obj\n<< >>\nendobj\n"), Buffer.alloc(2000, "pages ")]);
const base64 = pdf.toString("base64");

let folder: string;
let saying: Saying;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-told-")));
  saying = await startSaying(folder);
});

afterAll(async () => {
  await saying[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

test("tools are told without bytes, at a limited length, and progress too", async () => {
  const properties = { file: { type: "string", description: `Such as ${base64}` } };
  const tool = {
    name: "give",
    description: `${"word ".repeat(5000)}${base64}`,
    inputSchema: { type: "object", properties },
  };
  await saying.say({
    "tools/list": { result: { tools: [tool] } },
    "tools/call": {
      before: [
        {
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: 0, progress: 1, message: base64.repeat(3) },
        },
      ],
      result: { content: [{ type: "text", text: "done" }] },
    },
  });
  await using node = new ToolNode({ name: "src", transport: "mcp", connection: saying.url });
  await node.connect();
  const [given] = node.getTools();
  expect(given?.description.length).toBeLessThan(20_100);
  expect(given?.description).toContain("more characters left out]");
  expect(JSON.stringify(given?.input_schema)).toContain(`Such as [${pdf.length} bytes removed]`);
  expect(JSON.stringify(given)).not.toContain(base64.slice(0, 100));
  const told: (string | undefined)[] = [];
  await node.call("src.give", {}, { onProgress: ({ message }) => void told.push(message) });
  expect(told.map((message) => message?.length)).toEqual([1000]);
});

test("resources, templates and prompts are told without bytes", async () => {
  const description = `Such as ${base64}`;
  await saying.say({
    "resources/list": { result: { resources: [{ uri: "a:b", name: "b", description }] } },
    "resources/templates/list": { result: { resourceTemplates: [{ uriTemplate: "a:{b}", name: "b", description }] } },
    "prompts/list": { result: { prompts: [{ name: "p", description, arguments: [{ name: "q", description }] }] } },
  });
  await using node = new ToolNode({ name: "src", transport: "mcp", connection: saying.url });
  await node.connect();
  const told = `Such as [${pdf.length} bytes removed]`;
  expect((await node.listResources()).items).toMatchObject([{ uri: "a:b", description: told }]);
  expect((await node.listResourceTemplates()).items).toMatchObject([{ uri_template: "a:{b}", description: told }]);
  expect((await node.listPrompts()).items).toMatchObject([
    { name: "p", description: told, arguments: [{ name: "q", description: told }] },
  ]);
});

test("a command has no input, and no file of a shell is read for it", async () => {
  const home = await mkdtemp(join(folder, "home-"));
  for (const name of [".bashrc", ".bash_profile", ".profile"])
    await writeFile(join(home, name), "export SECRET=read\n");
  const connection = `bash -c 'cat; echo "secret: $SECRET."'`;
  await using node = new ToolNode({ name: "src", transport: "cli", connection, env: { HOME: home, SHLVL: "0" } });
  await node.connect();
  expect((await node.call("src.run", {})).text).toContain("secret: .");
});

test("a store that keeps nothing keeps the beginning of a text", async () => {
  const { NoOpArtifactStore } = await import("../../../web/src/node.js");
  const store = new NoOpArtifactStore({ warn: () => undefined });
  const text = "The sea. ".repeat(200);
  expect((await store.putText(text)).source).toMatchObject({ preview: text.slice(0, 500), truncated: true });
  const short = new NoOpArtifactStore({ warn: () => undefined, maxInlinePreview: 3 });
  expect((await short.putText("a😀b😀c")).source).toMatchObject({ preview: "a😀b" });
  expect(() => new NoOpArtifactStore({ maxInlinePreview: -1 })).toThrow("maxInlinePreview");
  // Its bytes are bytes, of which nothing is told.
  expect((await store.putBytes(pdf)).source).not.toHaveProperty("preview");
});

describe("where failures of the store are asked for, a call throws the store's own", () => {
  const config = { artifact_extraction: { interceptor: { on_store_failure: "error" as const } } };
  const give = { name: "give", inputSchema: { type: "object" } };
  const content = [{ type: "resource", resource: { uri: "a:b", blob: base64, mimeType: "application/pdf" } }];
  const small = new MemoryArtifactStore({ retention: { max_artifact_bytes: 600 } });
  const full = faulty(new MemoryArtifactStore(), (call) => {
    if (call === "openWriter") throw Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" });
  }).store;

  test.each([
    ["E_TOO_LARGE", small],
    ["E_STORE_FULL", full],
  ])("%s", async (code, store) => {
    await saying.say({ "tools/list": { result: { tools: [give] } }, "tools/call": { result: { content } } });
    const file = join(folder, "page.pdf");
    await writeFile(file, pdf);
    const paths = { "/f": { get: { operationId: "run", responses: {} } } };
    const api = { openapi: "3.1.0", info: { title: "x", version: "1" }, paths };
    const server = createServer(({ url }, response) => {
      const isApi = url === "/api.json";
      response.writeHead(200, { "content-type": isApi ? "application/json" : "application/pdf" });
      response.end(isApi ? JSON.stringify({ ...api, servers: [{ url: at }] }) : pdf);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sources: readonly (readonly [string, ExternalToolConfig])[] = [
      ["give", { name: "a", transport: "mcp", connection: saying.url, ...config }],
      ["run", { name: "b", transport: "cli", connection: `cat ${file}`, ...config }],
      ["run", { name: "c", transport: "http", connection: `${at}/api.json`, ...config }],
    ];
    for (const [tool, source] of sources) {
      await using node = new ToolNode(source, { store });
      await node.connect();
      const error: unknown = await node.call(tool).catch((thrown: unknown) => thrown);
      expect([source.name, error]).toEqual([source.name, expect.objectContaining({ code })]);
      expect(error).not.toBeInstanceOf(ToolNodeError);
    }
    server.close();
  });
});

test("a session that is lost for good is not called again", async () => {
  let sessions = 0;
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
      const send = (result: object): void => {
        const headers = { "content-type": "application/json", "mcp-session-id": `s${(sessions += 1)}` };
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      };
      const serverInfo = { name: "x", version: "1" };
      if (method === "initialize") send({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
      else if (method === "tools/list") send({ tools: [{ name: "give", inputSchema: { type: "object" } }] });
      else if (method === "tools/call") response.writeHead(404).end();
      else response.writeHead(method === "server/discover" ? 400 : 202).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connection = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  await using node = new ToolNode({ name: "src", transport: "mcp", connection });
  await node.connect();
  const error = (await node.call("give").catch((thrown: unknown) => thrown)) as ToolNodeError;
  expect(error).toMatchObject({ code: "E_TOOL_CONNECTION", isRetryable: false });
  expect(error.message).toContain("does not keep its sessions");
  expect(error.message).not.toContain("call again");
  server.closeAllConnections();
  server.close();
});

test("a key that has no effect between a client and a server is refused by its name", async () => {
  const config = { resources: { auto_read_if_size_under_bytes: 1000 } };
  const client = wrapClient({ callTool: async (_: object) => ({ content: [] }) }, { config });
  await expect(client.callTool({ name: "a" })).rejects.toThrow("resources.auto_read_if_size_under_bytes");
  await expect(createSluice({ config })).resolves.toBeDefined();
});
