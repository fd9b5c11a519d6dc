/**
 * What a ToolNode tells its host, and a host its model, beside results.
 */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSluice, wrapClient } from "../../../web/src/node.js";
import { ToolNode } from "../../../web/src/tools-node.js";
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

test("a key that has no effect between a client and a server is refused by its name", async () => {
  const config = { resources: { auto_read_if_size_under_bytes: 1000 } };
  const client = wrapClient({ callTool: async (_: object) => ({ content: [] }) }, { config });
  await expect(client.callTool({ name: "a" })).rejects.toThrow("resources.auto_read_if_size_under_bytes");
  await expect(createSluice({ config })).resolves.toBeDefined();
});
