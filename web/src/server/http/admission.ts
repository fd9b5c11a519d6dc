/**
 * How much of a server one session may have at a time.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { busyRefused, rateRefused } from "../refusals.js";
import type { ServeEnv, ServeTerms } from "../terms.js";
import type { Identity } from "../sessions/session.js";
import { withEnd, withoutBody } from "./ended-body.js";
import { heldOf, LargeBodies } from "./large-bodies.js";

/** What admission goes by. */
export type AdmissionTerms = Pick<ServeTerms, "state" | "limits" | "base" | "report">;

/** What is counted apart: those that listen hold next to nothing, and last. */
type Kind = "requests" | "listeners";

type Counts = Record<Kind, number>;

const MINUTE = 60;

/** Addresses, below the base, whose `GET` lasts as long as somebody listens. */
const LASTING = /^(?:events$|chat\/|mcp\/)/;

/** Counts what sessions ask for. One for each process; rates are counted over all that share them. */
export class Admission {
  readonly #terms: AdmissionTerms;
  /** Of sessions that ask for something at the moment. */
  readonly #counts = new Map<string, Counts>();
  readonly #large = new LargeBodies();

  constructor(terms: AdmissionTerms) {
    this.#terms = terms;
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
    const { state, limits, report } = this.#terms;
    const { id, identity } = c.get("session");
    const path = new URL(c.req.raw.url).pathname.slice(this.#terms.base.length);
    const kind = kindOf(c.req.raw, path);
    const forget = this.#large.enter(userOf(identity), heldOf(c.req.raw, path));
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
    const { limits } = this.#terms;
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

function userOf({ tenant_id = null, user_id }: Identity): string {
  return JSON.stringify([tenant_id, user_id]);
}
