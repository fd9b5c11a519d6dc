/**
 * Who is told of which changes: each process asks sources for the sessions that listen in it.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { Announcer } from "../events/announcer.js";
import type { EventLog } from "../events/event-log.js";
import type { SessionRegister } from "../sessions/session-register.js";
import type { ServedSession } from "../sessions/session.js";
import { Watcher, type WatcherTerms } from "./watcher.js";

/** What watching works with. */
export interface WatchingTerms extends Pick<WatcherTerms, "get" | "report"> {
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
  readonly #terms: WatchingTerms;
  readonly #entries = new Map<string, Entry>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(terms: WatchingTerms) {
    this.#terms = terms;
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
    await this.#terms.events.append(controlOf(session), { kind: "changed" });
    await this.#entries.get(session)?.watcher.sync();
  }

  /** Ends watching for a session that is over. Throws SluiceError E_STORE_WRITE. */
  async ended(session: string): Promise<void> {
    const entry = this.#entries.get(session);
    if (entry !== undefined) await this.#end(session, entry);
    await this.#terms.events.end(controlOf(session));
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
    const { register, events, announcer, get, report, over } = this.#terms;
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
    this.#timer ??= setInterval(() => this.#look(), this.#terms.look ?? LOOK);
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
    }, this.#terms.linger ?? LINGER);
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
