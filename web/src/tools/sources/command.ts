/**
 * Tools that are commands of this machine. For Node only.
 * @module
 */
import { adaptError } from "../adapt-error.js";
import { subjectOf } from "../adapting/place.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, SourceTool, ToolSource } from "../source.js";
import type { ServerProcess } from "../../transports/server-process.js";
import { checkArguments } from "./arguments.js";
import { wordsWith } from "./command/arguments.js";
import { discovered } from "./command/discover.js";
import { resultOf } from "./command/result.js";
import { CommandRun, environment } from "./command/run.js";
import type { CommandTemplate } from "./command/template.js";
import { documentVariables, filledIn } from "./document-variables.js";
import { FoundTools, type Found } from "./found-tools.js";
import { credentialOf } from "./program-credentials.js";
import type { SourceTerms } from "./terms.js";

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
      const discover = async (signal: AbortSignal): Promise<Found<CommandTemplate>> => ({
        tools: await discovered({ ...terms, env: await env() }, { signal, processes }),
      });
      return new CommandConnection(terms, env, processes, await FoundTools.of(terms.name, discover, opening));
    },
  };
}

type Environment = Readonly<Record<string, string>>;

type CommandTools = FoundTools<CommandTemplate, Found<CommandTemplate>>;

class CommandConnection implements SourceConnection {
  readonly resources = undefined;
  readonly #terms: SourceTerms;
  /** What commands are given beside our own, with what holds at the time. */
  readonly #env: () => Promise<Environment>;
  readonly #processes: Set<ServerProcess>;
  readonly #tools: CommandTools;

  constructor(terms: SourceTerms, env: () => Promise<Environment>, processes: Set<ServerProcess>, tools: CommandTools) {
    this.#terms = terms;
    this.#env = env;
    this.#processes = processes;
    this.#tools = tools;
  }

  get isOpen(): boolean {
    return this.#tools.isOpen;
  }

  tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    return this.#tools.list(signal);
  }

  async call({ tool: name, args, dialect, keepOriginal, scope, signal }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice } = this.#terms;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.#tools.tool(name);
    const subject = subjectOf(place);
    checkArguments(args, schema, subject, true);
    const variables = documentVariables(this.#terms);
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tools.close();
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }
}
