/**
 * The answer of a provider, brought by a person: taken for the session that asked, in whichever process that waits.
 * @module
 */
import type { CallbackError } from "../../tools/auth/oauth-manager.js";
import { saidOf } from "../refusals.js";
import { ownerOf, type ServedSession } from "../sessions/session.js";
import type { ServeTerms } from "../terms.js";
import type { Message } from "../message-page.js";

/** What taking an answer works with. */
export type ConsentTerms = Pick<ServeTerms, "sources" | "announcer" | "report" | "over">;

/** Takes an answer, and has what waits for it go on. Never throws. */
export async function consented(url: URL, session: ServedSession, terms: ConsentTerms): Promise<Message> {
  const { sources, announcer, report } = terms;
  const state = url.searchParams.get("state") ?? "";
  try {
    const awaited = await sources.pauses.consentOf(state);
    if (awaited !== null && awaited.session !== session.id) return ANOTHERS;
    await sources.adoptProviders();
    const { news, isTaken } = await redeemed(url, session, terms);
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
    return failureOf(error, report);
  }
}

/** `isTaken`: the request was answered, and no other answer is taken for it. */
async function redeemed(
  url: URL,
  session: ServedSession,
  { sources, report, over }: ConsentTerms,
): Promise<{ readonly news: Message; readonly isTaken: boolean }> {
  const user = ownerOf(session.identity);
  try {
    // Whoever closes the window early has given access all the same.
    await sources.underWay.within(session.id, [over], (signal) => sources.oauth.handleCallback(url, { user, signal }));
    return { news: GIVEN, isTaken: true };
  } catch (error) {
    const { user_id, tenant_id } = error as CallbackError;
    if (user_id === undefined) return { news: failureOf(error, report), isTaken: false };
    const isOwn = user_id === user.user_id && tenant_id === user.tenant_id;
    return isOwn ? { news: failureOf(error, report), isTaken: true } : { news: ANOTHERS, isTaken: false };
  }
}

const GIVEN: Message = {
  status: 200,
  title: "Access was given",
  text: "What waited for it goes on. This window may be closed.",
};

const ANOTHERS: Message = {
  status: 403,
  title: "Access was not given",
  text: "It was asked for in another session, or for another user: nothing was stored. Ask again where you are signed in. This window may be closed.",
};

function failureOf(error: unknown, report: (error: unknown) => void): Message {
  const { status, code, message } = saidOf(error, () => undefined);
  // That a person declines, or comes late, is nobody's failure.
  const isTheirs = code === "E_TOOL_AUTH";
  if (!isTheirs && status >= 500) report(error);
  return {
    status: isTheirs ? 400 : status,
    title: "Access was not given",
    text: `${message} This window may be closed.`,
  };
}
