/**
 * A source while it is connected, for everybody or for one user.
 * @module
 */
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { wasClosed } from "../../tools/closed.js";
import { ToolNodeError } from "../../tools/errors.js";
import type { ToolContext } from "../../tools/context.js";
import type { ToolNode } from "../../tools-node.js";

/** Milliseconds that a source which failed is left alone; each further failure doubles them. */
const LEAST_REST = 1000;
const MOST_REST = 30_000;

/** Connects when it is first needed, once for all who ask meanwhile, and after a failure again, with a pause. */
export class SourceNode implements AsyncDisposable {
  /** When it was last asked for, as `performance.now` says it. */
  usedAt: number = performance.now();
  readonly #node: ToolNode;
  readonly #isOneUsers: boolean;
  readonly #prepare: () => Promise<void>;
  readonly #over: AbortSignal;
  #connecting: Promise<void> | undefined;
  #isConnected = false;
  #isClosed = false;
  #rest = 0;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  /**
   * `isOneUsers`: it is connected for whoever asks, who may be asked for consent; else for all.
   * `prepare` goes before connecting.
   */
  constructor(
    node: ToolNode,
    terms: { readonly isOneUsers: boolean; readonly prepare: () => Promise<void>; readonly over: AbortSignal },
  ) {
    this.#node = node;
    this.#isOneUsers = terms.isOneUsers;
    this.#prepare = terms.prepare;
    this.#over = terms.over;
  }

  /** Connected. Throws what `ToolNode.connect` throws, for a while after a failure the same; the reason of the context's signal. */
  async connected(context: ToolContext): Promise<ToolNode> {
    this.usedAt = performance.now();
    while (this.#connecting !== undefined) await untilAborted(this.#connecting, context.signal);
    if (this.#isClosed) throw wasClosed(this.#node.name);
    if (this.#isConnected) return this.#node;
    if (this.#failure !== undefined && performance.now() < this.#failure.until) throw this.#failure.error;
    const connecting = this.#connect(this.#whoConnects(context));
    this.#connecting = connecting
      .catch(() => undefined)
      .finally(() => {
        this.#connecting = undefined;
      });
    await untilAborted(connecting, context.signal);
    return this.#node;
  }

  /** Closes it, for good. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#node.close();
  }

  async #connect(context: ToolContext): Promise<void> {
    try {
      await this.#prepare();
      // Whoever closed it meanwhile would leave open what is opened now.
      if (this.#isClosed) throw wasClosed(this.#node.name);
      await this.#node.connect(context);
      this.#isConnected = true;
      this.#rest = 0;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  /** Whoever is asked may give up; where nobody is, it goes on for those who come later. */
  #whoConnects(context: ToolContext): ToolContext {
    if (this.#isOneUsers && context.pause !== undefined) return context;
    const { scope } = context;
    return { signal: this.#over, ...(this.#isOneUsers && scope !== undefined && { scope }) };
  }

  /** What a person has to do, or did not want to, is no reason for a pause. */
  #note(error: unknown): void {
    const isTheirs = error instanceof ToolNodeError && error.category === "auth_required" && this.#isOneUsers;
    if (isTheirs || !(error instanceof SluiceError)) return;
    this.#rest = Math.min(MOST_REST, Math.max(LEAST_REST, 2 * this.#rest));
    this.#failure = { error, until: performance.now() + this.#rest };
  }
}
