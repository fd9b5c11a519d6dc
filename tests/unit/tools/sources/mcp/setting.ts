/**
 * Connections to MCP servers over either transport, with a gate and a store: to the fixture, to the server whose tools run as tasks, and
 * to servers of a few lines.
 * @module
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../../web/src/index.js";
import type { Sluice, Transformed } from "../../../../../web/src/core/types.js";
import type {
  Authorize,
  OpenOptions,
  SourceConnection,
  SourceNotice,
  ToolSource,
} from "../../../../../web/src/tools/source.js";
import { mcpSource, type McpHttpDeps } from "../../../../../web/src/tools/sources/mcp/http.js";
import { mcpStdioSource, type McpStdioDeps } from "../../../../../web/src/tools/sources/mcp/stdio.js";
import { serveFixture, type Serving } from "../../../../e2e/serving.js";
import { called as call } from "../api.js";
import { serverScript, type ScriptDeps } from "./server-script.js";

/** A gate, its store, and what was said unasked. */
export interface Setting {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly notices: SourceNotice[];
}

export async function setting(store: ArtifactStore = new MemoryArtifactStore({ retention: null })): Promise<Setting> {
  return { store, sluice: await createSluice({ store }), notices: [] };
}

export function over(at: Setting, deps: Omit<McpHttpDeps, "name" | "sluice" | "store">): ToolSource {
  return mcpSource({ name: "fix", ...at, ...deps });
}

export function processSource(at: Setting, deps: Omit<McpStdioDeps, "name" | "sluice" | "store">): ToolSource {
  return mcpStdioSource({ name: "fix", ...at, ...deps });
}

/** A server whose program is given as text. */
export function scripted(at: Setting, script: string, deps: Partial<McpStdioDeps> = {}): ToolSource {
  const argv = [process.execPath, "--input-type=module", "-e", script] as const;
  return processSource(at, { argv, ...deps });
}

/** A connection to a server of a few lines. */
export async function serving(deps: ScriptDeps, at?: Setting): Promise<SourceConnection> {
  const own = at ?? (await setting());
  return opened(scripted(own, serverScript(deps)), own);
}

export async function opened(
  source: ToolSource,
  at: Setting,
  options: { readonly authorize?: Authorize; readonly signal?: AbortSignal } = {},
): Promise<SourceConnection> {
  const all: OpenOptions = {
    authorize: async () => ({}),
    signal: AbortSignal.timeout(20_000),
    onNotice: (notice) => at.notices.push(notice),
    ...options,
  };
  return source.open(all);
}

export { call };

/** The SHA-256 of the only artifact of a result, read back from the store. */
export async function hashOf({ artifacts }: Transformed, { store }: Setting): Promise<string> {
  const ids = new Set(artifacts.map(({ id }) => id));
  const [ref] = artifacts;
  if (ref === undefined || ids.size !== 1) throw new Error(`${ids.size} artifacts, not one`);
  const bytes = await store.get(ref.id, ref.scope);
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

/** Waits until something is there. */
export async function until<T>(look: () => T | undefined): Promise<T> {
  for (let waited = 0; waited < 10_000; waited += 5) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("waited in vain");
}

/** The fixture's program over stdio. */
export const STDIO: string = fileURLToPath(new URL("../../../../e2e/fixture/stdio.mjs", import.meta.url));

/** How it is started. */
export const FIXTURE = [process.execPath, STDIO] as const;

/** Both transports in both eras, for `describe.each`. */
export const SETTINGS = [
  ["stdio, 2025-11-25", "stdio", "legacy"],
  ["stdio, 2026-07-28", "stdio", "modern"],
  ["http, 2025-11-25", "http", "legacy"],
  ["http, 2026-07-28", "http", "modern"],
] as const;

/** A source of the fixture; left without an era, the source finds out. */
export type FixtureSource = (
  at: Setting,
  transport: "stdio" | "http",
  era?: "legacy" | "modern",
  more?: { readonly sampling: boolean },
) => ToolSource;

/** One server over HTTP for all tests of a file, and processes for each source over stdio. */
export function useFixture(): FixtureSource {
  let fixture: Serving | undefined;
  beforeAll(async () => {
    fixture = await serveFixture();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  return (at, transport, era, more) => {
    const deps = { ...more, ...(era !== undefined && { era }) };
    if (transport === "stdio") return processSource(at, { argv: FIXTURE, ...deps });
    if (fixture === undefined) throw new Error("The fixture is used before the tests.");
    return over(at, { url: fixture.url, ...deps });
  };
}

/** One connection that the tests of a `describe` share, with its gate and store. */
export interface SharedConnection {
  readonly at: Setting;
  readonly connection: SourceConnection;
}

/** Opens it before the tests and closes it behind them; neither is there before. */
export function useConnection(source: (at: Setting) => ToolSource): SharedConnection {
  let shared: SharedConnection | undefined;
  const given = (): SharedConnection => {
    if (shared === undefined) throw new Error("The connection is used before the tests.");
    return shared;
  };
  beforeAll(async () => {
    const at = await setting();
    shared = { at, connection: await opened(source(at), at) };
  });
  afterAll(() => shared?.connection[Symbol.asyncDispose]());
  return {
    get at() {
      return given().at;
    },
    get connection() {
      return given().connection;
    },
  };
}

/** The hash of the file that its tools give, as it says it itself. */
export async function expectedHash(connection: SourceConnection, kind: string, bytes: number): Promise<string> {
  const { reduced } = await call(connection, "sha256", { kind, bytes });
  return /[0-9a-f]{64}/.exec(reduced.text)?.[0] ?? "";
}

const SCRIPT = fileURLToPath(new URL("task-server.mjs", import.meta.url));

/** One server over HTTP for all tests of a file, and a process for each source over stdio. */
export function useTaskServer(): (at: Setting, transport: "stdio" | "http") => ToolSource {
  const { execPath } = globalThis.process;
  let stop: (() => Promise<void>) | undefined;
  let url = "";
  beforeAll(async () => {
    const child = spawn(execPath, [SCRIPT, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    stop = async () => {
      child.kill();
      await ended;
    };
  });
  afterAll(() => stop?.());
  return (at, transport) =>
    transport === "stdio" ? processSource(at, { argv: [execPath, SCRIPT] }) : over(at, { url });
}
