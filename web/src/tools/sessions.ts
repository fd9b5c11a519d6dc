/**
 * Connections to one source: one for everybody, or one for each user where each has a token or a process of their own.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import { untilAborted } from "../core/abort.js";
import type { ToolContext } from "./context.js";
import type { Clock } from "./resilience/clock.js";
import type { Authorize, SourceConnection, SourceNotice, ToolSource } from "./source.js";
import type { ResolvedToolConfig } from "./variables.js";

/** Users whose connections are kept; the one unused for longest makes room. */
const MAX_SESSIONS = 256;

/** What connections are made with. */
interface SessionTerms {
  readonly source: ToolSource;
  /** Whose connection a call may use: those for whom it gives the same text share one. Left out: all do. */
  readonly keyOf?: ((context: ToolContext) => string) | undefined;
  /** How long opening may take; longer for a call that is given more. */
  readonly timeoutSeconds: number;
  /** Aborted when the source is closed: then none is opened any more, nor goes on being opened. */
  readonly over: AbortSignal;
  /** `owner`: whose connection it came over, where each user has one. */
  readonly onNotice: (notice: SourceNotice, owner?: ArtifactScope) => void;
}

/** One user's connection. */
interface Session {
  /** That of the latest call: earlier ones may be over, and with them whoever would answer for them. */
  authorize: Authorize;
  opening: Promise<SourceConnection> | undefined;
  users: number;
}

/** Opens connections when they are needed, and again when the other side has gone. */
export class Sessions implements AsyncDisposable {
  readonly #terms: SessionTerms;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();

  constructor(terms: SessionTerms) {
    this.#terms = terms;
  }

  /**
   * Works with the connection of whoever calls. Throws what opening it fails with.
   *
   * @param authorize what the call's requests are authorized by.
   */
  async use<T>(
    context: ToolContext,
    authorize: Authorize,
    signal: AbortSignal,
    work: (connection: SourceConnection) => Promise<T>,
  ): Promise<T> {
    const session = this.#sessionOf(context, authorize);
    session.users += 1;
    try {
      return await work(await this.#opened(session, signal, context));
    } finally {
      session.users -= 1;
    }
  }

  /** Closes all connections, once the source is closed; those that are being opened too. */
  async [Symbol.asyncDispose](): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(closed));
  }

  #sessionOf(context: ToolContext, authorize: Authorize): Session {
    const { keyOf, over } = this.#terms;
    over.throwIfAborted();
    const key = keyOf?.(context) ?? "";
    const session = this.#sessions.get(key) ?? { authorize, opening: undefined, users: 0 };
    session.authorize = authorize;
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    this.#makeRoom();
    return session;
  }

  async #opened(session: Session, signal: AbortSignal, context: ToolContext): Promise<SourceConnection> {
    const known = session.opening;
    const before = await (known && untilAborted(settled(known), signal));
    if (before !== undefined) await untilAborted(decided(before), signal);
    if (before?.isOpen === true) return before;
    this.#terms.over.throwIfAborted();
    // Whoever comes first opens; whoever comes while it is opened waits for the same. One that failed is forgotten.
    const another = session.opening === known ? undefined : session.opening;
    const opening = (session.opening = another ?? this.#open(session, before, context));
    opening.catch(() => {
      if (session.opening === opening) session.opening = undefined;
    });
    return untilAborted(opening, signal);
  }

  async #open(
    session: Session,
    before: SourceConnection | undefined,
    { scope, timeoutSeconds: given = 0 }: ToolContext,
  ): Promise<SourceConnection> {
    if (before !== undefined) await letGo(before);
    const { source, keyOf, timeoutSeconds, over, onNotice } = this.#terms;
    // Others may wait for the same connection: none of them ends it for all by giving up.
    const limit = AbortSignal.timeout(Math.max(timeoutSeconds, given) * 1000);
    const signal = AbortSignal.any([limit, over]);
    const whose = keyOf === undefined || scope === undefined ? {} : { scope };
    const { tenant_id = null, user_id = null } = scope ?? {};
    const owner = keyOf === undefined ? undefined : { tenant_id, user_id };
    const heard = (notice: SourceNotice): void => onNotice(notice, owner);
    return source.open({ ...whose, authorize: () => session.authorize(), signal, onNotice: heard });
  }

  #makeRoom(): void {
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) return;
      if (session.users > 0) continue;
      this.#sessions.delete(key);
      void closed(session);
    }
  }
}

async function closed({ opening }: Session): Promise<void> {
  const connection = await (opening && settled(opening));
  if (connection !== undefined) await letGo(connection);
}

/** The connection that comes of opening it, if one does. */
function settled(opening: Promise<SourceConnection>): Promise<SourceConnection | undefined> {
  return opening.catch(() => undefined);
}

/** What fails at its end is over all the same. */
async function letGo(connection: SourceConnection): Promise<void> {
  try {
    await connection[Symbol.asyncDispose]();
  } catch {
    // Nobody uses it any more.
  }
}

/** How long, in milliseconds, a program may take to answer a call that it was told is given up (user storage §11.3). */
const GRACE = 2000;

/** Whether each user has a process of their own, which nobody but its user waits for. */
export function isOwnProcess({ user_files, endpoint }: ResolvedToolConfig): boolean {
  return user_files && endpoint?.kind === "stdio";
}

/** Programs of which it is not known yet whether they go on. */
const undecided = new WeakMap<SourceConnection, Promise<void>>();

/** Ends the program behind a connection, unless it answers soon what was given up. */
export function endUnlessAnswered(connection: SourceConnection, isAnswered: () => boolean, clock: Clock): void {
  const deciding = new Promise<void>((resolve) => {
    clock.after(GRACE, () => {
      const ending = isAnswered() || !connection.isOpen ? undefined : connection.kill?.();
      // Nobody is left to hear that it cannot be ended.
      void Promise.resolve(ending)
        .catch(() => undefined)
        .then(resolve);
    });
  });
  undecided.set(connection, deciding);
}

/** Settles when it is known whether the program goes on: a call that came before would be ended with it. */
export async function decided(connection: SourceConnection): Promise<void> {
  await undecided.get(connection);
}
