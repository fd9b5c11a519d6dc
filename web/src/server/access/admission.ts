/**
 * Admits requests within the limits of a session.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { getByteReader, streamFrom, type ByteReader } from "../../artifacts/byte-reader.js";
import { busyRefused, refuseError, rateRefused } from "../http/refusals.js";
import { MAX_JSON } from "../http/request.js";
import { userKey } from "../../tools/auth/token-store.js";
import { toOwner } from "../session.js";
import { isStream, type Operation, operationFor, UPLOAD } from "../http/operation.js";
import type { ServeEnv } from "../http/context.js";
import type { RateLimit } from "../http/rate-limit.js";
import type { UserUsage } from "../usage/user-usage.js";

interface AdmissionDeps {
  readonly state: { readonly rates: RateLimit };
  readonly limits: Readonly<Record<"requestsPerMinute" | "concurrentRequests" | "listeners", number>>;
  readonly usage: Pick<UserUsage, "request">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Counted separately: event streams cost next to nothing, and last. */
type Kind = "requests" | "listeners";

type Counts = Record<Kind, number>;

const MINUTE = 60;

/** Counts requests by session, in this process. Rates are counted over all processes. */
export class Admission {
  readonly #deps: AdmissionDeps;
  /** Of sessions with requests under way. */
  readonly #counts = new Map<string, Counts>();
  readonly #large = new LargeBodies();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** Requests and event streams under way, of all sessions. */
  get underWay(): Counts {
    const all = { requests: 0, listeners: 0 };
    for (const { requests, listeners } of this.#counts.values()) {
      all.requests += requests;
      all.listeners += listeners;
    }
    return all;
  }

  /** Lets a request through if its session is within its limits. It counts until its answer has ended. */
  readonly admit: MiddlewareHandler<ServeEnv> = async (c, next) => {
    const { state, limits, usage, report } = this.#deps;
    const { id, identity } = c.get("session");
    const operation = operationFor(c)?.operation;
    const kind = detectKind(c.req.raw, operation);
    const forget = this.#large.enter(userKey({ scope: toOwner(identity) }), measureBody(c.req.raw, operation?.body));
    if (forget === null) return busyRefused("large requests");
    const out = this.#enter(id, kind);
    if (out === null) {
      forget();
      return busyRefused(kind);
    }
    const leave = (): void => {
      forget();
      out();
    };
    let response: Response | undefined;
    try {
      const rate = await state.rates.take(`requests ${id}`, limits.requestsPerMinute, MINUTE);
      if (!rate.ok) return rateRefused(rate.retryAfterSeconds);
      const { refused, headers } = operation?.isFree === true ? FREE : await usage.request(identity);
      if (refused !== null) return withHeaders(refuseError(refused, report), headers);
      await next();
      const onFailure = (error: unknown): void => {
        // A stream that breaks off because its client has gone is not a failure.
        if (!c.req.raw.signal.aborted) report(error);
      };
      const told = withHeaders(c.res, headers);
      response = c.req.method === "HEAD" ? withoutBody(told) : withEnd(told, { onEnd: leave, onFailure });
    } finally {
      if (response === undefined || response.body === null) leave();
    }
    // Without this Hono would add the headers again.
    c.res = undefined;
    c.res = response;
    return undefined;
  };

  #enter(id: string, kind: Kind): (() => void) | null {
    const { limits } = this.#deps;
    const most = kind === "listeners" ? limits.listeners : limits.concurrentRequests;
    const counts = this.#counts.get(id) ?? { requests: 0, listeners: 0 };
    if (counts[kind] >= most) return null;
    counts[kind] += 1;
    this.#counts.set(id, counts);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      counts[kind] -= 1;
      if (counts.requests + counts.listeners === 0) this.#counts.delete(id);
    };
  }
}

const FREE = { refused: null, headers: {} } as const;

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const names = Object.entries(headers);
  if (names.length === 0) return response;
  // What a host answers with may not be changed.
  const copy = new Response(response.body, response);
  for (const [name, value] of names) copy.headers.set(name, value);
  return copy;
}

function detectKind({ method }: Request, operation: Operation | undefined): Kind {
  return method === "GET" && operation !== undefined && isStream(operation) ? "listeners" : "requests";
}

/** Bytes of a body that is always admitted. */
const SMALL = 64 * 1024;

const MIB = 1024 * 1024;

/** Most bytes of bodies under way, of one user over all sessions and of all users. */
const MOST_OF_USER = 8 * MIB;
const MOST = 32 * MIB;

/** Counts the bytes of large bodies. */
export class LargeBodies {
  readonly #ofUser = new Map<string, number>();
  #all = 0;

  /** Adds a body, and returns a function that removes it, which may be called twice. Null if there is no room. */
  enter(user: string, bytes: number): (() => void) | null {
    if (bytes <= SMALL) return () => undefined;
    const own = this.#ofUser.get(user) ?? 0;
    if (own + bytes > MOST_OF_USER || this.#all + bytes > MOST) return null;
    this.#add(user, bytes);
    let isOver = false;
    return () => {
      if (!isOver) this.#add(user, -bytes);
      isOver = true;
    };
  }

  #add(user: string, bytes: number): void {
    this.#all += bytes;
    const own = (this.#ofUser.get(user) ?? 0) + bytes;
    if (own === 0) this.#ofUser.delete(user);
    else this.#ofUser.set(user, own);
  }
}

/** The bytes of a request's body that will be in memory, if its operation reads one. */
export function measureBody(request: Request, body: Operation["body"]): number {
  // What is uploaded is streamed. The request's body comes last: asking for it makes a stream.
  if (body === undefined || body === UPLOAD || request.body === null) return 0;
  const most = "most" in body ? body.most : MAX_JSON;
  const said = request.headers.get("content-length");
  return said === null ? most : Math.min(Number(said), most);
}

/** Callbacks of a body. */
interface BodyDeps {
  /** Called once: when the body has ended, failed or been cancelled. Must not throw. */
  readonly onEnd: () => void;
  /** Receives the failure. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/** The same answer with a callback when its body has ended. One without a body has ended already. */
function withEnd(response: Response, deps: BodyDeps): Response {
  if (response.body === null) {
    deps.onEnd();
    return response;
  }
  return new Response(streamFrom(watchBody(getByteReader(response.body), deps)), response);
}

/** The answer to `HEAD`: its body is cancelled. */
function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => undefined);
  return new Response(null, response);
}

function watchBody(reader: ByteReader, { onEnd, onFailure }: BodyDeps): ByteReader {
  let [isUnwanted, hasEnded] = [false, false];
  const end = (): void => {
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  return {
    async next(reuse): Promise<Uint8Array | null> {
      try {
        const piece = await reader.next(reuse);
        if (isUnwanted) return null;
        if (piece === null) end();
        return piece;
      } catch (error) {
        onFailure(error);
        end();
        throw error;
      }
    },
    async cancel(reason): Promise<void> {
      isUnwanted = true;
      end();
      await reader.cancel(reason);
    },
  };
}
