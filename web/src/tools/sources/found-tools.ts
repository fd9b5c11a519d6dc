/**
 * The tools of a source that are found out once it is opened, and again when they are asked for again.
 * @module
 */
import { subjectOf } from "../adapting/place.js";
import { ToolClientError, ToolConnectionError } from "../errors.js";
import type { SourceTool } from "../source.js";

/** What was found out: tools, each with what it is called by. */
export interface Found<Template> {
  readonly tools: readonly (SourceTool & { readonly template: Template })[];
}

/** What one connection knows of its source. */
export class FoundTools<Template, F extends Found<Template>> {
  readonly #source: string;
  readonly #discover: (signal: AbortSignal) => Promise<F>;
  #found: F;
  /** Whether nobody was told yet what was found. */
  #isFresh = true;
  #isOpen = true;

  private constructor(source: string, discover: (signal: AbortSignal) => Promise<F>, found: F) {
    this.#source = source;
    this.#discover = discover;
    this.#found = found;
  }

  /** Finds out for the first time. Throws what `discover` throws. */
  static async of<Template, F extends Found<Template>>(
    source: string,
    discover: (signal: AbortSignal) => Promise<F>,
    signal: AbortSignal,
  ): Promise<FoundTools<Template, F>> {
    return new FoundTools(source, discover, await discover(signal));
  }

  /** What was found out last. */
  get found(): F {
    return this.#found;
  }

  /** Whether tools may be called. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** From now on none may be called. */
  close(): void {
    this.#isOpen = false;
  }

  /** All tools, as whoever asks is told of them. */
  async list(signal: AbortSignal): Promise<readonly SourceTool[]> {
    if (!this.#isFresh) this.#found = await this.#discover(signal);
    this.#isFresh = false;
    return this.#found.tools.map(({ template: _, ...tool }) => tool);
  }

  /** The tool of a name. Throws ToolConnectionError when it is closed, ToolClientError where there is none. */
  tool(name: string): F["tools"][number] {
    const source = this.#source;
    if (!this.#isOpen) throw new ToolConnectionError(`${subjectOf({ source })} was closed: connect it again.`);
    const tool = this.#found.tools.find((one) => one.name === name);
    if (tool !== undefined) return tool;
    throw new ToolClientError(
      `${subjectOf({ source, tool: name })} does not exist: list the tools of the source again.`,
    );
  }
}
