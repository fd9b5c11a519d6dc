/**
 * `POST /sessions`, `GET` and `DELETE /sessions/{id}`, and the session's `GET /events`.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { readJson } from "../http/request.js";
import { StoreLate, inTime } from "../http/time-limit.js";
import { jsonAnswer, refusal } from "../http/answers.js";
import { identityRefused, rateRefused } from "../http/refusals.js";
import type { SessionEnding } from "../sessions/session-end.js";
import { deleteSessionCookie, inSession, setSessionCookie } from "../sessions/credentials.js";
import { userKey } from "../../tools/auth/token-store.js";
import { identityOf, ownerOf, type Identity, type ServedSession } from "../sessions/session.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";
import { sessionChannel } from "../sessions/announcer.js";
import { eventStream, lastEventId, type SentEvent } from "../http/sse.js";

const BEGIN = z.strictObject({ token: z.boolean().optional() });

const MINUTE = 60;

/** Milliseconds that a client waits for its session to be cleaned up, which then goes on alone. */
const ENDING = 60_000;

/**
 * Routes for sessions. They begin for authenticated users, with a cookie, or with a token if the body says `{"token":
 * true}`, and end by their own credentials.
 */
export function sessionRoutes(deps: ServeDeps, ending: SessionEnding): Hono<ServeEnv> {
  const begin = async (c: InSession): Promise<Response> => {
    const identity = await identityOf(c.req.raw, deps);
    if (identity === null) return identityRefused();
    const rate = await deps.state.rates.take(
      `begin ${userKey({ scope: ownerOf(identity) })}`,
      deps.limits.sessionsPerMinute,
      MINUTE,
    );
    if (!rate.ok) return rateRefused(rate.retryAfterSeconds);
    const { refused } = await deps.usage.request(identity);
    if (refused !== null) throw refused;
    const { token: wantsToken = false } = await readJson(c.req.raw, BEGIN);
    const session = newSession(identity, deps.limits.sessionSeconds);
    const begun = deps.state.sessions.begin(session, deps.usage.limits.sessions);
    if (!(await deps.readiness.unlessAway("state", begun))) throw await deps.usage.sessionsReached(identity);
    await deps.usage.sessionBegun(identity, false);
    if (wantsToken) return jsonAnswer({ ...shown(session), token: await deps.tokens.sign(session) }, 201);
    await setSessionCookie(c, deps, session);
    return withHeadersOf(c.res, jsonAnswer(shown(session), 201));
  };
  const end = async (c: InSession): Promise<Response> => {
    const session = c.get("session");
    if (!isOwn(c.req.param("id"), session)) return noSuchSession();
    const deleted = await inTime(ending.end(session.id), ENDING, () => new StoreLate());
    deleteSessionCookie(c, deps);
    return withHeadersOf(c.res, jsonAnswer({ deleted_artifacts: deleted }));
  };
  return routesOf({ "/": { post: begin } })
    .use("/:id", inSession(deps))
    .route("/", routesOf({ "/:id": { get: showSession, delete: end } }));
}

function showSession(c: InSession): Response {
  const session = c.get("session");
  return isOwn(c.req.param("id"), session) ? jsonAnswer(shown(session)) : noSuchSession();
}

function newSession(identity: Identity, seconds: number): ServedSession {
  const begun_at = Date.now();
  return { id: crypto.randomUUID(), identity, begun_at, expires_at: begun_at + seconds * 1000 };
}

/** `current` stands for the client's own session. */
function isOwn(id: string | undefined, session: ServedSession): boolean {
  return id === "current" || id === session.id;
}

function shown({ id, begun_at, expires_at }: ServedSession): object {
  return { id, begun_at, expires_at };
}

function noSuchSession(): Response {
  return refusal(404, "E_NOT_FOUND", "There is no such session here: sessions/current is your own.");
}

function withHeadersOf(cookies: Response, response: Response): Response {
  for (const cookie of cookies.headers.getSetCookie()) response.headers.append("Set-Cookie", cookie);
  return response;
}

/** The events of the session, as server-sent events. Resumes with `Last-Event-ID`. */
export function eventRoutes({ state, sources, over }: ServeDeps): Hono<ServeEnv> {
  const get = (c: InSession): Response => {
    const after = lastEventId(c.req.raw);
    const session = c.get("session");
    const { id, expires_at } = session;
    const events = async function* (signal: AbortSignal): AsyncIterable<SentEvent> {
      const watching = sources.watch(session, after !== null);
      try {
        for await (const { id: at, event } of state.events.follow(sessionChannel(id), { after, signal })) {
          yield { id: at, data: event };
        }
      } finally {
        watching[Symbol.dispose]();
      }
    };
    return eventStream(events, over, expires_at);
  };
  return routesOf({ "/": { get } });
}
