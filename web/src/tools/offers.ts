/**
 * What a ToolNode offers at the moment: the tools of its source, those for its resources, and both in the registry.
 * @module
 */
import type { OfferedTool } from "./offer.js";
import type { ToolRegistry, ToolSpec } from "./registry.js";

/** Keeps the registry in step with the source. */
export class Offers {
  readonly #registry: ToolRegistry;
  readonly #namespace: string;
  #own: ReadonlyMap<string, OfferedTool> = new Map();
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
  take(own: ReadonlyMap<string, OfferedTool>, generated: readonly ToolSpec[], look: number): void {
    if (look < this.#latest) return;
    this.#latest = look;
    const before = this.#registered;
    const next = [...Array.from(own.values(), ({ spec }) => spec), ...generated.filter(({ name }) => !own.has(name))];
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
