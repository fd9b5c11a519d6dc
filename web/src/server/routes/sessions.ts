/**
 * `POST /sessions`, `GET` and `DELETE /sessions/{id}`, and the session's `GET /events`.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import type { Clock } from "../../artifacts/store.js";
import { StoreLate, inTime } from "../http/time-limit.js";
import { jsonAnswer, refusal } from "../http/answers.js";
import { identityRefused } from "../http/refusals.js";
import type { SessionEnding } from "../sessions/session-end.js";
import {
  type CredentialsDeps,
  deleteSessionCookie,
  identifySender,
  inSession,
  setSessionCookie,
} from "../access/credentials.js";
import { beginRefusal, beginSession } from "../sessions/session-begin.js";
import { type Identity, type ServedSession } from "../session.js";
import type { InSession, ServeEnv } from "../http/context.js";
import { describeStream, answerJson, declareOperation, mountRoutes } from "../http/operation.js";
import { RESUMING, TIME } from "../schemas.js";
import type { OidcAccess } from "../access/oidc-access.js";
import { SESSION_EVENT, sessionChannel } from "../sessions/announcer.js";
import type { EventLog } from "../sessions/event-log.js";
import type { ServedSources } from "../sources/served-sources.js";
import type { UserUsage } from "../usage/user-usage.js";
import { lastEventId, resumableStream, type SentEvent } from "../http/sse.js";

const BEGIN = z.strictObject({
  token: z.boolean().optional().describe("Whether the answer has a token in place of the cookie."),
});

const SESSION = z.object({
  id: z.string().describe("Its id in addresses. It opens nothing without the token or the cookie."),
  begun_at: TIME,
  expires_at: TIME,
});
const BEGUN = SESSION.extend({
  token: z.string().optional().describe("Send it as `Authorization: Bearer …`. Only where it was asked for."),
});
const ENDED = z.object({ deleted_artifacts: z.int() });
const PATH = z.object({ id: z.string().describe("`current`, or the session's own id.") });

interface SessionRouteDeps extends CredentialsDeps {
  readonly state: CredentialsDeps["state"] & { readonly clock?: Clock };
  readonly access: Pick<OidcAccess, "identity" | "session"> | null;
  readonly usage: CredentialsDeps["usage"] & Pick<UserUsage, "request">;
}

/** Milliseconds that a client waits for its session to be cleaned up, which then goes on alone. */
const ENDING = 60_000;

/**
 * Routes for sessions. They begin for authenticated users, with a cookie, or with a token if the body says `{"token":
 * true}`, and end by their own credentials.
 */
export function sessionRoutes(deps: SessionRouteDeps, ending: SessionEnding): Hono<ServeEnv> {
  const admit = async (c: InSession): Promise<Response | undefined> => {
    const identity = await (deps.access?.identity(c.req.raw) ?? identifySender(c.req.raw, deps));
    if (identity instanceof Response) return identity;
    if (identity === null) return identityRefused();
    const tooMany = await beginRefusal(identity, deps);
    if (tooMany !== null) return tooMany;
    const { refused } = await deps.usage.request(identity);
    if (refused !== null) throw refused;
    c.set("identity", identity);
    return undefined;
  };
  const begin = async (c: InSession, wantsToken: boolean): Promise<Begun | Response> => {
    const identity = c.get("identity");
    const session = newSession(identity, deps);
    await beginSession(session, deps);
    if (wantsToken) return { ...toSession(session), token: await deps.tokens.sign(session) };
    await setSessionCookie(c, deps, session);
    return copyCookies(c.res, jsonAnswer(toSession(session), 201));
  };
  const end = async (c: InSession, id: string): Promise<Response> => {
    const session = c.get("session");
    if (!isOwn(id, session)) return noSuchSession();
    const deleted = await inTime(ending.end(session.id), ENDING, () => new StoreLate());
    deleteSessionCookie(c, deps);
    const ended: z.output<typeof ENDED> = { deleted_artifacts: deleted };
    return copyCookies(c.res, jsonAnswer(ended));
  };
  const beginning = mountRoutes({
    "/": {
      post: declareOperation({
        id: "beginSession",
        summary: "Begin a session",
        description:
          "Needs the credentials that this server expects of its users, if it expects any. A browser gets a cookie, any other client asks for a token.",
        isOpen: true,
        body: BEGIN,
        before: admit,
        answers: {
          201: answerJson(BEGUN, "The session has begun.", {
            "Set-Cookie": "The session's cookie, unless a token was asked for.",
          }),
        },
        refusals: [401, 429],
        handle: (c, { body: { token = false } }) => begin(c, token),
      }),
    },
  });
  const one = mountRoutes({
    "/:id": {
      get: declareOperation({
        id: "showSession",
        isFree: true,
        summary: "Show the session",
        path: PATH,
        answers: { 200: answerJson(SESSION, "The session.") },
        refusals: [404],
        handle: (c, { path }) => {
          const session = c.get("session");
          return isOwn(path.id, session) ? toSession(session) : noSuchSession();
        },
      }),
      delete: declareOperation({
        id: "endSession",
        isFree: true,
        summary: "End the session",
        path: PATH,
        answers: { 200: answerJson(ENDED, "The session is over in every process, and all that it stored is deleted.") },
        refusals: [404],
        handle: (c, { path }) => end(c, path.id),
      }),
    },
  });
  return beginning.use("/:id", inSession(deps)).route("/", one);
}

type Begun = z.output<typeof BEGUN>;

function newSession(identity: Identity, { state, limits }: SessionRouteDeps): ServedSession {
  const begun_at = (state.clock ?? Date.now)();
  return { id: crypto.randomUUID(), identity, begun_at, expires_at: begun_at + limits.sessionSeconds * 1000 };
}

/** `current` stands for the client's own session. */
function isOwn(id: string, session: ServedSession): boolean {
  return id === "current" || id === session.id;
}

function toSession({ id, begun_at, expires_at }: ServedSession): z.output<typeof SESSION> {
  return { id, begun_at, expires_at };
}

function noSuchSession(): Response {
  return refusal(404, "E_NOT_FOUND", "There is no such session here: sessions/current is your own.");
}

function copyCookies(cookies: Response, response: Response): Response {
  for (const cookie of cookies.headers.getSetCookie()) response.headers.append("Set-Cookie", cookie);
  return response;
}

interface EventRouteDeps {
  readonly state: { readonly events: Pick<EventLog, "follow"> };
  readonly sources: Pick<ServedSources, "watch">;
  /** Aborted when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** The events of the session, as server-sent events. Resumes with `Last-Event-ID`. */
export function eventRoutes({ state, sources, streamsEnd }: EventRouteDeps): Hono<ServeEnv> {
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
    return resumableStream(events, streamsEnd, expires_at);
  };
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "followSession",
        summary: "Follow what happens in the session",
        description:
          "First the events that are kept, at most 1,000 and 4 MiB, then those that come. A client that comes back with `Last-Event-ID` gets what it missed.",
        headers: RESUMING,
        answers: {
          200: describeStream(
            SESSION_EVENT,
            "Events, each with an id. The last one is `session_ended`; behind `closing`, without an id, come back for more.",
          ),
        },
        handle: get,
      }),
    },
  });
}
