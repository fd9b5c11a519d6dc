/**
 * Watches the resources that listening sessions are subscribed to.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import type { ToolNode } from "../../tools-node.js";
import { userKey } from "../../tools/auth/token-store.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolContext } from "../../tools/context.js";
import { ToolClientError } from "../../tools/errors.js";
import type { Announcer, SessionEvent } from "../sessions/announcer.js";
import type { EventLog } from "../sessions/event-log.js";
import {
  MAX_SUBSCRIPTIONS,
  subscriptionKey,
  type SessionRegister,
  type Subscription,
} from "../sessions/session-register.js";
import { toScope, type ServedSession } from "../session.js";

interface WatchingDeps extends Pick<WatcherDeps, "get" | "report"> {
  readonly register: SessionRegister;
  readonly events: EventLog;
  readonly announcer: Announcer;
  readonly over: AbortSignal;
  /** Milliseconds between two synchronisations. Defaults to 30 seconds. */
  readonly look?: number;
  /** Milliseconds that watching goes on after the last listener has gone. Defaults to 3 seconds. */
  readonly linger?: number;
}

/** A source that failed or died is asked again after this time. */
const LOOK = 30_000;

/** A client that reconnects within this time misses nothing. */
const LINGER = 3000;

interface Entry {
  readonly watcher: Watcher;
  listeners: number;
  lingering: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Watches for sessions. Their subscriptions are in the register, so that they outlive a process, and events go to the
 * session's channel. A session that listens in two processes gets each change twice.
 */
export class Watching implements AsyncDisposable {
  readonly #deps: WatchingDeps;
  readonly #entries = new Map<string, Entry>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(deps: WatchingDeps) {
    this.#deps = deps;
  }

  /**
   * Watches for a session until the result is disposed of.
   *
   * @param isBack whether its client listened before: then it hears of what may have changed meanwhile.
   */
  watch(session: ServedSession, isBack: boolean): Disposable {
    const entry = this.#entries.get(session.id) ?? this.#begin(session, isBack);
    clearTimeout(entry.lingering);
    entry.listeners += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#leave(session.id, entry);
        isOver = true;
      },
    };
  }

  /** Makes every process that watches for a session read the register again. Settles when this one has. */
  async changed(session: string): Promise<void> {
    await this.#deps.events.append(toControlChannel(session), { kind: "changed" });
    await this.#entries.get(session)?.watcher.sync();
  }

  /** Ends watching for a session that is over. Throws SluiceError E_STORE_WRITE. */
  async ended(session: string): Promise<void> {
    const entry = this.#entries.get(session);
    if (entry !== undefined) await this.#end(session, entry);
    await this.#deps.events.end(toControlChannel(session));
  }

  /** Handles an event of a source. `owner`: the connection's user, or null for a shared connection. */
  take(event: ToolNodeEvent, owner: string | null): void {
    if (event.kind !== "resource") return;
    const { namespace } = event.event;
    for (const { watcher } of this.#entries.values()) {
      if (owner !== null && owner !== watcher.owner) continue;
      if (event.event.kind === "list_changed") watcher.tell({ kind: "resources_changed", namespace });
      else if (watcher.watches(event.event)) {
        watcher.tell({ kind: "resource_updated", namespace, uri: event.event.uri });
      }
    }
  }

  /** Stops all watching. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#entries, ([session, entry]) => this.#end(session, entry)));
  }

  #begin(session: ServedSession, isBack: boolean): Entry {
    const { register, events, announcer, get, report, over } = this.#deps;
    const watcher = new Watcher({
      session,
      get,
      report,
      wanted: () => register.subscriptions(session.id),
      tell: (event) => void announcer.tell(session.id, event),
    });
    const entry: Entry = { watcher, listeners: 0, lingering: undefined };
    this.#entries.set(session.id, entry);
    const forget = onAbort(over, () => void this.#end(session.id, entry));
    void followChanges(watcher, events, session.id, report).finally(forget);
    void tellMissed(watcher, isBack);
    this.#timer ??= setInterval(() => this.#look(), this.#deps.look ?? LOOK);
    this.#timer.unref();
    return entry;
  }

  #look(): void {
    for (const { watcher } of this.#entries.values()) void watcher.sync();
  }

  #leave(session: string, entry: Entry): void {
    entry.listeners -= 1;
    if (entry.listeners > 0) return;
    clearTimeout(entry.lingering);
    entry.lingering = setTimeout(() => {
      if (entry.listeners === 0) void this.#end(session, entry);
    }, this.#deps.linger ?? LINGER);
    entry.lingering.unref();
  }

  async #end(session: string, entry: Entry): Promise<void> {
    clearTimeout(entry.lingering);
    if (this.#entries.get(session) === entry) this.#entries.delete(session);
    if (this.#entries.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    await entry.watcher[Symbol.asyncDispose]();
  }
}

/** Tells a client that came back what may have changed meanwhile. */
async function tellMissed(watcher: Watcher, isBack: boolean): Promise<void> {
  await watcher.sync();
  if (!isBack) return;
  for (const { namespace, uri } of watcher.subscriptions) watcher.tell({ kind: "resource_updated", namespace, uri });
}

/** Follows changes of a session's subscriptions by other processes. If that fails, the interval remains. */
async function followChanges(
  watcher: Watcher,
  events: EventLog,
  session: string,
  report: (error: unknown) => void,
): Promise<void> {
  const { signal } = watcher;
  try {
    const said = events.follow(toControlChannel(session), { after: null, signal })[Symbol.asyncIterator]();
    while ((await said.next()).done !== true) void watcher.sync();
  } catch (error) {
    if (!signal.aborted) report(error);
  }
}

/** The channel for changes of a session's subscriptions. */
function toControlChannel(session: string): string {
  return `subscriptions ${session}`;
}

/** Milliseconds for ending a subscription. */
const LEAVING = 10_000;

interface WatcherDeps {
  readonly session: ServedSession;
  /** A connected source. */
  readonly get: (namespace: string, context: ToolContext) => Promise<ToolNode>;
  /** The session's subscriptions. */
  readonly wanted: () => Promise<readonly Subscription[]>;
  readonly tell: (event: SessionEvent) => void;
  /** Must not throw. */
  readonly report: (error: unknown) => void;
}

/** A watched resource. `node` is undefined until the source has agreed. */
interface Watched extends Subscription {
  node: ToolNode | undefined;
}

/** Keeps a session's subscriptions open at the sources. */
class Watcher implements AsyncDisposable {
  readonly #deps: WatcherDeps;
  readonly #over = new AbortController();
  readonly #watched = new Map<string, Watched>();
  /** Sources and resources whose failure was reported. Retries are not reported again. */
  readonly #reported = new Set<string>();
  #syncing: Promise<void> | undefined;
  #isStale = false;

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
  }

  /** Aborted when watching ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The session's user, as sources identify it. */
  get owner(): string {
    return userKey({ scope: toScope(this.#deps.session) });
  }

  /** The watched resources. */
  get subscriptions(): readonly Subscription[] {
    return Array.from(this.#watched.values(), ({ namespace, uri }) => ({ namespace, uri }));
  }

  /** Whether a resource is watched, or its source is being asked. */
  watches(subscription: Subscription): boolean {
    return this.#watched.has(subscriptionKey(subscription));
  }

  /** Tells the session. */
  tell(event: SessionEvent): void {
    this.#deps.tell(event);
  }

  /** Reads the register and adjusts the subscriptions. Settles when done or ended. Never throws. */
  async sync(): Promise<void> {
    this.#isStale = true;
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  /** Ends all subscriptions. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new DOMException("The last listener is gone.", "AbortError"));
    await this.#syncing;
    const watched = [...this.#watched.values()];
    this.#watched.clear();
    await Promise.all(watched.map((each) => this.#leaveWatched(each)));
  }

  async #sync(): Promise<void> {
    while (this.#isStale && !this.signal.aborted) {
      this.#isStale = false;
      try {
        const wanted = (await this.#deps.wanted()).slice(0, MAX_SUBSCRIPTIONS);
        await this.#adjust(wanted);
      } catch (error) {
        this.#report("", error);
      }
    }
  }

  async #adjust(wanted: readonly Subscription[]): Promise<void> {
    const keys = new Set(wanted.map(subscriptionKey));
    const dropped = [...this.#watched].filter(([key]) => !keys.has(key));
    for (const [key] of dropped) this.#watched.delete(key);
    await Promise.all(dropped.map(([, each]) => this.#leaveWatched(each)));
    const namespaces = new Set(wanted.map(({ namespace }) => namespace));
    // A source that hangs delays no other.
    await Promise.all(
      Array.from(namespaces, (namespace) =>
        this.#enterGroup(
          namespace,
          wanted.filter((each) => each.namespace === namespace),
        ),
      ),
    );
  }

  async #enterGroup(namespace: string, group: readonly Subscription[]): Promise<void> {
    const context = this.#context;
    try {
      const node = await this.#deps.get(namespace, context);
      const isKnown = (each: Subscription): boolean => this.#watched.get(subscriptionKey(each))?.node === node;
      const [known] = group.filter(isKnown);
      if (known !== undefined) await reopenSource(node, known.uri, context);
      for (const each of group) if (!isKnown(each)) await this.#enter(each, node, context);
      this.#reported.delete(namespace);
    } catch (error) {
      this.#report(namespace, error);
    }
  }

  async #enter(subscription: Subscription, node: ToolNode, context: ToolContext): Promise<void> {
    const watched: Watched = { ...subscription, node: undefined };
    // A source may report a change before it answers.
    this.#watched.set(subscriptionKey(subscription), watched);
    try {
      await node.subscribe(subscription.uri, context);
      watched.node = node;
    } catch (error) {
      this.#watched.delete(subscriptionKey(subscription));
      // A refusal concerns one resource only.
      if (!(error instanceof ToolClientError)) throw error;
      this.#report(subscriptionKey(subscription), error);
    }
  }

  async #leaveWatched({ node, uri }: Watched): Promise<void> {
    if (node !== undefined) await takeBack(node, uri, this.#context);
  }

  get #context(): ToolContext {
    return { scope: toScope(this.#deps.session), signal: this.signal };
  }

  #report(what: string, error: unknown): void {
    if (this.signal.aborted || this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#deps.report(error);
  }
}

/** Ends a subscription, also for a caller who has given up: otherwise it would count for ever. Never throws. */
export async function takeBack(node: ToolNode, uri: string, context: ToolContext): Promise<void> {
  try {
    await node.unsubscribe(uri, { ...context, signal: AbortSignal.timeout(LEAVING) });
  } catch {
    // The source may be gone or hang.
  }
}

/** Asking a dead source for something restarts it, and renews all subscriptions. */
async function reopenSource(node: ToolNode, uri: string, context: ToolContext): Promise<void> {
  await node.subscribe(uri, context);
  await takeBack(node, uri, context);
}
