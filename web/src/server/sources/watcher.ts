/**
 * One session that listens in this process: the resources it is told of, as the register says.
 * @module
 */
import { userKey } from "../../tools/auth/owner.js";
import type { ToolContext } from "../../tools/context.js";
import { ToolClientError } from "../../tools/errors.js";
import type { ToolNode } from "../../tools-node.js";
import type { SessionEvent } from "../events/announcer.js";
import { MAX_SUBSCRIPTIONS, type Subscription } from "../sessions/session-register.js";
import { scopeOf, type ServedSession } from "../sessions/session.js";

/** Milliseconds that taking a subscription back may take. */
const LEAVING = 10_000;

/** What a watcher works with. */
export interface WatcherTerms {
  readonly session: ServedSession;
  /** A source, connected. */
  readonly get: (namespace: string, context: ToolContext) => Promise<ToolNode>;
  /** What the session is to be told of. */
  readonly wanted: () => Promise<readonly Subscription[]>;
  readonly tell: (event: SessionEvent) => void;
  /** Must not throw. */
  readonly report: (error: unknown) => void;
}

/** A resource that is watched: `node` is undefined until the source has agreed. */
interface Watched extends Subscription {
  node: ToolNode | undefined;
}

/** Asks sources for what a session is to be told of, as long as somebody listens. */
export class Watcher implements AsyncDisposable {
  readonly #terms: WatcherTerms;
  readonly #over = new AbortController();
  readonly #watched = new Map<string, Watched>();
  /** Sources and resources whose failure was reported: they are tried again and again, and told of once. */
  readonly #reported = new Set<string>();
  #syncing: Promise<void> | undefined;
  #isStale = false;

  constructor(terms: WatcherTerms) {
    this.#terms = terms;
  }

  /** Aborted when nobody listens any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Whose the session is, as sources tell their users apart. */
  get owner(): string {
    return userKey({ scope: scopeOf(this.#terms.session) });
  }

  /** What is watched at the moment. */
  get subscriptions(): readonly Subscription[] {
    return Array.from(this.#watched.values(), ({ namespace, uri }) => ({ namespace, uri }));
  }

  /** Whether the session is told of a resource; also while its source is being asked to. */
  watches(subscription: Subscription): boolean {
    return this.#watched.has(keyOf(subscription));
  }

  /** Tells the session. */
  tell(event: SessionEvent): void {
    this.#terms.tell(event);
  }

  /** Looks what the register says now, and does it. Settles when that is done, or nobody listens any more. Never throws. */
  async sync(): Promise<void> {
    this.#isStale = true;
    this.#syncing ??= this.#synced().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  /** Takes all back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new DOMException("Nobody listens any more.", "AbortError"));
    await this.#syncing;
    const watched = [...this.#watched.values()];
    this.#watched.clear();
    await Promise.all(watched.map((each) => this.#left(each)));
  }

  async #synced(): Promise<void> {
    while (this.#isStale && !this.signal.aborted) {
      this.#isStale = false;
      try {
        const wanted = (await this.#terms.wanted()).slice(0, MAX_SUBSCRIPTIONS);
        await this.#adjust(wanted);
      } catch (error) {
        this.#report("", error);
      }
    }
  }

  async #adjust(wanted: readonly Subscription[]): Promise<void> {
    const keys = new Set(wanted.map(keyOf));
    const dropped = [...this.#watched].filter(([key]) => !keys.has(key));
    for (const [key] of dropped) this.#watched.delete(key);
    await Promise.all(dropped.map(([, each]) => this.#left(each)));
    const namespaces = new Set(wanted.map(({ namespace }) => namespace));
    // A source that hangs holds up no other.
    await Promise.all(
      Array.from(namespaces, (namespace) =>
        this.#entered(
          namespace,
          wanted.filter((each) => each.namespace === namespace),
        ),
      ),
    );
  }

  async #entered(namespace: string, group: readonly Subscription[]): Promise<void> {
    const context = this.#context;
    try {
      const node = await this.#terms.get(namespace, context);
      const isKnown = (each: Subscription): boolean => this.#watched.get(keyOf(each))?.node === node;
      const [known] = group.filter(isKnown);
      if (known !== undefined) await reopened(node, known.uri, context);
      for (const each of group) if (!isKnown(each)) await this.#enter(each, node, context);
      this.#reported.delete(namespace);
    } catch (error) {
      this.#report(namespace, error);
    }
  }

  async #enter(subscription: Subscription, node: ToolNode, context: ToolContext): Promise<void> {
    const watched: Watched = { ...subscription, node: undefined };
    // A source may tell of a change before it answers.
    this.#watched.set(keyOf(subscription), watched);
    try {
      await node.subscribe(subscription.uri, context);
      watched.node = node;
    } catch (error) {
      this.#watched.delete(keyOf(subscription));
      // What the source refuses of one resource says nothing of the next.
      if (!(error instanceof ToolClientError)) throw error;
      this.#report(keyOf(subscription), error);
    }
  }

  async #left({ node, uri }: Watched): Promise<void> {
    if (node !== undefined) await takenBack(node, uri, this.#context);
  }

  get #context(): ToolContext {
    return { scope: scopeOf(this.#terms.session), signal: this.signal };
  }

  #report(what: string, error: unknown): void {
    if (this.signal.aborted || this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#terms.report(error);
  }
}

/** Takes a subscription back, also for whoever has given up: else it would be counted for ever. Never throws. */
export async function takenBack(node: ToolNode, uri: string, context: ToolContext): Promise<void> {
  try {
    await node.unsubscribe(uri, { ...context, signal: AbortSignal.timeout(LEAVING) });
  } catch {
    // The source may be gone, or hang: it tells nobody then, or nobody who is listened to.
  }
}

/** A source that died is started again when it is asked for something, and asked anew for all that is watched. */
async function reopened(node: ToolNode, uri: string, context: ToolContext): Promise<void> {
  await node.subscribe(uri, context);
  await takenBack(node, uri, context);
}

function keyOf({ namespace, uri }: Subscription): string {
  return JSON.stringify([namespace, uri]);
}
