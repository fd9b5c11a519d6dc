/**
 * What a ToolNode offers at the moment: the tools of its source under the names that a planner knows them by (ToolNode 2.1
 * "Namespacing & collisions"), those for its resources, and both in the registry.
 * @module
 */
import { matchesFilter, type ToolConfig } from "./config.js";
import { wrong } from "./problem.js";
import type { ToolRegistry, ToolSpec } from "./registry.js";
import { type Clock, sleep, systemClock } from "./resilience/clock.js";
import type { SourceTool } from "./source.js";
import { withoutUsername } from "./user-files/handling.js";

/** Keeps the registry in step with the source. */
export class Offers {
  readonly #registry: ToolRegistry;
  readonly #namespace: string;
  #own: ReadonlyMap<string, ToolSpec> = new Map();
  #registered: readonly ToolSpec[] = [];
  #looks = 0;
  /** The look that gave what is offered. */
  #latest = 0;

  constructor(registry: ToolRegistry, namespace: string) {
    this.#registry = registry;
    this.#namespace = namespace;
  }

  /** All of them, the source's own first. */
  get list(): readonly ToolSpec[] {
    return this.#registered;
  }

  /** The names of the source's own. */
  get names(): readonly string[] {
    return [...this.#own.keys()];
  }

  /** By the name that planners know, or by the source's own. */
  find(name: string): ToolSpec | undefined {
    const full = `${this.#namespace}.${name}`;
    return this.#registered.find((tool) => tool.name === name) ?? this.#registered.find((tool) => tool.name === full);
  }

  /** Begins to look at what the source has: what is seen is taken with the number that this gives. */
  look(): number {
    this.#looks += 1;
    return this.#looks;
  }

  /**
   * Offers tools in place of those before. Of two looks under way the one that began last knows better, whichever ends
   * first. Throws, and leaves all as it is, when a name is taken. A name of the source's own goes before one that is made
   * for its resources.
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

  /** Takes everything back. */
  clear(): void {
    this.#registry.remove(this.#registered.map(({ name }) => name));
    this.#registered = [];
    this.#own = new Map();
    // What is still being looked at belongs to a connection that is over.
    this.#latest = this.#looks + 1;
    this.#looks = this.#latest;
  }
}

/** Tools that one source may offer. */
const MAX_TOOLS = 4096;

/** Characters that a name may have; more, or any that are not seen, are no name that a model could say. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** Whether a tool's name can be told to a model and to a log. */
export function isNamed({ name }: SourceTool): boolean {
  return NAME.test(name);
}

/**
 * Names tools `{source}.{tool}` and leaves out what the filter does not match.
 *
 * @param call what calling one of them does.
 * @returns by the planner's name, in the source's order.
 * @throws ToolNodeError when two tools of the source have the same name, or there are too many.
 */
export function offered(
  tools: readonly SourceTool[],
  config: Pick<ToolConfig, "name" | "transport" | "tool_filter" | "user_files">,
  call: (tool: SourceTool, ...rest: Parameters<ToolSpec["call"]>) => ReturnType<ToolSpec["call"]>,
): ReadonlyMap<string, ToolSpec> {
  const { name: namespace, transport, tool_filter, user_files } = config;
  const offers = new Map<string, ToolSpec>();
  for (const source of tools) {
    if (!matchesFilter(tool_filter, source.name)) continue;
    const name = `${namespace}.${source.name}`;
    if (offers.has(name)) {
      const remedy = "leave one out with tool_filter, or mend the source";
      throw wrong(`The source offers two tools named ${JSON.stringify(name)}: ${remedy}.`);
    }
    if (offers.size >= MAX_TOOLS) {
      throw wrong(`The source ${namespace} offers more than ${MAX_TOOLS} tools: choose some with tool_filter.`);
    }
    const { description, input_schema, output_schema, isReadOnly } = source;
    const spec: ToolSpec = {
      name,
      description,
      input_schema: user_files ? withoutUsername(input_schema) : input_schema,
      ...(output_schema !== undefined && { output_schema }),
      side_effects: isReadOnly ? "read" : "external",
      tags: [transport, namespace],
      extra: { source: transport, namespace },
      call: (args, context) => call(source, args, context),
    };
    offers.set(name, spec);
  }
  return offers;
}

/** Milliseconds between the end of one and the beginning of the next. */
const PAUSE = 1000;

/** Does work one at a time, and once more at most behind it: a source that changes without end is no storm of requests. */
export class Refreshing {
  readonly #work: () => Promise<void>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #isUnderWay = false;
  #isAsked = false;

  /**
   * @param work must not throw.
   * @param signal ends it.
   */
  constructor(work: () => Promise<void>, signal: AbortSignal, clock: Clock = systemClock) {
    this.#work = work;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** Something has changed: the work is done now, or once more when what is under way is over. */
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
      // It was ended.
    } finally {
      this.#isUnderWay = false;
    }
  }
}
