/** Every way that has HTTP in it, with the clients of both SDKs, in both eras, against the fixture. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FileArtifactStore } from "../../../web/src/node.js";
import { serveFixture } from "../serving.js";
import { COMMAND } from "../../unit/cli/command.js";
import { FIXTURE, listening } from "./proxies.js";

/** What the tests use of a client; the SDKs' own types differ in what does not matter here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: readonly { readonly name: string }[] }>;
  callTool(params: object): Promise<{ content: readonly { readonly type: string; readonly text?: string }[] }>;
}

const INFO = { name: "http", version: "1.0.0" };
const PIN = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

/** Clients, each with the transports of its SDK. */
const CLIENTS = [
  { name: "SDK v1", make: () => new ClientV1(INFO), http: HttpV1, stdio: StdioV1 },
  { name: "SDK v2, 2025-11-25", make: () => new ClientV2(INFO), http: HttpV2, stdio: StdioV2 },
  { name: "SDK v2, 2026-07-28", make: () => new ClientV2(INFO, PIN), http: HttpV2, stdio: StdioV2 },
] as const;

const BYTES = 2_000_000;

let folder: string;
let fixture: Awaited<ReturnType<typeof serveFixture>>;
const proxies: AsyncDisposable[] = [];
const transports: Record<string, (client: (typeof CLIENTS)[number]) => object> = {};

const options = (): string[] => ["--store", folder, "--namespace", "http"];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-http-"));
  fixture = await serveFixture();
  const atUrl = await listening([...options(), "--url", fixture.url]);
  const atCommand = await listening([...options(), "--", ...FIXTURE]);
  proxies.push(atUrl, atCommand);
  const args = [COMMAND, "proxy", ...options(), "--url", fixture.url];
  transports["--listen and --url"] = ({ http }) => new http(new URL(atUrl.url));
  transports["--listen and a command"] = ({ http }) => new http(new URL(atCommand.url));
  transports["--url on standard streams"] = ({ stdio }) =>
    new stdio({ command: process.execPath, args, stderr: "ignore" });
});

afterAll(async () => {
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const WAYS = ["--listen and --url", "--listen and a command", "--url on standard streams"];
const CASES = WAYS.flatMap((way) => CLIENTS.map((client) => [way, client.name, client] as const));

describe.each(CASES)("%s with %s", (way, _name, made) => {
  let client: AnyClient;

  beforeAll(async () => {
    client = made.make() as unknown as AnyClient;
    await client.connect(transports[way]?.(made));
  });

  afterAll(() => client.close());

  it("lists two tools more, the last ones", async () => {
    const { tools } = await client.listTools();
    expect(tools.slice(-2).map(({ name }) => name)).toEqual(["http_artifact_read", "http_artifact_edit"]);
  });

  it("stores bytes whole, and says so", async () => {
    const { content } = await client.callTool({ name: "embedded_blob", arguments: { bytes: BYTES } });
    const text = content.map((block) => block.text ?? "").join("\n");
    const [, id = ""] = /artifact:\/\/(\w+)/.exec(text) ?? [];
    const hash = createHash("sha256").update((await new FileArtifactStore(folder).get(id)) ?? "");
    const told = await client.callTool({ name: "sha256", arguments: { kind: "pdf", bytes: BYTES } });
    expect(told.content[0]?.text).toContain(hash.digest("hex"));
    const read = await client.callTool({ name: "http_artifact_read", arguments: { uri: `artifact://${id}` } });
    expect(read.content[0]?.text).toContain("2,000,000 bytes");
  });

  it("loses none of a hundred calls at once, and mixes none up", async () => {
    const sizes = Array.from({ length: 100 }, (_, index) => index + 1);
    const results = await Promise.all(sizes.map((bytes) => client.callTool({ name: "text", arguments: { bytes } })));
    expect(results.map(({ content }) => content[0]?.text?.length)).toEqual(sizes);
  });

  it("takes up a stream again that the server has closed", async () => {
    const { content } = await client.callTool({ name: "test_reconnection", arguments: {} });
    expect(content[0]?.text).toContain("completed");
  });

  it("passes what headers say again", async () => {
    await client.listTools();
    const { content } = await client.callTool({ name: "test_custom_header", arguments: { region: "Zürich" } });
    expect(content[0]?.text).toContain("Zürich");
  });
});
