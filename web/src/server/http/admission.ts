/**
 * How much of a server one session may have at a time.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { busyRefused, rateRefused } from "./refusals.js";
import { userKey } from "../../tools/auth/token-store.js";
import { ownerOf } from "../sessions/session.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** What admission goes by. */
type AdmissionDeps = Pick<ServeDeps, "state" | "limits" | "base" | "report">;

/** What is counted apart: those that listen hold next to nothing, and last. */
type Kind = "requests" | "listeners";

type Counts = Record<Kind, number>;

const MINUTE = 60;

/** Addresses, below the base, whose `GET` lasts as long as somebody listens. */
const LASTING = /^(?:events$|chat\/|mcp\/)/;

/** Counts what sessions ask for. One for each process; rates are counted over all that share them. */
export class Admission {
  readonly #deps: AdmissionDeps;
  /** Of sessions that ask for something at the moment. */
  readonly #counts = new Map<string, Counts>();
  readonly #large = new LargeBodies();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** Requests and listeners under way, of all sessions. */
  get underWay(): Counts {
    const all = { requests: 0, listeners: 0 };
    for (const { requests, listeners } of this.#counts.values()) {
      all.requests += requests;
      all.listeners += listeners;
    }
    return all;
  }

  /** Lets through what the session may ask for; it counts until its answer has been given to the end. */
  readonly admit: MiddlewareHandler<ServeEnv> = async (c, next) => {
    const { state, limits, report } = this.#deps;
    const { id, identity } = c.get("session");
    const path = new URL(c.req.raw.url).pathname.slice(this.#deps.base.length);
    const kind = kindOf(c.req.raw, path);
    const forget = this.#large.enter(userKey({ scope: ownerOf(identity) }), heldOf(c.req.raw, path));
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
      await next();
      response = c.req.method === "HEAD" ? withoutBody(c.res) : withEnd(c.res, { onEnd: leave, onFailure: report });
    } finally {
      if (response === undefined || response.body === null) leave();
    }
    // Set anew it would be given the headers once more.
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

function kindOf({ method }: Request, path: string): Kind {
  return method === "GET" && LASTING.test(path) ? "listeners" : "requests";
}

/** Bytes of a body that is not counted: there is always room for small ones. */
const SMALL = 64 * 1024;

const MIB = 1024 * 1024;

/** Bytes of bodies under way of one user, in however many sessions, and of all. */
const MOST_OF_USER = 8 * MIB;
const MOST = 32 * MIB;

/** Bytes that are held of a body at most: of a message for a source, and of anything else. */
const MESSAGE = 8 * MIB;
const ANYTHING_ELSE = MIB;

/** Addresses, below the base, whose bodies go through piece by piece. */
const STREAMED = /^(?:artifacts|files)\/?$/;

/** Counts them. */
export class LargeBodies {
  readonly #ofUser = new Map<string, number>();
  #all = 0;

  /** Notes a body until the function is called, which may be called twice; null where there is no room for it. */
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

/** Bytes that will be held of a request's body; `path` is what stands below the base. */
export function heldOf(request: Request, path: string): number {
  const { method, headers } = request;
  // Of others none is read; a body is only looked for where there may be one.
  const isStreamed = method === "POST" && STREAMED.test(path);
  if ((method !== "POST" && method !== "PATCH") || isStreamed || request.body === null) return 0;
  const most = path.startsWith("mcp/") ? MESSAGE : ANYTHING_ELSE;
  const said = headers.get("content-length");
  return said === null ? most : Math.min(Number(said), most);
}

/** What is to be known of a body. */
interface BodyDeps {
  /** Called once: when it has ended, has failed, or nobody wants it any more. Must not throw. */
  readonly onEnd: () => void;
  /** Told what it failed at. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/** The same answer, of which somebody is told when its body has ended. One without a body has ended already. */
function withEnd(response: Response, deps: BodyDeps): Response {
  if (response.body === null) {
    deps.onEnd();
    return response;
  }
  return new Response(watched(response.body, deps), response);
}

/** The answer to `HEAD`: what makes the body is told that nobody wants it. */
function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => undefined);
  return new Response(null, response);
}

function watched(body: ReadableStream<Uint8Array>, { onEnd, onFailure }: BodyDeps): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isUnwanted = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<undefined> {
        try {
          const { done, value } = await reader.read();
          if (isUnwanted) return undefined;
          if (!done) {
            controller.enqueue(value);
            return undefined;
          }
          controller.close();
          onEnd();
          return undefined;
        } catch (error) {
          onFailure(error);
          onEnd();
          throw error;
        }
      },
      async cancel(reason): Promise<void> {
        isUnwanted = true;
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
