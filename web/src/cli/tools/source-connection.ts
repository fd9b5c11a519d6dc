/**
 * Sources for as long as a command needs them, and what happens at one, in lines for people.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import { counted, humanSize } from "../../core/amounts.js";
import type { AnswerRef } from "../../core/sluice.js";
import { ToolNode } from "../../tools-node.js";
import type { ExternalToolConfig } from "../../tools/config.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolSpec } from "../../tools/registry.js";
import { ConcurrencyLimit } from "../../tools/resilience/resilience.js";
import { joined } from "../../transports/bytes.js";
import { CommandError, Exit } from "../exit.js";
import type { StatusLine } from "../progress.js";
import { onOneLine } from "../table.js";
import { printable, type Output, type Terminal } from "../terminal.js";

interface SourceUse {
  readonly store: ArtifactStore;
  /** Gives up, whatever goes on. */
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /** Where the last words of a program go that cannot be connected to. */
  readonly errors: Output;
}

/** Bytes of what a program says that are kept, from its end. */
const LAST_WORDS = 4096;

/** Lines of them that are shown. */
const MAX_LINES = 10;

/** Connects, works, and closes the source however that ends. Throws what the source throws; the signal's reason. */
export async function usingSource<T>(
  config: ExternalToolConfig,
  { signal, errors, ...options }: SourceUse,
  work: (node: ToolNode) => Promise<T>,
): Promise<T> {
  if (config.auth_type === "oauth2_user") throw needsUsers(config.name);
  let said: Uint8Array = new Uint8Array(0);
  const onErrorOutput = (chunk: Uint8Array): void => {
    said = joined([said, chunk]).slice(-LAST_WORDS);
  };
  const node = new ToolNode(config, { ...options, onErrorOutput });
  try {
    await node.connect({ signal }).catch(async (error: unknown) => {
      signal.throwIfAborted();
      await tellLastWords(config.name, said, errors);
      throw error;
    });
    return await work(node);
  } finally {
    await node.close();
  }
}

/** Why a program did not start it says itself, if anybody does. */
async function tellLastWords(name: string, said: Uint8Array, errors: Output): Promise<void> {
  const lines = new TextDecoder().decode(said).split("\n").map(printable);
  for (const line of lines.filter((each) => each.trim() !== "").slice(-MAX_LINES)) {
    await errors.write(errors.dim(`${name}: ${line}\n`));
  }
}

function needsUsers(name: string): CommandError {
  return new CommandError(
    Exit.refused,
    `the source ${name} wants each user to sign in, which a program with an OAuthManager can ask for and the command line cannot: give a source with "auth_type": "bearer" and a token in a file with --config`,
  );
}

/** Sources that are connected to at a time: each may be a process. */
const MOST = 8;

/** What one source offers: its tools, or why they are not known. */
interface Look {
  readonly tools: readonly ToolSpec[];
  readonly error?: unknown;
}

/** Looks at each source, and gives what it saw in their order. Throws the signal's reason, and nothing else. */
export async function toolsOf(
  sources: readonly ExternalToolConfig[],
  { signal, errors }: Pick<Terminal, "signal" | "errors">,
): Promise<readonly Look[]> {
  const limit = new ConcurrencyLimit(MOST);
  const store = new MemoryArtifactStore();
  const looks = sources.map((source) =>
    limit
      .run(() => usingSource(source, { store, signal, errors }, async (node) => node.getTools()), signal, {
        source: source.name,
      })
      .then((tools): Look => ({ tools }))
      .catch((error: unknown): Look => ({ tools: [], error })),
  );
  const seen = await Promise.all(looks);
  signal.throwIfAborted();
  return seen;
}

/** Characters of a line: names come from servers. */
const MAX_LINE = 1000;

/** A line for each thing stored, for what failed, and for what is tried again; none for the rest. */
function linesOf(event: ToolNodeEvent): readonly string[] {
  // A server that sends its content twice has it stored once.
  if (event.kind === "stored") return [...new Set(event.artifacts.map((ref) => storedLine(event.tool, ref)))];
  if (event.kind === "failed") return [logLine(event.error.message)];
  if (event.kind === "left_out")
    return [logLine(`${counted(event.count, "tool")} left out: their names cannot be shown.`)];
  if (event.kind === "retry") {
    return [logLine(`${event.error.message} Trying again in ${event.wait_s.toFixed(1)} s.`)];
  }
  return [];
}

/** A listener that prints those lines above a status line. */
export function printingTo(status: StatusLine): (event: ToolNodeEvent) => void {
  return (event) => {
    for (const line of linesOf(event)) status.print(line);
  };
}

/** What became of one artifact, and where it came from. */
export function storedLine(where: string, { id, source, mime_type, size_bytes }: AnswerRef): string {
  const told = source["description"];
  const what = typeof told === "string" ? told : `${mime_type ?? "content"}, ${humanSize(size_bytes)}`;
  const became = source["truncated"] === true ? "could not be stored" : `stored as ${id}`;
  return logLine(`${where}: ${what}: ${became}`);
}

/** A sentence as the command says it. */
export function logLine(text: string): string {
  return `sluice: ${onOneLine(text.slice(0, MAX_LINE))}`;
}
