/**
 * Connects to sources for the duration of a command, and reports their events in lines.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import { countNoun, humanSize } from "../../core/amounts.js";
import type { AnswerRef } from "../../core/types.js";
import { ToolNode } from "../../tools-node.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { ToolAuthError, ToolNodeError } from "../../tools/errors.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolSpec } from "../../tools/registry.js";
import { presetNames } from "../../tools/config/presets.js";
import { toVariables, type Variables } from "../../tools/config/variables.js";
import { childEnvironment } from "../../mcp/stdio/server-process.js";
import type { SignIn } from "../sign-in/sign-in.js";
import { ConcurrencyLimit } from "../../tools/resilience/resilience.js";
import { CommandError, Exit } from "../exit.js";
import type { StatusLine } from "../terminal/progress.js";
import { clause, onOneLine, printable, type Output, type Terminal } from "../terminal/terminal.js";

interface SourceUse {
  readonly store: ArtifactStore;
  /** Its signal aborts all work. The error output of a program that cannot be connected to is printed on its errors. */
  readonly terminal: Terminal;
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /** The token of a new sign-in. Default: the kept one. */
  readonly token?: string | undefined;
}

/**
 * Connects to a source, runs `work`, and closes the source. A kept token that the source refuses before its end is renewed, and the
 * work done once more: a refused request did nothing. Throws the source's errors, CommandError 77 without a sign-in, and the signal's
 * reason.
 */
export async function usingSource<T>(
  config: ExternalToolConfig,
  options: SourceUse,
  work: (node: ToolNode) => Promise<T>,
): Promise<T> {
  const { terminal, token: given } = options;
  if (config.auth_type !== "oauth2_user") return usingAuthorized(config, options, work);
  const signIn = given === undefined ? await loadSignIn(terminal) : undefined;
  const token = given ?? (await signIn?.token(config)) ?? null;
  try {
    return await usingAuthorized(config, { ...options, token: requireToken(config, token) }, work);
  } catch (error) {
    if (token === null || !(error instanceof ToolAuthError) || error.status !== 401) throw error;
    if (signIn === undefined) throw error;
    const renewed = await signIn.renew(config, token);
    return usingAuthorized(config, { ...options, token: requireToken(config, renewed) }, work);
  }
}

async function usingAuthorized<T>(
  config: ExternalToolConfig,
  options: SourceUse,
  work: (node: ToolNode) => Promise<T>,
): Promise<T> {
  const { terminal, store, onEvent, token } = options;
  const { source, variables } = authorizeSource(config, terminal, token);
  const { signal, errors } = terminal;
  const node = new ToolNode(source, { store, variables, ...(onEvent !== undefined && { onEvent }) });
  try {
    await node.connect({ signal }).catch(async (error: unknown) => {
      signal.throwIfAborted();
      await printErrorOutput(config.name, error, errors);
      throw error;
    });
    return await work(node);
  } finally {
    await node.close();
  }
}

/** Prints a program's error output, which usually says why it did not start. */
async function printErrorOutput(name: string, error: unknown, errors: Output): Promise<void> {
  const said = (error instanceof ToolNodeError && error.errorOutput) || "";
  for (const line of said.split("\n").filter((each) => each.trim() !== "")) {
    await errors.write(errors.dim(`${name}: ${printable(line)}\n`));
  }
}

/** The variable that stands for the token, so that the token itself is not searched for variables. */
const TOKEN = "SLUICE_SIGNED_IN_TOKEN";

/** Throws CommandError 77 without a sign-in. */
function requireToken({ name }: ExternalToolConfig, token: string | null): string {
  if (token !== null) return token;
  const command = `sluice tools connect ${name}`;
  const same = presetNames().includes(name) ? "" : " with the same --config";
  throw new CommandError(Exit.refused, `you are not signed in to ${name}: run ${command}${same}`);
}

/** Adds the token of the person's sign-in, if the source wants one. */
function authorizeSource(
  config: ExternalToolConfig,
  terminal: Terminal,
  token: string | undefined,
): { readonly source: ExternalToolConfig; readonly variables: Variables } {
  const environment = toVariables(childEnvironment(terminal.env));
  if (config.auth_type !== "oauth2_user" || token === undefined) return { source: config, variables: environment };
  return {
    source: { ...config, auth_type: "bearer", auth_config: { ...config.auth_config, token: `\${${TOKEN}}` } },
    variables: (name) => (name === TOKEN ? token : environment(name)),
  };
}

/** Loads the OAuth code, which most commands do not need. */
export async function loadSignIn(terminal: Terminal): Promise<SignIn> {
  const { SignIn: Loaded } = await import("../sign-in/sign-in.js");
  return new Loaded(terminal);
}

/** Most sources that are connected to at the same time. Each may be a process. */
const MOST = 8;

/** The tools of one source, or why they are unknown. */
interface Look {
  readonly tools: readonly ToolSpec[];
  /** Lines to print about it. */
  readonly told: readonly string[];
  readonly error?: unknown;
}

/** Lists the tools of each source, in the order of the sources. Throws only the signal's reason. */
export async function listTools(sources: readonly ExternalToolConfig[], terminal: Terminal): Promise<readonly Look[]> {
  const limit = new ConcurrencyLimit(MOST);
  const store = new MemoryArtifactStore();
  const looks = sources.map((source) => {
    const told: string[] = [];
    const onEvent = (event: ToolNodeEvent): void => {
      if (event.kind === "left_out") told.push(...formatEvent(event));
    };
    return limit
      .run(() => usingSource(source, { store, terminal, onEvent }, async (node) => node.getTools()), terminal.signal, {
        source: source.name,
      })
      .then((tools): Look => ({ tools, told }))
      .catch((error: unknown): Look => ({ tools: [], told, error }));
  });
  const seen = await Promise.all(looks);
  terminal.signal.throwIfAborted();
  return seen;
}

/** Longest line. Names in it come from servers. */
const MAX_LINE = 1000;

/** Lines about stored artifacts, failures, waiting and retries. Other events have none. */
function formatEvent(event: ToolNodeEvent): readonly string[] {
  // Content that a server sends twice is stored once.
  if (event.kind === "stored") return [...new Set(event.artifacts.map((ref) => formatStored(event.tool, ref)))];
  if (event.kind === "failed") return [logLine(clause(event.error.message))];
  if (event.kind === "left_out") return formatLeftOut(event);
  if (event.kind === "waiting") return [logLine(`${event.tool}: ${event.message}`)];
  if (event.kind === "retry") {
    return [logLine(clause(`${event.error.message} Trying again in ${event.wait_s.toFixed(1)} s.`))];
  }
  return [];
}

function formatLeftOut({ count, tools }: Extract<ToolNodeEvent, { kind: "left_out" }>): readonly string[] {
  const lines = tools.map(({ name, type, reason }) => {
    const what = type === undefined ? "" : ` (${type})`;
    return logLine(`the tool ${JSON.stringify(name)}${what} is left out: ${reason}`);
  });
  const more = count - tools.length;
  return more === 0 ? lines : [...lines, logLine(`${countNoun(more, "more tool")} left out`)];
}

/** A listener that prints those lines above the status line. */
export function printingTo(status: StatusLine): (event: ToolNodeEvent) => void {
  return (event) => {
    for (const line of formatEvent(event)) status.print(line);
  };
}

/** A line about one artifact: where it came from, and whether it was stored. */
export function formatStored(where: string, { id, source, mime_type, size_bytes }: AnswerRef): string {
  const told = source.description;
  const what = typeof told === "string" ? told : `${mime_type ?? "content"}, ${humanSize(size_bytes)}`;
  const became = source.truncated === true ? "could not be stored" : `stored as ${id}`;
  return logLine(`${where}: ${what}: ${became}`);
}

/** A sentence as a line of the command. */
export function logLine(text: string): string {
  return `sluice: ${onOneLine(text.slice(0, MAX_LINE))}`;
}
