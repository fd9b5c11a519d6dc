/** Programs that `sluice serve` offers to pages: whose their sessions are, and when they end. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { McpGateway } from "../../../../web/src/cli/serve/mcp-gateway.js";
import { Output, type Terminal } from "../../../../web/src/cli/terminal/terminal.js";
import type { ServedSession } from "../../../../web/src/server/sessions/session.js";
import type { ExternalToolConfig } from "../../../../web/src/tools.js";
import { begin, EVERYTHING, initialized, posted, serve, withWord } from "./serving.js";

afterEach(() => vi.useRealTimers());

const word = (): string => `word-${randomBytes(8).toString("hex")}`;

const session = (id: string, user_id = "a"): ServedSession => ({
  id,
  identity: { user_id },
  begun_at: 0,
  expires_at: 1e15,
});

function terminal(): Terminal {
  const errors = new Output(new PassThrough().resume(), {});
  return { input: new PassThrough(), output: errors, errors, env: {}, signal: new AbortController().signal };
}

interface Opened {
  readonly gateway: McpGateway;
  /** Begins a session of MCP; gives its status. */
  readonly begin: (id: string, user?: string) => Promise<number>;
}

function gateway(sources: readonly ExternalToolConfig[], isOver: (id: string) => Promise<boolean>): Opened {
  const opened = new McpGateway({ sources, variables: (name) => process.env[name], terminal: terminal(), isOver });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  return {
    gateway: opened,
    begin: async (id, user) => {
      const request = new Request("http://127.0.0.1/mcp/one", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
      });
      const answer = await opened.answer("one", request, session(id, user), anyNumber);
      await answer.text();
      return answer.status;
    },
  };
}

const source = (connection: string, more: Partial<ExternalToolConfig> = {}): ExternalToolConfig => ({
  name: "one",
  transport: "mcp",
  connection,
  ...more,
});

const everything = (mark: string): ExternalToolConfig => source([...EVERYTHING, "stdio", mark].join(" "));

/** A program that answers `initialize`, and starts fast. */
async function answering(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-answering-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "server.mjs");
  await writeFile(
    file,
    `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "one", version: "1" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
`,
  );
  return file;
}

const none = async (): Promise<boolean> => false;

/** Users may have any number of programs. */
const anyNumber = async (): Promise<Disposable> => ({ [Symbol.dispose]: () => undefined });

describe("sources that are offered", () => {
  test.each([
    ["a program", source("node server.js"), ["one"]],
    [
      "a program with a credential",
      source("node x", { auth_type: "bearer", auth_config: { token: "t", env: "T" } }),
      ["one"],
    ],
    ["a program of each user's own", source("node x", { auth_type: "oauth2_user", auth_config: { env: "T" } }), []],
    ["a program that lacks a variable", source("node ${NO_SUCH_VARIABLE}"), []],
    ["an address", source("https://mcp.example/mcp"), []],
    ["no MCP", source("node x", { transport: "cli" }), []],
  ])("%s", (_, each, names) => {
    expect([...gateway([each], none).gateway.names]).toEqual(names);
  });

  test("a name that is none is not found", async () => {
    const { gateway: opened } = gateway([source("node x")], none);
    expect((await opened.answer("two", new Request("http://x/mcp/two"), session("a"), anyNumber)).status).toBe(404);
  });
});

describe("processes", () => {
  test("end with the session whose they are, and no others do", async () => {
    const mark = word();
    const { gateway: opened, begin: beginOf } = gateway([everything(mark)], none);
    expect([await beginOf("a"), await beginOf("a"), await beginOf("b")]).toEqual([200, 200, 200]);
    const one = (await withWord(mark)) / 3;
    await opened.end("a");
    expect(await withWord(mark)).toBe(one);
    await opened.end("nobody");
    expect(await withWord(mark)).toBe(one);
  });

  test("end when their session ended elsewhere, or by its time", async () => {
    const mark = word();
    const over = new Set<string>();
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const { begin: beginOf } = gateway([everything(mark)], async (id) => {
      if (id === "unknown") throw new Error("nobody knows");
      return over.has(id);
    });
    await Promise.all([beginOf("a"), beginOf("unknown")]);
    const both = await withWord(mark);
    vi.advanceTimersByTime(20_000);
    expect(await withWord(mark)).toBe(both);
    over.add("a");
    vi.advanceTimersByTime(20_000);
    await vi.waitFor(async () => expect(await withWord(mark)).toBe(both / 2), { timeout: 10_000 });
  });

  test("are eight at most: one that idles makes room, and nobody else's does", async () => {
    const mark = word();
    const { begin: beginOf } = gateway([everything(mark)], none);
    expect(await beginOf("b")).toBe(200);
    const one = await withWord(mark);
    for (let count = 0; count < 10; count += 1) expect(await beginOf("a")).toBe(200);
    expect(await withWord(mark)).toBe(9 * one);
  });

  test("are no more for a user of many sessions than leave room for others", async () => {
    const mark = word();
    const { gateway: opened, begin: beginOf } = gateway([source(`node ${await answering()} ${mark}`)], none);
    const one = [await beginOf("of another", "b"), await withWord(mark)] as const;
    expect(one[0]).toBe(200);
    for (let count = 0; count < 40; count += 1) expect(await beginOf(`${count}`)).toBe(200);
    expect(await withWord(mark)).toBe(33 * one[1]);
    // Those of the user went that idled longest, and the other's did not.
    await opened.end("of another");
    expect(await withWord(mark)).toBe(32 * one[1]);
  }, 60_000);
});

describe("over HTTP", () => {
  test("a session of MCP is found by no other session, and ends with its own", async () => {
    const mark = word();
    await using server = await serve(["--", ...EVERYTHING, "stdio", mark]);
    const [ours, theirs] = [await begin(server.url), await begin(server.url)];
    const headers = await initialized(ours, "everything");
    const list = { id: 1, method: "tools/list" };
    const stolen = await posted(theirs, "everything", list, headers);
    const unknown = await posted(theirs, "everything", list, { ...headers, "mcp-session-id": crypto.randomUUID() });
    expect([stolen.status, await stolen.text()]).toEqual([404, await unknown.text()]);
    expect((await posted(ours, "everything", list, headers)).status).toBe(200);
    expect(await withWord(mark)).toBeGreaterThan(1);
    expect((await ours.ask("sessions/current", { method: "DELETE" })).status).toBe(200);
    expect((await posted(ours, "everything", list, headers)).status).toBe(401);
    // The server itself has the word in its command line.
    expect(await withWord(mark)).toBe(1);
  });

  test("a message that is too large is refused by its id, and an endless one at all", async () => {
    await using server = await serve(["--", ...EVERYTHING]);
    const own = await begin(server.url);
    const headers = await initialized(own, "everything");
    const large = {
      id: 7,
      method: "tools/call",
      params: { name: "echo", arguments: { message: "x".repeat(9_000_000) } },
    };
    const answer = await posted(own, "everything", large, headers);
    expect(await answer.json()).toMatchObject({ id: 7, error: { message: expect.any(String) as unknown } });
    let isAnswered = false;
    const endless = new ReadableStream<Uint8Array>({
      // Node's fetch pulls on after an answer, and keeps all of it.
      pull: (controller) =>
        isAnswered ? controller.close() : controller.enqueue(new Uint8Array(1_000_000).fill(0x20)),
    });
    const init = {
      method: "POST",
      body: endless,
      duplex: "half",
      headers: { ...headers, "content-type": "application/json" },
    };
    const status = await own.ask("mcp/everything", init as RequestInit).then(
      (refused) => refused.status,
      () => "broken off",
    );
    isAnswered = true;
    expect([413, "broken off"]).toContain(status);
    expect((await posted(own, "everything", { id: 8, method: "ping" }, headers)).status).toBe(200);
  });

  test("a program that cannot be started is told of on both sides", async () => {
    await using server = await serve(["--", "no-such-program"]);
    const own = await begin(server.url);
    const [{ name } = { name: "" }] = ((await (await own.ask("sources")).json()) as { sources: { name: string }[] })
      .sources;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const answer = await posted(own, name, { id: 1, method: "initialize", params });
    expect(await answer.json()).toMatchObject({ id: 1, error: { message: expect.any(String) as unknown } });
    await vi.waitFor(
      () => expect(server.said()).toContain('cannot start "no-such-program": there is no such command'),
      { timeout: 20_000 },
    );
  });
});
