/**
 * Tools by name: the registry that sources share, and the catalog of one ToolNode's current tools.
 * @module
 */
import { matchesFilter, type ToolConfig } from "./config/config.js";
import { toSafeName, type ToolNodeError, wrong } from "./errors.js";
import type { ToolResult } from "./result.js";
import type { ToolContext } from "./context.js";
import { type Clock, sleep, systemClock } from "./resilience/attempt.js";
import type { JsonSchema, LeftOutTool, SourceTool } from "./source-features.js";
import { withoutUsername } from "./user-files.js";

/** A tool, as planners see it. */
export interface ToolSpec {
  /**
   * `{namespace}.{tool}`, unique in a registry. Most model APIs allow no dot in names: map it, and look the tool up
   * in the registry.
   */
  readonly name: string;
  /** The source's description. Empty if it gives none. */
  readonly description: string;
  /** The schema of the arguments. */
  readonly input_schema: JsonSchema;
  /** The schema of the results, if the source gives one. */
  readonly output_schema?: JsonSchema;
  /** `read` if the tool only reads, `external` if it may change something. */
  readonly side_effects: "read" | "external";
  /** The transport and the namespace; also `resources` or `artifacts` for the tools that read those. */
  readonly tags: readonly string[];
  /** The origin of the tool. */
  readonly extra: {
    /** The transport, such as `mcp`. */
    readonly source: string;
    /** The source's name, which prefixes the tool's. */
    readonly namespace: string;
  };
  /** The tool as its MCP server lists it, with the schema of the arguments from above. Left out for other sources. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** Calls the tool, like `call` of a ToolNode. The observation is `text`. */
  readonly call: (args: Readonly<Record<string, unknown>>, context?: ToolContext) => Promise<ToolResult>;
}

/** Tools that share one namespace. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolSpec>();

  /** Registers tools. Throws a ToolNodeError if a name is taken, and then registers none of them. */
  register(tools: readonly ToolSpec[]): void {
    const names = new Set<string>();
    for (const { name } of tools) {
      if (this.#tools.has(name) || names.has(name)) throw toTakenError(name);
      names.add(name);
    }
    for (const tool of tools) this.#tools.set(tool.name, tool);
  }

  /** Removes tools. Ignores unknown names. */
  remove(names: Iterable<string>): void {
    for (const name of names) this.#tools.delete(name);
  }

  /** The tool with this name, or undefined. */
  find(name: string): ToolSpec | undefined {
    return this.#tools.get(name);
  }

  /** All tools, in order of registration. */
  list(): readonly ToolSpec[] {
    return [...this.#tools.values()];
  }
}

function toTakenError(name: string): ToolNodeError {
  return wrong(`The tool name ${JSON.stringify(name)} is taken by another tool: give one of the sources another name.`);
}

/** The tools that one ToolNode offers, kept in sync with the registry. */
export class ToolCatalog {
  readonly #registry: ToolRegistry;
  readonly #namespace: string;
  #own: ReadonlyMap<string, ToolSpec> = new Map();
  #registered: readonly ToolSpec[] = [];
  #looks = 0;
  /** The number of the look whose tools are on offer. */
  #latest = 0;

  constructor(registry: ToolRegistry, namespace: string) {
    this.#registry = registry;
    this.#namespace = namespace;
  }

  /** All tools, the source's own first. */
  get list(): readonly ToolSpec[] {
    return this.#registered;
  }

  /** The names of the source's own tools. */
  get names(): readonly string[] {
    return [...this.#own.keys()];
  }

  /** Finds a tool by its full name or by the source's own name. */
  find(name: string): ToolSpec | undefined {
    const full = `${this.#namespace}.${name}`;
    return this.#registered.find((tool) => tool.name === name) ?? this.#registered.find((tool) => tool.name === full);
  }

  /** Starts listing the source's tools. Pass the returned number to `take`. */
  look(): number {
    this.#looks += 1;
    return this.#looks;
  }

  /**
   * Replaces the offered tools. Of two overlapping looks the later one wins, whichever finishes first. A source's own
   * tool wins over a generated tool of the same name. If a name is taken, throws and changes nothing.
   */
  take(own: ReadonlyMap<string, ToolSpec>, generated: readonly ToolSpec[], look: number): void {
    if (look < this.#latest) return;
    this.#latest = look;
    const before = this.#registered;
    const next = [...own.values(), ...generated.filter(({ name }) => !own.has(name))];
    this.#registry.remove(before.map(({ name }) => name));
    try {
      this.#registry.register(next);
    } catch (error) {
      this.#registry.register(before);
      throw error;
    }
    this.#registered = next;
    this.#own = own;
  }

  /** Removes all tools. */
  clear(): void {
    this.#registry.remove(this.#registered.map(({ name }) => name));
    this.#registered = [];
    this.#own = new Map();
    // Looks that are still under way belong to a closed connection.
    this.#latest = this.#looks + 1;
    this.#looks = this.#latest;
  }
}

/** Maximum number of tools of one source. */
const MAX_TOOLS = 4096;

/** Names that a model can use: at most 256 visible characters. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** Whether a tool's name can be shown to a model and written to a log. */
export function isNamed({ name }: SourceTool): boolean {
  return NAME.test(name);
}

/** Separates tools that can be offered from those that cannot, with the reasons. */
export function fitTools(tools: readonly SourceTool[]): {
  readonly fit: readonly SourceTool[];
  readonly unfit: readonly LeftOutTool[];
} {
  const fit: SourceTool[] = [];
  const unfit: LeftOutTool[] = [];
  for (const tool of tools) {
    const reason = tool.unfit ?? (isNamed(tool) ? undefined : UNNAMED);
    if (reason === undefined) fit.push(tool);
    else unfit.push({ name: toSafeName(tool.name), reason });
  }
  return { fit, unfit };
}

const UNNAMED = "its name is empty, longer than 256 characters, or has invisible characters";

/**
 * Creates the specs of a source's tools, named `{source}.{tool}`. Applies the filter.
 *
 * @param call what calling a tool does.
 * @returns the specs by full name, in the source's order.
 * @throws ToolNodeError when two tools have the same name, or there are too many.
 */
export function toolSpecs(
  tools: readonly SourceTool[],
  config: Pick<ToolConfig, "name" | "transport" | "tool_filter" | "user_files">,
  call: (tool: SourceTool, ...rest: Parameters<ToolSpec["call"]>) => ReturnType<ToolSpec["call"]>,
): ReadonlyMap<string, ToolSpec> {
  const { name: namespace, transport, tool_filter, user_files } = config;
  const specs = new Map<string, ToolSpec>();
  for (const source of tools) {
    if (!matchesFilter(tool_filter, source.name)) continue;
    const name = `${namespace}.${source.name}`;
    if (specs.has(name)) {
      const remedy = "leave one out with tool_filter, or fix the source";
      throw wrong(`The source offers two tools named ${JSON.stringify(name)}: ${remedy}.`);
    }
    if (specs.size >= MAX_TOOLS) {
      throw wrong(`The source ${namespace} offers more than ${MAX_TOOLS} tools: choose some with tool_filter.`);
    }
    const { description, output_schema, isReadOnly, definition } = source;
    const input_schema = user_files ? withoutUsername(source.input_schema) : source.input_schema;
    const spec: ToolSpec = {
      name,
      description,
      input_schema,
      ...(definition !== undefined && { definition: { ...definition, inputSchema: input_schema } }),
      ...(output_schema !== undefined && { output_schema }),
      side_effects: isReadOnly ? "read" : "external",
      tags: [transport, namespace],
      extra: { source: transport, namespace },
      call: (args, context) => call(source, args, context),
    };
    specs.set(name, spec);
  }
  return specs;
}

/** Milliseconds between two refreshes. */
const PAUSE = 1000;

/**
 * Runs work one at a time. Requests made meanwhile lead to one more run, so a source that changes all the time causes
 * no flood of requests.
 */
export class Refreshing {
  readonly #work: () => Promise<void>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #isUnderWay = false;
  #isAsked = false;

  /**
   * @param work must not throw.
   * @param signal stops it.
   */
  constructor(work: () => Promise<void>, signal: AbortSignal, clock: Clock = systemClock) {
    this.#work = work;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** Requests a run: now, or after the one under way. */
  ask(): void {
    this.#isAsked = true;
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAsked && !this.#signal.aborted) {
        this.#isAsked = false;
        await this.#work();
        await sleep(this.#clock, PAUSE, this.#signal);
      }
    } catch {
      // Stopped.
    } finally {
      this.#isUnderWay = false;
    }
  }
}
