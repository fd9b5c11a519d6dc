/**
 * `GET /oauth/callback`: where OAuth providers send people back.
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { z } from "zod";
import type { CallbackError } from "../../tools/auth/oauth-manager.js";
import { messagePage, type Message } from "../http/answers.js";
import { methodRefused, toSaidError } from "../http/refusals.js";
import type { Announcer } from "../sessions/announcer.js";
import { type CredentialsDeps, inSession } from "../access/credentials.js";
import { toOwner, type ServedSession } from "../session.js";
import type { SessionWork } from "../sessions/session-work.js";
import type { ServedSources } from "../sources/served-sources.js";
import type { ServeEnv } from "../http/context.js";
import { declareOperation, answerPage, mountRoutes } from "../http/operation.js";

/** What providers send (RFC 6749, 4.1.2). */
const CALLBACK = z.object({
  state: z.string().optional(),
  code: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
  iss: z.string().optional(),
});

const CALLBACK_ANSWERS = {
  200: answerPage("A page for the person: access was given."),
  400: answerPage("A page for the person: access was not given."),
  401: answerPage("A page for the person: there is no session here."),
  403: answerPage("A page for the person: another session or another user asked for it."),
  404: answerPage("A page for the person: the provider is unknown."),
  429: answerPage("A page for the person: too much is asked."),
  502: answerPage("A page for the person: the provider failed."),
  503: answerPage("A page for the person: the provider or the state cannot be asked now."),
  504: answerPage("A page for the person: the provider did not answer in time."),
};

interface OAuthRouteDeps extends CredentialsDeps {
  readonly sources: Pick<ServedSources, "adoptProviders" | "oauth" | "pauses">;
  readonly sessionWork: Pick<SessionWork, "within">;
  readonly announcer: Pick<Announcer, "tell">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** Answers with a page. The session's cookie identifies the person. */
export function oauthRoutes(deps: OAuthRouteDeps): Hono<ServeEnv> {
  return (
    new Hono<ServeEnv>()
      // HEAD must not use up the answer: each request is answered once.
      .use("/callback", (c, next) => (c.req.raw.method === "GET" ? next() : Promise.resolve(methodRefused("GET"))))
      .use("/callback", asPage)
      .use("/callback", inSession(deps))
      .route(
        "/",
        mountRoutes({
          "/callback": {
            get: declareOperation({
              id: "takeConsent",
              summary: "Take the answer of an OAuth provider, which sends people back here",
              query: CALLBACK,
              answers: CALLBACK_ANSWERS,
              handle: async (c) => messagePage(await takeConsent(new URL(c.req.url), c.get("session"), deps)),
            }),
          },
        }),
      )
  );
}

/** Turns JSON refusals into pages. */
const asPage: MiddlewareHandler<ServeEnv> = async (c, next) => {
  await next();
  const { status } = c.res;
  if (!/^application\/json\b/.test(c.res.headers.get("content-type") ?? "")) return;
  const { error } = (await c.res.json()) as { readonly error: { readonly message: string } };
  const page = messagePage(status === 401 ? SIGNED_OUT : { status, title: SIGNED_OUT.title, text: error.message });
  // Without this Hono would add the earlier headers again.
  c.res = undefined;
  c.res = page;
};

const SIGNED_OUT: Message = {
  status: 401,
  title: "Access was not given",
  text: "There is no session here, or it has ended. Ask again where you are signed in. You can close this window.",
};

/** Takes an answer, and continues what waits for it. Never throws. */
async function takeConsent(url: URL, session: ServedSession, deps: OAuthRouteDeps): Promise<Message> {
  const { sources, announcer, report } = deps;
  const state = url.searchParams.get("state") ?? "";
  try {
    const awaited = await sources.pauses.consentOf(state);
    if (awaited !== null && awaited.session !== session.id) return ANOTHERS;
    await sources.adoptProviders();
    const { news, isTaken } = await redeemAnswer(url, session, deps);
    if (!isTaken) return news;
    const answer = news === GIVEN ? true : null;
    if (awaited?.pause !== null && awaited !== null) await sources.pauses.answer(session.id, awaited.pause, answer);
    await sources.pauses.forgetConsent(state);
    if (awaited !== null) {
      const { provider } = awaited;
      await announcer.tell(session.id, { kind: "consent_answered", provider, given: answer === true });
    }
    return news;
  } catch (error) {
    return toMessage(error, report);
  }
}

/** `isTaken`: the request is answered, and takes no other answer. */
async function redeemAnswer(
  url: URL,
  session: ServedSession,
  { sources, sessionWork, report, over }: OAuthRouteDeps,
): Promise<{ readonly news: Message; readonly isTaken: boolean }> {
  const user = toOwner(session.identity);
  try {
    // Closing the window early does not cancel it.
    await sessionWork.within(session.id, [over], (signal) => sources.oauth.handleCallback(url, { user, signal }));
    return { news: GIVEN, isTaken: true };
  } catch (error) {
    const { user_id, tenant_id } = error as CallbackError;
    if (user_id === undefined) return { news: toMessage(error, report), isTaken: false };
    const isOwn = user_id === user.user_id && tenant_id === user.tenant_id;
    return isOwn ? { news: toMessage(error, report), isTaken: true } : { news: ANOTHERS, isTaken: false };
  }
}

const GIVEN: Message = {
  status: 200,
  title: "Access was given",
  text: "The call that waited for it continues. You can close this window.",
};

const ANOTHERS: Message = {
  status: 403,
  title: "Access was not given",
  text: "Another session or another user asked for it, so nothing was stored. Ask again where you are signed in. You can close this window.",
};

function toMessage(error: unknown, report: (error: unknown) => void): Message {
  const { status, code, message } = toSaidError(error, () => undefined);
  // It is no failure if a person declines or comes late.
  const isTheirs = code === "E_TOOL_AUTH";
  if (!isTheirs && status >= 500) report(error);
  return {
    status: isTheirs ? 400 : status,
    title: "Access was not given",
    text: `${message} You can close this window.`,
  };
}
