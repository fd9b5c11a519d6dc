/**
 * Tools that are commands of this machine. For Node only.
 * @module
 */
import type { Sluice, TransformOptions } from "../../core/sluice.js";
import type { ServerProcess } from "../../transports/server-process.js";
import { adaptError } from "../adapt-error.js";
import { subjectOf } from "../adapting/place.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, ToolSource } from "../source.js";
import { checkArguments } from "./arguments.js";
import { block, gatedBody, HeldBytes, MAGIC, textIn, through } from "./body.js";
import { wordsWith } from "./command/arguments.js";
import { CommandRun, environment, type Outcome } from "./command/run.js";
import { discovered, type CommandTemplate } from "./command/tools.js";
import {
  DocumentConnection,
  documentVariables,
  filledIn,
  type Discover,
  type Found,
  type SourceTerms,
} from "./document-source.js";
import { credentialOf } from "./program-credentials.js";

/**
 * A source for the transport `cli`. Its connection is a UTCP manual with `cli` call templates, as text or as the path of a
 * file; with `utcp_mode: "manual_url"` also a command that prints one; else a command, which becomes one tool that takes
 * words. Where somebody has to be told who asks, each command is, by the variable that `auth_config.env` names.
 *
 * Commands run without a shell, with a few harmless variables of our environment and `env`, with their standard input
 * closed. What they print passes the gate while they print it: JSON, text, or exact bytes. One that fails is a result that
 * says so, with the end of what it wrote to its standard error.
 */
export function commandSource(terms: SourceTerms): ToolSource {
  const credential = credentialOf(terms);
  return {
    async open({ authorize, signal: opening }: OpenOptions): Promise<SourceConnection> {
      const processes = new Set<ServerProcess>();
      const env = async (): Promise<Environment> => ({ ...terms.env, ...(await credential?.(authorize)) });
      const discover = async (signal: AbortSignal): Promise<FoundCommands> => ({
        tools: await discovered({ ...terms, env: await env() }, { signal, processes }),
      });
      return new CommandConnection(terms, discover, await discover(opening), env, processes);
    },
  };
}

type Environment = Readonly<Record<string, string>>;

type FoundCommands = Found<CommandTemplate>;

class CommandConnection extends DocumentConnection<SourceTerms, FoundCommands> {
  /** What commands are given beside our own, with what holds at the time. */
  readonly #env: () => Promise<Environment>;
  readonly #processes: Set<ServerProcess>;

  constructor(
    terms: SourceTerms,
    discover: Discover<FoundCommands>,
    found: FoundCommands,
    env: () => Promise<Environment>,
    processes: Set<ServerProcess>,
  ) {
    super(terms, discover, found);
    this.#env = env;
    this.#processes = processes;
  }

  async call({ tool: name, args, dialect, keepOriginal, scope, signal }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice } = this.terms;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.tool(name);
    const subject = subjectOf(place);
    checkArguments(args, schema, subject, true);
    const variables = documentVariables(this.terms);
    const fill = (text: string): string => filledIn(text, variables, source);
    const steps = template.steps.map(({ words, isShown }) => ({
      isShown,
      words: (outputs: readonly string[]) => wordsWith(words, template.style, { args, schema, outputs, fill, subject }),
    }));
    const own = Object.fromEntries(Object.entries(template.env).map(([key, value]) => [key, fill(value)]));
    const folder = template.folder === null ? null : fill(template.folder);
    const around = {
      env: environment(template.inherited, await this.#env(), own),
      folder,
      signal,
      processes: this.#processes,
      subject,
    };
    try {
      return await resultOf(new CommandRun(steps, around), sluice, {
        tool: name,
        namespace: source,
        scope,
        dialect,
        keepOriginal,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptError(error, place);
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }
}

/** Bytes of output that are held. */
const MAX_HELD = 1024 * 1024;
/** Characters of a last line that is repeated. */
const MAX_TOLD = 300;

/** Runs the commands and takes what they print through the gate. A command that fails is a result that says so. */
async function resultOf(run: CommandRun, sluice: Sluice, options: TransformOptions): Promise<SourceResult> {
  await using held = new HeldBytes(run.output());
  const head = await held.hold(MAX_HELD);
  if (held.isWhole && run.isSuccess) {
    const body = { bytes: held.all(), claim: "unknown", mimeType: null, filename: null } as const;
    return { gated: await gatedBody(body, sluice, options), isError: false };
  }
  const gated = await through(sluice, options, document(held, head, run, sluice));
  return { gated, isError: !run.isSuccess };
}

/** A CallToolResult as text; a single block of JSON in it is JSON to the gate. */
async function* document(
  held: HeldBytes,
  head: Uint8Array,
  run: CommandRun,
  sluice: Sluice,
): AsyncGenerator<Uint8Array | string> {
  const end = (): string => (run.isSuccess ? "]}" : `,${failure(run.outcome)}],"isError":true}`);
  if (held.isWhole && head.length === 0) {
    yield `{"content":[${failure(run.outcome)}],"isError":true}`;
  } else if (held.isWhole ? textIn(head) !== undefined : isJson(head)) {
    yield '{"content":[{"type":"text","text":"';
    const decoder = new TextDecoder();
    for await (const piece of held.all()) yield JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1);
    yield `${JSON.stringify(decoder.decode()).slice(1, -1)}"}${end()}`;
  } else {
    yield* block(held.all(), sluice.sniff(head.subarray(0, MAGIC)).mime_type, null, end);
  }
}

/** How it ended, with what it said last; then all that it wrote to its standard error, which the gate may put away. */
function failure({ code, signal, errors }: Outcome): string {
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${code}`;
  const written = errors.trimEnd();
  const last = written.slice(written.lastIndexOf("\n") + 1).trim();
  const isTold = last !== "" && last.length <= MAX_TOLD && last !== written;
  const told = { type: "text", text: isTold ? `The command ${how}: ${last}` : `The command ${how}.` };
  const blocks = written === "" ? [told] : [told, { type: "text", text: written }];
  return JSON.stringify(blocks).slice(1, -1);
}

/** Whether it begins as JSON of some size does; other text of that size is of use only as its bytes. */
function isJson(head: Uint8Array): boolean {
  const first = head.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b;
}
