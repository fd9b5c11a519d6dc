/** Answers of any size, from a server that is a command to a client over HTTP. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it } from "vitest";
import { calling, FIXTURE, listening, messagesOf, modern, type Offered, post, session } from "./proxies.js";

/** Its answers end with their ids. */
const ID_LAST = [process.execPath, fileURLToPath(new URL("id-last.mjs", import.meta.url))];

/** Starts a proxy that passes on what its server says. */
async function start(command: readonly string[] = FIXTURE): Promise<Offered> {
  return { ...(await listening(["--bypass", "--", ...command])), headers: {} };
}

/** What the tests use of a client; the SDKs' own types differ in what does not matter here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: readonly object[] }>;
  callTool(params: object): Promise<{ content: readonly { resource?: { blob: string }; text?: string }[] }>;
}

const INFO = { name: "page", version: "1.0.0" };
const PIN = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

it.each([
  ["SDK v1", () => new ClientV1(INFO), HttpV1],
  ["SDK v2, 2025-11-25", () => new ClientV2(INFO), HttpV2],
  ["SDK v2, 2026-07-28", () => new ClientV2(INFO, PIN), HttpV2],
] as const)("%s gets 20 MB as the server sent them", async (_name, make, Http) => {
  await using server = await start();
  const client = make() as unknown as AnyClient;
  await client.connect(new Http(new URL(server.url), { requestInit: { headers: server.headers } }));
  const args = { bytes: 20_000_000, kind: "zip" };
  const { content } = await client.callTool({ name: "large", arguments: args });
  const { content: expected } = await client.callTool({ name: "sha256", arguments: args });
  const bytes = Buffer.from(content[0]?.resource?.blob ?? "", "base64");
  expect(bytes).toHaveLength(args.bytes);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(expected[0]?.text);
  await client.close();
});

it("what is too large to be held comes through without being held", async () => {
  await using server = await start();
  const headers = await session(server.url, server.headers);
  const response = await post(server.url, calling("large", "large", { bytes: 100_000_000 }), headers);
  let size = 0;
  for await (const chunk of response.body ?? []) size += chunk.length;
  expect(size).toBeGreaterThan(133_000_000);
  const status = await readFile(`/proc/${String(server.process.pid)}/status`, "utf8");
  expect(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1])).toBeLessThan(200_000);
});

it.each(["2025-11-25", "2026-07-28"])(
  "in revision %s it comes through where the id stands behind it as well",
  async (revision) => {
    await using server = await start(ID_LAST);
    const params = { name: "letters", arguments: { bytes: 80_000_000 } };
    const [message, headers] =
      revision === "2026-07-28"
        ? modern("mine", "tools/call", params)
        : [{ jsonrpc: "2.0", id: "mine", method: "tools/call", params }, await session(server.url, server.headers)];
    const [answer] = await messagesOf(await post(server.url, message, { ...server.headers, ...headers }));
    expect(answer?.["id"]).toBe("mine");
    const { content } = (answer?.["result"] ?? {}) as { content?: readonly { text: string }[] };
    expect(content?.[0]?.text).toHaveLength(params.arguments.bytes);
  },
);

it("where others wait it does not, and the client is told", async () => {
  await using server = await start(ID_LAST);
  const headers = await session(server.url, server.headers);
  const large = post(server.url, calling(1, "letters", { bytes: 70_000_000, waits: true }), headers);
  const go = await messagesOf(await post(server.url, calling(2, "go"), headers));
  expect(go).toMatchObject([{ id: 2, result: {} }]);
  expect(await messagesOf(await large)).toMatchObject([
    { id: 1, error: { message: expect.stringContaining("call the tool on its own") as unknown } },
  ]);
});

it("the part that a server said before it died is not taken for the whole", async () => {
  await using server = await start();
  const headers = await session(server.url, server.headers);
  const response = await post(server.url, calling(1, "crash", { bytes: 30_000_000 }), headers);
  await expect(response.text()).rejects.toThrow("terminated");
  const small = await session(server.url, server.headers);
  const answer = await messagesOf(await post(server.url, calling(1, "crash", { bytes: 300 }), small));
  expect(answer).toMatchObject([{ id: 1, error: { message: "The server ended before it answered." } }]);
});
