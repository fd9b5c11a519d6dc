/**
 * MCP servers that run as processes, for Node: starting them, their standard error, and killing them with their child
 * processes.
 * @module
 */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ArtifactScope } from "../../../artifacts/store.js";
import { SluiceError } from "../../../errors/error.js";
import { Tail, decodePieces } from "../../../jsonrpc/bytes.js";
import { type GatedStdioTransport, stdioThrough } from "../../../mcp/stdio/gated-stdio.js";
import { childEnvironment } from "../../../mcp/stdio/server-process.js";
import { adaptError, withoutSecrets } from "../../adapt-error.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../../source.js";
import { connectServer, type McpDeps, type McpEra, type OpenedTransport } from "./connection.js";
import { connectionLost } from "./requests.js";
import type { ToolInterceptor } from "./tool-interceptor.js";

/**
 * Milliseconds that a process may take to answer the modern probe. After that it counts as legacy; one that only
 * starts slowly answers both.
 */
const PROBE_TIMEOUT: number = 5000;

export interface McpStdioDeps extends McpDeps {
  /** The program and its arguments. It is started without a shell. */
  readonly argv: readonly [command: string, ...args: string[]];
  /** Returns the command for the user of a connection. Defaults to `argv`. */
  readonly command?: (argv: readonly string[], scope: ArtifactScope) => Promise<readonly string[]>;
  /** Environment variables, beside a few safe ones such as PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. */
  readonly cwd?: string;
  /** Called with what it writes to standard error, which is untrusted. The end of it is also part of errors. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
}

/** Creates the source of an MCP server process. Each connection starts its own. */
export function mcpStdioSource(deps: McpStdioDeps): ToolSource {
  return new StdioSource(deps);
}

class StdioSource implements ToolSource {
  readonly #deps: McpStdioDeps;
  #era: McpEra;

  constructor(deps: McpStdioDeps) {
    this.#deps = deps;
    this.#era = deps.era ?? "auto";
  }

  async open(options: OpenOptions): Promise<SourceConnection> {
    const { argv, command } = this.#deps;
    const own = command === undefined ? argv : await command(argv, options.scope ?? {});
    const deps = { ...this.#deps, argv: own };
    const first = new Starting(deps);
    try {
      return await first.connected(options, this.#era);
    } catch (error) {
      if (this.#era !== "auto" || !first.hasEnded) throw error;
      options.signal.throwIfAborted();
    }
    // Some legacy servers exit when they get anything before `initialize`.
    const connection = await new Starting(deps).connected(options, "legacy");
    this.#era = "legacy";
    return connection;
  }
}

/** Bytes of standard error that are kept. More than are shown, so that no part of a secret is shown. */
const MAX_HELD = 16_384;

/** Maximum characters and lines that are shown. */
const MAX_TOLD = 4096;
const MAX_LINES = 20;

/** Invisible characters, except line breaks and tabs. */
const HIDDEN = /(?!\n|\t)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The end of a program's standard error, cleaned for a log. */
function cleanOutput({ bytes }: Tail, secrets: readonly string[]): string {
  const told = withoutSecrets(decodePieces([bytes]), secrets)
    .replaceAll(HIDDEN, "")
    .trim();
  return told.slice(-MAX_TOLD).split("\n").slice(-MAX_LINES).join("\n");
}

type StartingDeps = Omit<McpStdioDeps, "argv"> & { readonly argv: readonly string[] };

/** A process that is being connected. */
class Starting {
  readonly #deps: StartingDeps;
  #failure: Error | undefined;
  #hasEnded = false;
  #isConnected = false;

  constructor(deps: StartingDeps) {
    this.#deps = deps;
  }

  /** Whether it exited by itself. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async connected(options: OpenOptions, era: McpEra): Promise<SourceConnection> {
    const output = new Tail(MAX_HELD);
    options.onProgram?.(() => cleanOutput(output, this.#deps.secrets ?? []));
    const over = (interceptor: ToolInterceptor): OpenedTransport => {
      const transport = this.#transport(interceptor, output);
      const kill = async (): Promise<void> => void (transport.pid === null || (await killTree(transport.pid)));
      return { transport, kill, reason: () => this.#failure };
    };
    const connection = await connectServer({
      deps: this.#deps,
      options,
      era,
      probeTimeout: PROBE_TIMEOUT,
      transport: over,
    });
    this.#isConnected = true;
    return connection;
  }

  #transport(interceptor: ToolInterceptor, output: Tail): GatedStdioTransport {
    const { argv, env, cwd, onErrorOutput } = this.#deps;
    const [command = "", ...args] = argv;
    const transport = stdioThrough(
      {
        command,
        args,
        stderr: "pipe",
        ...(env !== undefined && { env }),
        ...(cwd !== undefined && { cwd }),
      },
      async () => interceptor,
    );
    const start = transport.start.bind(transport);
    transport.start = async () => {
      try {
        await start();
      } catch (error) {
        throw (this.#failure = this.#notStarted(error));
      }
      // At once: a process whose standard error is not read blocks.
      transport.stderr?.on("data", (chunk) => {
        output.add(chunk);
        onErrorOutput?.(chunk);
      });
    };
    const send = transport.send.bind(transport);
    // Writing to a process that has exited would silently succeed.
    transport.send = (message) => (this.#hasEnded ? Promise.reject(connectionLost(this.#deps.name)) : send(message));
    const close = transport.close.bind(transport);
    let isClosing = false;
    transport.close = () => {
      isClosing = true;
      // The next attempt waits for the end of this one, since both may use the same files. An unconnected program
      // needs no time to finish.
      if (!this.#isConnected) endAtOnce(transport.pid);
      return close();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    transport.onclose = () => {
      if (isClosing) return;
      this.#hasEnded = true;
      this.#failure ??= connectionLost(this.#deps.name);
    };
    return transport;
  }

  /** The error for a program that cannot be started, from the system's error. */
  #notStarted(error: unknown): Error {
    const beneath = error instanceof SluiceError ? (error.cause ?? error) : error;
    return adaptError(beneath, { source: this.#deps.name });
  }
}

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2000;

/** Milliseconds between two checks. */
const PAUSE = 25;

/** A process. Its start time tells it from a later one with the same id. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
}

/** Ends a program that has answered nothing yet. */
export function endAtOnce(pid: number | null): void {
  if (pid !== null) signalGroup(pid, "SIGTERM");
}

/**
 * Kills a process group and all descendants: SIGTERM, and two seconds later SIGKILL. On Linux also descendants that
 * left the group, unless their parent is gone.
 */
export async function killTree(pid: number): Promise<void> {
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], {
      stdio: "ignore",
      windowsHide: true,
      env: childEnvironment(),
    }).on("error", ignore);
    return;
  }
  const strays = await descendants(pid);
  signalGroup(pid, "SIGTERM");
  for (const stray of strays) signal(stray.pid, "SIGTERM");
  for (
    let waited = 0;
    waited < GRACE && (isThere(-pid) || strays.some(({ pid: each }) => isThere(each)));
    waited += PAUSE
  )
    await sleep(PAUSE);
  const late = (await descendants(pid)).concat(await still(strays));
  signalGroup(pid, "SIGKILL");
  for (const stray of late) signal(stray.pid, "SIGKILL");
}

/** The descendants of a process. Empty except on Linux. */
async function descendants(root: number): Promise<readonly Process[]> {
  const all = await processes();
  const found = new Set([root]);
  // Process ids wrap around, so a child may have a lower id than its parent.
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return all.filter(({ pid }) => found.has(pid));
}

/** Those that are still running. */
async function still(known: readonly Process[]): Promise<readonly Process[]> {
  const now = await Promise.all(known.map(({ pid }) => findProcess(String(pid))));
  return known.filter(({ started }, index) => now[index]?.started === started);
}

async function processes(): Promise<readonly Process[]> {
  if (process.platform !== "linux") return [];
  const names = await readdir("/proc").catch(() => []);
  const all = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(findProcess));
  return all.filter((each) => each !== undefined);
}

/** Undefined if it has exited. */
async function findProcess(pid: string): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain spaces and parentheses. After it come the third field and the parent as the
  // fourth.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid: Number(pid), parent: Number(fields[1]), started: fields[19] ?? "" };
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  // Windows has no process groups.
  signal(process.platform === "win32" ? leader : -leader, name);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It has exited.
    return false;
  }
}

function isThere(pid: number): boolean {
  return signal(pid, 0);
}

function ignore(): void {
  // It ends when its input is closed.
}
