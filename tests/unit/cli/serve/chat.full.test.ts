/** What a configuration of `sluice serve` brings to the chat, and to tools that take files. */
import { mkdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { serve as serveHttp } from "@hono/node-server";
import { expect, onTestFinished, test, vi } from "vitest";
import { createScriptedModel, type Script } from "../../../../web/src/planner/llm/scripted-model.js";
import { Room } from "../command.js";
import { begin, called, EVERYTHING, serve, type Served } from "./serving.js";

const KEY = "key-of-the-model";

interface Asked {
  readonly authorization: string | null;
  readonly body: string;
}

/** A model that listens; gives its URL, and what it was asked. */
async function model(script: Script): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const answer = createScriptedModel(script);
  const server = serveHttp({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = await request.text();
      asked.push({ authorization: request.headers.get("authorization"), body });
      return answer(request.url, { method: "POST", body });
    },
  });
  onTestFinished(() => void server.close());
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

async function configured(room: Room, config: object, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const file = await room.write("serve.json", JSON.stringify(config));
  return serve(["--config", file, "--verbose"], env);
}

test("the chat asks the configured model, with its key and our instructions, and calls the tools of sources", async () => {
  const { url, asked } = await model(({ last, tools }) =>
    last.role === "tool"
      ? { text: "It said hello." }
      : { calls: [{ name: tools.find((name) => name.endsWith("echo")) ?? "", args: { message: "hello" } }] },
  );
  await using room = await Room.open();
  await using server = await configured(
    room,
    {
      sources: [{ name: "all", transport: "mcp", connection: EVERYTHING.join(" ") }],
      model: { url: "${MODEL_URL}", name: "some-model", api_key: "${MODEL_KEY}" },
      instructions: "Answer like a pirate.",
      artifacts: { max_inline_size: 5000 },
    },
    { MODEL_URL: url, MODEL_KEY: KEY },
  );
  const session = await begin(server.url);
  expect(await (await session.ask("sources")).json()).toMatchObject({ chat: true });
  const answer = await session.ask("chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"query": "Say hello."}',
  });
  expect(await answer.text()).toMatch(/event: result\n(?:id: .*\n)?data: .*It said hello\./);
  expect(asked.length).toBeGreaterThanOrEqual(2);
  for (const { authorization, body } of asked) {
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(body).toContain("Answer like a pirate.");
  }
  expect(server.said()).not.toContain(KEY);
  expect(server.said()).not.toContain(url);
});

test("without a model there is no chat", async () => {
  await using server = await serve();
  const session = await begin(server.url);
  const headers = { "content-type": "application/json" };
  expect((await session.ask("chat", { method: "POST", headers, body: '{"query": "x"}' })).status).toBe(404);
});

/** A server whose one tool gives what is in the file that it is named. */
const READER = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const tool = { name: "read", inputSchema: { type: "object", properties: { filename: { type: "string" } } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "reader", version: "1" } }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: { filename } }) => ({ content: [{ type: "text", text: filename + ": " + readFileSync(filename, "utf8") }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params);
  const error = { code: -32601, message: "There is no such method." };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }) + "\\n");
}
`;

test("tools that take files find them in the configured folder, by path", async () => {
  await using room = await Room.open();
  const program = await room.write("reader.mjs", READER);
  await mkdir(room.path("work"));
  await using server = await configured(room, {
    sources: [{ name: "reader", transport: "mcp", connection: `"${process.execPath}" "${program}"`, user_files: true }],
    files: { folders: "./work" },
  });
  const session = await begin(server.url);
  const put = await session.ask("files?filename=note.txt", {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "what is in it",
  });
  expect(put.status).toBe(201);
  const { observation } = (await called(session, "reader.read", { filename: "note.txt" })) as { observation: unknown };
  // It read the file in that folder; whoever asks is told its name.
  expect(JSON.stringify(observation)).toContain("note.txt: what is in it");
  expect(JSON.stringify(observation)).not.toContain(room.path("work"));
  expect(await readFile(room.path("work/local/input_files/note.txt"), "utf8")).toBe("what is in it");
});

test("a file that a call may not have is logged, with the tool, the user and the time", async () => {
  await using room = await Room.open();
  const program = await room.write("reader.mjs", READER);
  await using server = await configured(room, {
    sources: [{ name: "reader", transport: "mcp", connection: `"${process.execPath}" "${program}"`, user_files: true }],
    files: true,
  });
  const session = await begin(server.url);
  const { observation } = (await called(session, "reader.read", { filename: "none.txt" })) as { observation: unknown };
  expect(JSON.stringify(observation)).toContain("E_NOT_FOUND");
  await vi.waitFor(() =>
    expect(server.said()).toMatch(
      /^sluice: \d{4}-\d\d-\d\dT\S+Z reader\.read for "local" was refused what its arguments name: .*"none\.txt"$/m,
    ),
  );
});
