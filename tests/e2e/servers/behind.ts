/**
 * A client of either SDK, the proxy, and a server behind it.
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMAND } from "../../unit/cli/command.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { FileArtifactStore, type ArtifactRef } from "../../../web/src/node.js";
import { sha256 } from "../../unit/core/samples.js";
import type { Server } from "./programs.js";

/** The clients that a server is driven by. `auto` asks for the later era first, and starts the command twice. */
export type Driver = "SDK v1" | "SDK v2" | "SDK v2, auto";

/** Those that every call is made with. */
export const DRIVERS: readonly Driver[] = ["SDK v1", "SDK v2"];

/** A block of a result. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
}

/** A tool's result, as far as the tests look. */
export interface Result {
  readonly content: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A tool, as it is listed. */
export interface Tool {
  readonly name: string;
  readonly outputSchema?: unknown;
  readonly _meta?: unknown;
}

/** What the SDKs' clients have in common; their types differ in what does not matter here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: readonly Tool[] }>;
  callTool(params: object): Promise<Result>;
  readResource(params: object): Promise<{ contents: readonly { readonly blob?: string; readonly text?: string }[] }>;
}

/** An artifact with its bytes. */
export interface Stored {
  readonly ref: ArtifactRef;
  readonly bytes: Buffer;
}

/** A server in use. */
export interface Conversation extends AsyncDisposable {
  readonly client: AnyClient;
  /** Listed before anything is called, so that results are held against their schemas. */
  readonly tools: readonly Tool[];
  /** Every message that reached the client since this was asked last. */
  heard(): readonly unknown[];
  call(name: string, args?: object): Promise<Result>;
  /** What is in the store, each held against its hash. */
  stored(): Promise<readonly Stored[]>;
}

/** Starts a server behind the proxy with its own store; `options` are the proxy's. */
export async function behindProxy(
  driver: Driver,
  server: Server,
  options: readonly string[] = [],
): Promise<Conversation> {
  const store = await mkdtemp(join(tmpdir(), "sluice-store-"));
  const proxy = [COMMAND, "proxy", "--store", store, ...options, "--", server.command, ...server.args];
  return converse(driver, { ...server, command: process.execPath, args: proxy }, store);
}

/** Starts a server alone: what it says without us. */
export async function alone(server: Server): Promise<Conversation> {
  return converse("SDK v1", server, await mkdtemp(join(tmpdir(), "sluice-store-")));
}

async function converse(driver: Driver, server: Server, store: string): Promise<Conversation> {
  const { client, transport } = make(driver, server);
  const heard = overhear(transport);
  const close = async (): Promise<void> => {
    await client.close();
    await rm(store, { recursive: true, force: true });
  };
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    return {
      client,
      tools,
      heard,
      call: (name, args = {}) => client.callTool({ name, arguments: args }),
      stored: () => contentOf(store),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function make(driver: Driver, { command, args, cwd, env }: Server): { client: AnyClient; transport: object } {
  const info = { name: "servers", version: "1.0.0" };
  const terms = { command, args: [...args], cwd, env: { ...inherited(), ...env }, stderr: "ignore" as const };
  if (driver === "SDK v1") return { client: new ClientV1(info) as unknown as AnyClient, transport: new StdioV1(terms) };
  const mode = driver === "SDK v2" ? "legacy" : "auto";
  const client = new ClientV2(info, { versionNegotiation: { mode } }) as unknown as AnyClient;
  return { client, transport: new StdioV2(terms) };
}

function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

/** Notes each message before the client gets it; hands out those that were noted since. */
function overhear(transport: object): () => readonly unknown[] {
  const messages: unknown[] = [];
  let listener: ((...given: unknown[]) => void) | undefined;
  Object.defineProperty(transport, "onmessage", {
    get: () => listener,
    set: (next: typeof listener) => {
      listener = next && ((...given) => (messages.push(given[0]), next(...given)));
    },
  });
  return () => messages.splice(0);
}

async function contentOf(folder: string): Promise<readonly Stored[]> {
  const store = new FileArtifactStore(folder);
  const found: Stored[] = [];
  for await (const ref of store.list()) {
    const bytes = Buffer.from((await store.get(ref.id, ref.scope)) ?? []);
    if (sha256(bytes) !== ref.sha256) throw new Error(`${ref.id} is not what its hash says.`);
    found.push({ ref, bytes });
  }
  return found;
}
