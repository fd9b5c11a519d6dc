/**
 * One session that listens in this process: the resources it is told of, as the register says.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import type { ToolNode } from "../../tools-node.js";
import { userKey } from "../../tools/auth/token-store.js";
import type { ToolContext, ToolNodeEvent } from "../../tools/options.js";
import { ToolClientError } from "../../tools/errors.js";
import type { Announcer, SessionEvent } from "../sessions/announcer.js";
import type { EventLog } from "../sessions/event-log.js";
import {
  MAX_SUBSCRIPTIONS,
  subscriptionKey,
  type SessionRegister,
  type Subscription,
} from "../sessions/session-register.js";
import { scopeOf, type ServedSession } from "../sessions/session.js";

/** What watching works with. */
interface WatchingDeps extends Pick<WatcherDeps, "get" | "report"> {
  readonly register: SessionRegister;
  readonly events: EventLog;
  readonly announcer: Announcer;
  readonly over: AbortSignal;
  /** Milliseconds between two looks at what is watched; half a minute when left out. */
  readonly look?: number;
  /** Milliseconds that a session is watched after its last listener has gone; three seconds when left out. */
  readonly linger?: number;
}

/** A source that failed or died is asked again by then. */
const LOOK = 30_000;

/** One who comes back at once missed nothing. */
const LINGER = 3000;

interface Entry {
  readonly watcher: Watcher;
  listeners: number;
  lingering: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Watches for sessions. What a session is to be told of stands in the register, so that it outlives a process; what is told goes
 * to the session's channel. A session that listens in two processes is told twice of a change, once by each.
 */
export class Watching implements AsyncDisposable {
  readonly #deps: WatchingDeps;
  readonly #entries = new Map<string, Entry>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(deps: WatchingDeps) {
    this.#deps = deps;
  }

  /**
   * Watches for a session until what is given is disposed of.
   *
   * @param isBack whether its listener listened before: of what changed while nobody watched it is told then.
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

  /** Has every process that watches for a session look at the register again. Settles when this one has. */
  async changed(session: string): Promise<void> {
    await this.#deps.events.append(controlOf(session), { kind: "changed" });
    await this.#entries.get(session)?.watcher.sync();
  }

  /** Ends watching for a session that is over. Throws SluiceError E_STORE_WRITE. */
  async ended(session: string): Promise<void> {
    const entry = this.#entries.get(session);
    if (entry !== undefined) await this.#end(session, entry);
    await this.#deps.events.end(controlOf(session));
  }

  /** Takes an event of a source; `owner`: of whose connection, null where all share one. */
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

  /** Watches for nobody any more. */
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
    void followed(watcher, events, session.id, report).finally(forget);
    void begun(watcher, isBack);
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

/** Whoever comes back looks again at what may have changed while nobody watched. */
async function begun(watcher: Watcher, isBack: boolean): Promise<void> {
  await watcher.sync();
  if (!isBack) return;
  for (const { namespace, uri } of watcher.subscriptions) watcher.tell({ kind: "resource_updated", namespace, uri });
}

/** What is said of a session's subscriptions in other processes. Without it, they are looked at now and then. */
async function followed(
  watcher: Watcher,
  events: EventLog,
  session: string,
  report: (error: unknown) => void,
): Promise<void> {
  const { signal } = watcher;
  try {
    const said = events.follow(controlOf(session), { after: null, signal })[Symbol.asyncIterator]();
    while ((await said.next()).done !== true) void watcher.sync();
  } catch (error) {
    if (!signal.aborted) report(error);
  }
}

/** The channel on which processes tell each other. */
function controlOf(session: string): string {
  return `subscriptions ${session}`;
}

/** Milliseconds that taking a subscription back may take. */
const LEAVING = 10_000;

/** What a watcher works with. */
interface WatcherDeps {
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
class Watcher implements AsyncDisposable {
  readonly #deps: WatcherDeps;
  readonly #over = new AbortController();
  readonly #watched = new Map<string, Watched>();
  /** Sources and resources whose failure was reported: they are tried again and again, and told of once. */
  readonly #reported = new Set<string>();
  #syncing: Promise<void> | undefined;
  #isStale = false;

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
  }

  /** Aborted when nobody listens any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Whose the session is, as sources tell their users apart. */
  get owner(): string {
    return userKey({ scope: scopeOf(this.#deps.session) });
  }

  /** What is watched at the moment. */
  get subscriptions(): readonly Subscription[] {
    return Array.from(this.#watched.values(), ({ namespace, uri }) => ({ namespace, uri }));
  }

  /** Whether the session is told of a resource; also while its source is being asked to. */
  watches(subscription: Subscription): boolean {
    return this.#watched.has(subscriptionKey(subscription));
  }

  /** Tells the session. */
  tell(event: SessionEvent): void {
    this.#deps.tell(event);
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
      const node = await this.#deps.get(namespace, context);
      const isKnown = (each: Subscription): boolean => this.#watched.get(subscriptionKey(each))?.node === node;
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
    this.#watched.set(subscriptionKey(subscription), watched);
    try {
      await node.subscribe(subscription.uri, context);
      watched.node = node;
    } catch (error) {
      this.#watched.delete(subscriptionKey(subscription));
      // What the source refuses of one resource says nothing of the next.
      if (!(error instanceof ToolClientError)) throw error;
      this.#report(subscriptionKey(subscription), error);
    }
  }

  async #left({ node, uri }: Watched): Promise<void> {
    if (node !== undefined) await takenBack(node, uri, this.#context);
  }

  get #context(): ToolContext {
    return { scope: scopeOf(this.#deps.session), signal: this.signal };
  }

  #report(what: string, error: unknown): void {
    if (this.signal.aborted || this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#deps.report(error);
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
