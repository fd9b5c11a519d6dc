/** What those who write a client use, with the clients of both SDKs, in both eras, against the fixture. */
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  gateFetch,
  GatedStdioTransport,
  MemoryArtifactStore,
  wrapClient,
  type InterceptorEvent,
} from "../../../web/src/node.js";

const FIXTURE = fileURLToPath(new URL("../fixture/", import.meta.url));
const INFO = { name: "clients", version: "1.0.0" };

/** What the tests use of a client; the SDKs' own types differ in what does not matter here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(params?: object): Promise<{ tools: readonly { readonly name: string }[]; nextCursor?: string }>;
  callTool(params: object): Promise<Result>;
  readResource(params: object): Promise<{ contents: readonly { readonly text?: string; readonly blob?: string }[] }>;
  listResources(params?: object): Promise<{ resources: readonly { readonly uri: string }[] }>;
  getInstructions(): string | undefined;
}

interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** The clients there are, as what makes one. */
const CLIENTS: readonly (readonly [string, () => AnyClient])[] = [
  ["SDK v1", () => new ClientV1(INFO) as unknown as AnyClient],
  ["SDK v2, 2025-11-25", () => new ClientV2(INFO) as unknown as AnyClient],
  [
    "SDK v2, 2026-07-28",
    () => new ClientV2(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } }) as unknown as AnyClient,
  ],
];

const PDF = 3_000_000;

/** The hash of what the fixture's tools give for a number of bytes, asked of the fixture itself. */
async function expectedHash(client: AnyClient, kind: string, bytes: number): Promise<string> {
  const { content } = await client.callTool({ name: "sha256", arguments: { kind, bytes } });
  return /[0-9a-f]{64}/.exec(content[0]?.text ?? "")?.[0] ?? "";
}

async function hashOf(store: MemoryArtifactStore, text: string): Promise<string> {
  const id = /artifact:\/\/([\w.-]+)/.exec(text)?.[1] ?? "";
  const bytes = await store.get(id);
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

/** A connected client over something of ours, and where its artifacts go. */
interface Setting {
  readonly client: AnyClient;
  readonly store: MemoryArtifactStore;
  readonly events: readonly InterceptorEvent[];
}

const settings = {
  GatedStdioTransport: async (make: () => AnyClient) => {
    const { store, options, events } = kept();
    const client = make();
    const args = [`${FIXTURE}stdio.mjs`];
    await client.connect(new GatedStdioTransport({ command: process.execPath, args, stderr: "pipe", ...options }));
    return { client, store, events };
  },
  gateFetch: async (make: () => AnyClient, name: string) => {
    const { store, options, events } = kept();
    const client = make();
    const Transport = (name === "SDK v1" ? HttpV1 : HttpV2) as new (url: URL, options: object) => object;
    await client.connect(new Transport(new URL(url), { fetch: gateFetch(fetch, options) }));
    return { client, store, events };
  },
  wrapClient: async (make: () => AnyClient, name: string) => {
    const { store, options, events } = kept();
    const inner = make();
    const Transport = (name === "SDK v1" ? StdioV1 : StdioV2) as new (options: object) => object;
    await inner.connect(new Transport({ command: process.execPath, args: [`${FIXTURE}stdio.mjs`], stderr: "ignore" }));
    return { client: wrapClient(inner, options), store, events };
  },
} satisfies Record<string, (make: () => AnyClient, name: string) => Promise<Setting>>;

function kept(): { store: MemoryArtifactStore; options: object; events: InterceptorEvent[] } {
  const store = new MemoryArtifactStore({ retention: null });
  const events: InterceptorEvent[] = [];
  return {
    store,
    events,
    options: { store, namespace: "fix", onEvent: (event: InterceptorEvent) => events.push(event) },
  };
}

let url: string;
let server: ReturnType<typeof spawn>;
beforeAll(async () => {
  server = spawn(process.execPath, [`${FIXTURE}http.mjs`, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, "line")) as [string];
  url = /https?:\/\/\S+/.exec(line)?.[0] ?? "";
});
afterAll(() => server.kill());

it("the transport has the type that both SDKs ask for", async () => {
  const transport = new GatedStdioTransport({ command: process.execPath });
  const connections: readonly [Parameters<ClientV1["connect"]>[0], Parameters<ClientV2["connect"]>[0]] = [
    transport,
    transport,
  ];
  expect(connections).toHaveLength(2);
});

const CASES = Object.keys(settings).flatMap((setting) => CLIENTS.map(([name, make]) => [setting, name, make] as const));

describe.each(CASES)("%s with %s", (setting, name, make) => {
  let at: Setting;
  beforeAll(async () => {
    at = await settings[setting as keyof typeof settings](make, name);
  });
  afterAll(() => at.client.close());

  it("lists two tools more, the last ones, and says in a sentence what they are for", async () => {
    const { tools } = await at.client.listTools();
    expect(tools.slice(-2).map((tool) => tool.name)).toEqual(["fix_artifact_read", "fix_artifact_edit"]);
    expect(tools.filter((tool) => tool.name === "fix_artifact_read")).toHaveLength(1);
    expect(at.client.getInstructions()).toContain("fix_artifact_read");
  });

  it("gives a sentence for bytes, which are stored whole", async () => {
    const { content } = await at.client.callTool({ name: "embedded_blob", arguments: { bytes: PDF } });
    const text = content.map((block) => block.text ?? "").join("\n");
    expect(content.every((block) => block.type === "text")).toBe(true);
    expect(text).toContain("[sluice] PDF");
    expect(await hashOf(at.store, text)).toBe(await expectedHash(at.client, "pdf", PDF));
    expect(at.events.some((event) => event.kind === "stored")).toBe(true);
  });

  it("gives structured content that fits the schema that was listed", async () => {
    await at.client.listTools();
    const { content, structuredContent } = await at.client.callTool({ name: "structured", arguments: { bytes: PDF } });
    const { data } = structuredContent as { data: string };
    expect(data).toMatch(/^artifact:\/\/fix_[0-9a-f]+\?type=application\/pdf&size=3000000$/);
    expect(content.map((block) => block.text ?? "").join("\n")).toContain(data);
    expect(await hashOf(at.store, data)).toBe(await expectedHash(at.client, "pdf", PDF));
  });

  it("gives what is small as it came", async () => {
    const { content } = await at.client.callTool({ name: "test_simple_text", arguments: {} });
    expect(content).toEqual([{ type: "text", text: expect.any(String) as unknown }]);
  });

  it("reads back what was stored, by the tool and as a resource", async () => {
    const { content } = await at.client.callTool({ name: "embedded_blob", arguments: { bytes: 5000 } });
    const uri = /artifact:\/\/[\w.-]+/.exec(content.map((block) => block.text ?? "").join())?.[0] ?? "";
    const read = await at.client.callTool({ name: "fix_artifact_read", arguments: { uri, bytes: "0-15" } });
    expect(read.content[0]?.text).toContain("25 50 44 46");
    const { contents } = await at.client.readResource({ uri: `${uri}?bytes=0-3` });
    expect(Buffer.from(contents[0]?.blob ?? "", "base64").toString()).toBe("%PDF");
    const missing = await at.client.callTool({
      name: "fix_artifact_read",
      arguments: { uri: "artifact://fix_000000000000" },
    });
    expect(missing.isError).toBe(true);
    await expect(at.client.readResource({ uri: "artifact://fix_000000000000" })).rejects.toThrow(/no artifact/i);
  });

  it("lists what it stored among the server's resources", async () => {
    const { resources } = await at.client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("artifact://fix_")).length).toBeGreaterThan(0);
    expect(resources.some(({ uri }) => !uri.startsWith("artifact://"))).toBe(true);
  });
});
