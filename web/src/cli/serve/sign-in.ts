/**
 * Signing in by a link: `/?token=…` begins a session, for browsers, which cannot send a token when they open a page.
 * @module
 */
import { isFromElsewhere } from "../../server/http/host-guard.js";
import type { Answering } from "../../server/http/listen.js";
import { refusal } from "../../server/json-answer.js";
import { messagePage } from "../../server/message-page.js";

/** For a person, who has the link from somebody. */
const WRONG = "The token in this address opens nothing here: ask whoever runs this server for another one.";

/** The token of a link; null for any other address. */
export function tokenInLink({ method, url }: Request): string | null {
  const { pathname, searchParams } = new URL(url);
  return method === "GET" && pathname === "/" ? searchParams.get("token") : null;
}

/** A page elsewhere could sign somebody in as somebody else by a link, who would then work for them. */
const ELSEWHERE = {
  status: 403,
  title: "Do you want to sign in?",
  text: "This link was on a page elsewhere. If you know who it is from, go to the address above and press Enter.",
} as const;

/** Begins a session by the token, and goes on to the page, in whose address there is none; else the refusal. */
export async function signedIn(server: Answering, request: Request, token: string): Promise<Response> {
  const { url, headers } = request;
  if (isFromElsewhere(headers)) return messagePage(ELSEWHERE);
  const begun = await server.fetch(
    new Request(new URL("/sessions", url), {
      method: "POST",
      headers: {
        host: headers.get("host") ?? new URL(url).host,
        // A token that fits into no header opens nothing.
        authorization: `Bearer ${/^[\x21-\x7e]*$/.test(token) ? token : ""}`,
        "content-type": "application/json",
      },
      body: "{}",
    }),
  );
  if (begun.status === 401) return refusal(401, "E_SESSION", WRONG);
  if (begun.status !== 201) return begun;
  const answer = new Response(null, {
    status: 303,
    headers: { Location: "/", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
  for (const cookie of begun.headers.getSetCookie()) answer.headers.append("Set-Cookie", cookie);
  return answer;
}
