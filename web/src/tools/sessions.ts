/**
 * Connections to one source: one for all callers, or one for each user with a token or a process of their own.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import { onAbort, untilAborted } from "../core/abort.js";
import type { ToolContext } from "./context.js";
import { LostSession, noteErrorOutput, ToolConnectionError } from "./errors.js";
import { OutOfTime, outOfTime, systemClock } from "./resilience/attempt.js";
import type { Authorize, SourceConnection, SourceNotice, ToolSource } from "./source.js";
import { settleWithin } from "./sources/mcp/requests.js";

/** Maximum number of sessions. The least recently used one is closed. */
const MAX_SESSIONS = 256;

/**
 * Milliseconds that closing waits for connections to end. Long enough to kill a program that ignores signals; a
 * host's `fetch` that never settles is not waited for any longer.
 */
const LONGEST_END = 10_000;

interface SessionDeps {
  /** The source's name, for errors. */
  readonly name: string;
  readonly source: ToolSource;
  /** Callers with the same key share a connection. If left out, all callers do. */
  readonly keyOf?: ((context: ToolContext) => string) | undefined;
  /** Time limit for opening. A call with a longer limit extends it. */
  readonly timeoutSeconds: number;
  /** Aborted when the source is closed. Nothing is opened after that. */
  readonly over: AbortSignal;
  /** `owner` is the user whose connection it came over, where each user has one. */
  readonly onNotice: (notice: SourceNotice, owner?: ArtifactScope) => void;
}

/** The session of one user. */
interface Session {
  /** Authorizes as the latest call does: earlier calls may be over. */
  authorize: Authorize;
  opening: Promise<SourceConnection> | undefined;
  users: number;
  /** The end of standard error of its program, if there is one. */
  errorOutput?: (() => string) | undefined;
}

/** Opens connections on demand, and again when the other side has closed them. */
export class Sessions implements AsyncDisposable {
  readonly #deps: SessionDeps;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();
  /** Number of calls that use each connection. */
  readonly #users = new Map<SourceConnection, number>();
  /** Connections that the server no longer knows, but whose pending requests may still be answered. */
  readonly #forgotten = new Set<SourceConnection>();
  /** Connections that are being closed. */
  readonly #leaving = new Set<Promise<unknown>>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /**
   * Works over the caller's connection. If the server no longer knows the session, and so did nothing, repeats the
   * work once in a new session.
   *
   * @param authorize authorizes the call's requests.
   * @throws what opening the connection throws, or the work.
   */
  async use<T>(
    context: ToolContext,
    authorize: Authorize,
    signal: AbortSignal,
    work: (connection: SourceConnection) => Promise<T>,
  ): Promise<T> {
    const session = this.#findSession(context, authorize);
    session.users += 1;
    const once = async (): Promise<T> => this.#work(await this.#openConnection(session, signal, context), signal, work);
    try {
      return await once().catch((error: unknown) => {
        if (!(error instanceof LostSession)) throw error;
        signal.throwIfAborted();
        return once();
      });
    } catch (error) {
      noteErrorOutput(error, session.errorOutput?.() ?? "");
      if (!(error instanceof LostSession)) throw error;
      // A server that loses two sessions in a row would lose the next one too.
      throw new ToolConnectionError(error.message, { neverSent: true, category: "non_retryable" });
    } finally {
      session.users -= 1;
    }
  }

  /** Closes all connections, including those that are being opened. Takes at most ten seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) this.#leave(closeSession(session));
    for (const forgotten of this.#forgotten) this.#leave(letGo(forgotten));
    this.#forgotten.clear();
    await settleWithin(this.#waitUntilLeft(), LONGEST_END);
  }

  async #work<T>(
    connection: SourceConnection,
    signal: AbortSignal,
    work: (connection: SourceConnection) => Promise<T>,
  ): Promise<T> {
    this.#users.set(connection, (this.#users.get(connection) ?? 0) + 1);
    const forget = onAbort(signal, () => this.#giveUp(connection, signal.reason));
    try {
      return await work(connection);
    } finally {
      forget();
      const left = (this.#users.get(connection) ?? 1) - 1;
      if (left > 0) this.#users.set(connection, left);
      else this.#users.delete(connection);
      if (left === 0 && this.#forgotten.delete(connection)) this.#leave(letGo(connection));
    }
  }

  /** Closes a connection that was replaced. If it is still in use, it is closed after its last call. */
  #replace(connection: SourceConnection): void {
    if (connection.isForgotten === true && this.#users.has(connection)) this.#forgotten.add(connection);
    else this.#leave(letGo(connection));
  }

  /** Kills a program that serves one user if it timed out. Programs that users share only get the cancellation. */
  #giveUp({ kill }: SourceConnection, reason: unknown): void {
    if (this.#deps.keyOf !== undefined && kill !== undefined && reason instanceof OutOfTime) this.#leave(kill());
  }

  /** Remembers a closing connection until it has ended. Only `close` waits for it. */
  #leave(ending: Promise<unknown>): void {
    const left = ending.catch(() => undefined).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async #waitUntilLeft(): Promise<void> {
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  #findSession(context: ToolContext, authorize: Authorize): Session {
    const { keyOf, over } = this.#deps;
    over.throwIfAborted();
    const key = keyOf?.(context) ?? "";
    const session = this.#sessions.get(key) ?? { authorize, opening: undefined, users: 0 };
    session.authorize = authorize;
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    this.#makeRoom();
    return session;
  }

  async #openConnection(session: Session, signal: AbortSignal, context: ToolContext): Promise<SourceConnection> {
    const known = session.opening;
    const before = await (known && untilAborted(settleOpening(known), signal));
    if (before?.isOpen === true) return before;
    this.#deps.over.throwIfAborted();
    // The first caller opens the connection, others wait for it. A failed attempt is forgotten.
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
    if (before !== undefined) this.#replace(before);
    const { name, source, keyOf, timeoutSeconds, over, onNotice } = this.#deps;
    // Not the caller's signal: others may wait for the same connection.
    const seconds = Math.max(timeoutSeconds, given);
    const limit = new AbortController();
    const stop = systemClock.after(seconds * 1000, () => limit.abort(outOfTime({ source: name }, seconds)));
    const signal = AbortSignal.any([limit.signal, over]);
    const whose = keyOf === undefined || scope === undefined ? {} : { scope };
    const { tenant_id = null, user_id = null } = scope ?? {};
    const owner = keyOf === undefined ? undefined : { tenant_id, user_id };
    const notifyOwner = (notice: SourceNotice): void => onNotice(notice, owner);
    const onProgram = (errorOutput: () => string): void => void (session.errorOutput = errorOutput);
    const authorize: Authorize = () => session.authorize();
    const opening = source.open({ ...whose, authorize, signal, onNotice: notifyOwner, onProgram });
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      this.#leave(opening.then(letGo));
      throw error;
    } finally {
      stop();
    }
  }

  #makeRoom(): void {
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) return;
      if (session.users > 0) continue;
      this.#sessions.delete(key);
      this.#leave(closeSession(session));
    }
  }
}

async function closeSession({ opening }: Session): Promise<void> {
  const connection = await (opening && settleOpening(opening));
  if (connection !== undefined) await letGo(connection);
}

/** The connection once it is open, or undefined if opening fails. */
function settleOpening(opening: Promise<SourceConnection>): Promise<SourceConnection | undefined> {
  return opening.catch(() => undefined);
}

/** Closes a connection. Errors are ignored. */
async function letGo(connection: SourceConnection): Promise<void> {
  try {
    await connection[Symbol.asyncDispose]();
  } catch {
    // It is no longer in use.
  }
}
