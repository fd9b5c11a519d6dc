/**
 * Opens the interceptors of a proxy as its command line says, and keeps those of HTTP clients.
 * @module
 */
import { createHash } from "node:crypto";
import { Copies } from "../../artifacts/private-folder.js";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import { NO_LIMITS } from "../../artifacts/retention/policy.js";
import type { RetentionConfig } from "../../config/types.js";
import { McpInterceptor, type InterceptorDeps, type LinkMode } from "../../mcp/interceptor.js";
import { interceptorDeps } from "../../mcp/interceptor-options.js";
import type { InterceptorEvent } from "../../mcp/interceptor-event.js";
import { refuseAutoRead } from "../../mcp/interceptor-config.js";
import type { CallLimitOptions } from "../../mcp/call-limit.js";
import type { WaitNotice } from "../../mcp/wait-notices.js";
import type { SchemaMode } from "../../mcp/schemas/schemas.js";
import type { Invocation } from "../command.js";
import { checkConfig, readConfig } from "../configuration.js";
import { UsageError } from "../exit.js";
import { storeFolder } from "../store/folders.js";
import { SavingsCounter } from "../store/savings.js";
import { openStore, prepareStore, sessionFolder } from "../store/store.js";
import { clause, printable, type Output, type Terminal } from "../terminal/terminal.js";
import { cleanNamespace } from "../../artifacts/reference.js";

const DAY = 86_400;
const GB = 1_000_000_000;

/** The defaults of `retention` for a proxy: no other limits. */
const PROXY_RETENTION: RetentionConfig = {
  ...NO_LIMITS,
  ttl_seconds: 7 * DAY,
  ttl_from: "used",
  max_namespace_bytes: 4 * GB,
  max_total_bytes: 10 * GB,
  min_free_disk: 0.1,
  min_age_seconds: 3600,
  cleanup_strategy: "lru",
};

/** Opens interceptors, and cleans up after them. */
export interface OpenInterceptors extends AsyncDisposable {
  /** Opens an interceptor for another client. `scope` says whose its artifacts are, if clients are distinguished. */
  readonly open: (scope?: ArtifactScope) => McpInterceptor;
}

/**
 * Checks the configuration. The function that it returns opens the store, and throws CommandError if nothing can be stored there.
 *
 * @param url the server's, if it is not a command.
 * @throws UsageError, E_CONFIG_…
 */
export async function checkInterceptors(
  invocation: Invocation,
  terminal: Terminal,
  url?: URL,
): Promise<() => Promise<OpenInterceptors>> {
  const file = invocation.value("config");
  const said = file === undefined ? {} : await readConfig(file);
  const place = invocation.value("store");
  const host = invocation.value("host");
  const serverName = invocation.value("server-name");
  const session =
    place === "session" ? await sessionFolder(" for --store session", "a store with --store DIR") : undefined;
  const log = createLog(terminal.errors);
  let savings: SavingsCounter | undefined;
  const options = {
    store: session === undefined ? openStore(place) : new FileArtifactStore(session.path),
    config: { ...said, retention: { ...PROXY_RETENTION, ...said.retention } },
    namespace:
      invocation.value("namespace") ??
      (url === undefined ? namespaceOfCommand(invocation.operands) : namespaceOfUrl(url)),
    links: (invocation.value("links") ?? "auto") as LinkMode,
    showImages: invocation.has("inline-images"),
    ...(host !== undefined && { host }),
    ...(serverName !== undefined && { serverName }),
    schemas: (invocation.value("schemas") ?? "widen") as SchemaMode,
    onEvent: (event: InterceptorEvent) => {
      log(event);
      if (event.kind !== "stored" || event.bytesIn === 0 || event.host === undefined) return;
      const { before = event.bytesIn, now = event.bytesOut } = event.shown ?? {};
      savings?.add(event.host, { calls: 1, bytes_in: event.bytesIn, bytes_shown: before, bytes_out: now });
    },
  };
  const limit = readLimit(invocation, terminal);
  const common = await checkConfig(file, async () => {
    refuseAutoRead(options.config);
    return { ...(await interceptorDeps(options)), ...(limit !== undefined && { limit }) };
  });
  return async () => {
    // Done last, so that an invalid command line creates no folder.
    if (session === undefined) await prepareStore(place);
    // A store that is lost at the end is no place to count in.
    if (session === undefined && place !== "memory") savings = new SavingsCounter(storeFolder(place), common.namespace);
    const copies = new Copies(common.store);
    const deps: InterceptorDeps = { ...common, writeCopy: (ref, signal) => copies.write(ref, signal) };
    return {
      open: (scope) => new McpInterceptor(scope === undefined ? deps : { ...deps, scope }),
      [Symbol.asyncDispose]: async () => {
        await savings?.[Symbol.asyncDispose]();
        await copies[Symbol.asyncDispose]();
        await session?.[Symbol.asyncDispose]();
      },
    };
  };
}

/** Seconds of silence after which people are told (user storage, §11.3). */
const NOTIFY_AFTER: readonly number[] = [15, 20, 25];

/** Most seconds that `--timeout` takes, as `timeout_s` of a source. */
const MAX_TIMEOUT = 300;

/** What `--timeout` says. Throws UsageError. */
function readLimit(invocation: Invocation, { errors }: Terminal): CallLimitOptions | undefined {
  const said = invocation.value("timeout");
  if (said === undefined) return undefined;
  const timeoutSeconds = /^\d+(?:\.\d+)?$/.test(said) ? Number(said) : Number.NaN;
  if (!(timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT)) {
    throw new UsageError(`--timeout takes a number of seconds from 1 to ${MAX_TIMEOUT}, such as 30`, "proxy");
  }
  const onNotice = (tool: string, { message }: WaitNotice): void => {
    void errors.write(`sluice: ${printable(`${tool}: ${message}`.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  };
  return { timeoutSeconds, notifyAfter: NOTIFY_AFTER, onNotice };
}

/** Most interceptors that are kept. A client whose interceptor was dropped gets a new one, which knows less of it. */
const MAX_INTERCEPTORS = 256;

/** Keeps the most recently used interceptors. */
export class Interceptors {
  readonly #open: (scope?: ArtifactScope) => McpInterceptor;
  readonly #interceptors = new Map<string, McpInterceptor>();

  constructor(open: (scope?: ArtifactScope) => McpInterceptor) {
    this.#open = open;
  }

  /** The interceptor of a client, if it has one. */
  find(key: string): McpInterceptor | undefined {
    const interceptor = this.#interceptors.get(key);
    if (interceptor !== undefined) this.keep(key, interceptor);
    return interceptor;
  }

  /**
   * Opens an interceptor. Its artifacts belong to the scope, or else to the holder of this authorization, and are
   * invisible to others.
   */
  open(authorization: string | null, scope?: ArtifactScope): McpInterceptor {
    if (scope !== undefined) return this.#open(scope);
    return authorization === null ? this.#open() : this.#open({ user_id: hashUser(authorization) });
  }

  keep(key: string, interceptor: McpInterceptor): void {
    this.#interceptors.delete(key);
    this.#interceptors.set(key, interceptor);
    if (this.#interceptors.size <= MAX_INTERCEPTORS) return;
    const [oldest] = this.#interceptors.keys();
    if (oldest !== undefined) this.#interceptors.delete(oldest);
  }

  drop(key: string): void {
    this.#interceptors.delete(key);
  }
}

/** The user id for an authorization. The token itself is stored nowhere. */
function hashUser(authorization: string): string {
  return `authorization-${createHash("sha256").update(authorization).digest("hex").slice(0, 32)}`;
}

/** Longest log line. Names in it come from servers. */
const MAX_LINE = 1000;

/** Logs events without waiting for the reader. */
export function createLog(errors: Output): (event: InterceptorEvent) => void {
  return (event) => {
    for (const line of formatEvent(event))
      void errors.write(`sluice: ${printable(line.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  };
}

function formatEvent(event: InterceptorEvent): readonly string[] {
  if (event.kind === "failed") return [clause(event.error.message)];
  if (event.kind === "expanded") {
    return [`${event.tool}: ${event.id} was passed in its argument ${event.path} as ${event.form}`];
  }
  return event.artifacts.map(({ id, source }) => {
    const what = typeof source.description === "string" ? source.description : "content";
    const where = source.truncated === true ? "could not be stored" : `stored as ${id}`;
    return `${event.tool ?? "a message"}: ${what}: ${where}`;
  });
}

/** Programs that run others: the name is that of what they run. */
const RUNNERS: ReadonlySet<string> = new Set(
  [
    "npx",
    "npm",
    "pnpm",
    "pnpx",
    "yarn",
    "bunx",
    "bun",
    "node",
    "deno",
    "tsx",
    "uv",
    "uvx",
    "pipx",
    "python",
    "python3",
  ].concat(["docker", "podman", "sh", "bash", "env", "cmd", "exec", "dlx", "run", "x", "tool"]),
);

/** Affixes that only say that this is a server. */
const NOISE = /^(?:mcp[-_]?server|server|mcp)[-_]|[-_](?:mcp[-_]?server|mcp|server)$|\.(?:m?js|c?js|ts|py|exe|cmd)$/gi;

/** Longest namespace. Hosts and models limit tool names, which it prefixes. */
const MAX_LENGTH = 24;

/** `npx -y @modelcontextprotocol/server-filesystem /data` → `filesystem`. */
export function namespaceOfCommand(words: readonly string[]): string {
  const word = words.find((each) => !each.startsWith("-") && !/^\w+=/.test(each) && !RUNNERS.has(findName(each)));
  return shortNamespace(findName(word ?? words[0] ?? ""));
}

/**
 * `https://mcp.example.com/mcp` → `example`, `http://127.0.0.1:8080/` → `127_0_0_1_8080`, since two ports are two
 * servers.
 */
export function namespaceOfUrl(url: URL): string {
  const port = url.port === "" ? "" : `_${url.port}`;
  if (/^[\d.]+$|^\[/.test(url.hostname)) return shortNamespace(url.hostname.replace(/[^\w]+/g, "_") + port);
  const labels = url.hostname
    .split(".")
    .filter((label) => !/^(?:www|api|mcp|com|org|net|io|ai|dev|app|\d+)$/.test(label));
  return shortNamespace((labels.at(-1) ?? "server") + port);
}

/** File and folder names that many servers have. */
const USUAL = /^(?:index|main|cli|server|start|app|run|stdio|mcp|dist|build|src|lib|bin|out|scripts?)(?:\.\w+)?$/i;

/** The last specific part of a path, without a package version. */
function findName(word: string): string {
  const parts = word
    .replaceAll("\\", "/")
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..");
  const own = parts.findLast((part) => !USUAL.test(part)) ?? parts.at(-1) ?? "";
  return own.replace(/(.)@[\w.^~-]*$/, "$1");
}

function shortNamespace(name: string): string {
  let short = name;
  for (let before = ""; before !== short;) {
    before = short;
    short = short.replace(NOISE, "");
  }
  // Tool names have no dots.
  const clean = cleanNamespace(short === "" ? name : short)
    .replaceAll(".", "_")
    .slice(0, MAX_LENGTH);
  return clean === "" ? "server" : clean;
}
