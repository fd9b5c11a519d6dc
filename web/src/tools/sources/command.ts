/**
 * Tools that are commands of this machine. For Node only.
 * @module
 */
import { adaptError, type ToolPlace } from "../adapt-error.js";
import { subjectOf } from "../adapting/place.js";
import { ToolClientError, ToolConnectionError } from "../errors.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, SourceTool, ToolSource } from "../source.js";
import type { ServerProcess } from "../../transports/server-process.js";
import { wordsWith } from "./command/arguments.js";
import { discovered } from "./command/discover.js";
import { resultOf } from "./command/result.js";
import { CommandRun, environment } from "./command/run.js";
import type { CommandTool } from "./command/template.js";
import { documentVariables, filledIn } from "./document-variables.js";
import type { SourceTerms } from "./terms.js";

/**
 * A source for the transport `cli`. Its connection is a UTCP manual with `cli` call templates, as text or as the path of a
 * file; with `utcp_mode: "manual_url"` also a command that prints one; else a command, which becomes one tool that takes
 * words.
 *
 * Commands run without a shell, with a few harmless variables of our environment and `env`, with their standard input
 * closed. What they print passes the gate while they print it: JSON, text, or exact bytes. One that fails is a result that
 * says so, with the end of what it wrote to its standard error.
 */
export function commandSource(terms: SourceTerms): ToolSource {
  return {
    async open({ signal }: OpenOptions): Promise<SourceConnection> {
      const processes = new Set<ServerProcess>();
      return new CommandConnection(terms, processes, await discovered(terms, { signal, processes }));
    },
  };
}

class CommandConnection implements SourceConnection {
  readonly resources = undefined;
  readonly #terms: SourceTerms;
  readonly #processes: Set<ServerProcess>;
  #tools: readonly CommandTool[];
  /** Whether nobody was told yet what was found. */
  #isFresh = true;
  #isOpen = true;

  constructor(terms: SourceTerms, processes: Set<ServerProcess>, tools: readonly CommandTool[]) {
    this.#terms = terms;
    this.#processes = processes;
    this.#tools = tools;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    if (!this.#isFresh) this.#tools = await discovered(this.#terms, { signal, processes: this.#processes });
    this.#isFresh = false;
    return this.#tools.map(({ template: _, ...tool }) => tool);
  }

  async call({ tool: name, args, dialect, scope, signal }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice, env = {} } = this.#terms;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.#tool(name, place);
    const subject = subjectOf(place);
    const variables = documentVariables(this.#terms);
    const fill = (text: string): string => filledIn(text, variables, source);
    const steps = template.steps.map(({ words, isShown }) => ({
      isShown,
      words: (outputs: readonly string[]) => wordsWith(words, template.style, { args, schema, outputs, fill, subject }),
    }));
    const own = Object.fromEntries(Object.entries(template.env).map(([key, value]) => [key, fill(value)]));
    const folder = template.folder === null ? null : fill(template.folder);
    const around = {
      env: environment(template.inherited, env, own),
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
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptError(error, place);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }

  #tool(name: string, place: ToolPlace): CommandTool {
    if (!this.#isOpen) {
      throw new ToolConnectionError(`${subjectOf({ source: place.source })} was closed: connect it again.`);
    }
    const tool = this.#tools.find((one) => one.name === name);
    if (tool === undefined) {
      throw new ToolClientError(`${subjectOf(place)} does not exist: list the tools of the source again.`);
    }
    return tool;
  }
}
