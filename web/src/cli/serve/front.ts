/**
 * What a port answers: the page, signing in by a link, and the server behind both.
 * @module
 */
import { isFromElsewhere, type HostGuard } from "../../server/http/host-guard.js";
import type { RequestHandler } from "../../server/http/listen.js";
import { refusal, messagePage } from "../../server/http/answers.js";
import { closingRefused, failed, originRefused } from "../../server/http/refusals.js";
import type { ServeLog } from "./log.js";
import type { Page } from "./page.js";

interface FrontDeps {
  readonly server: RequestHandler;
  /** Null where it is not installed. */
  readonly page: Page | null;
  readonly hosts: HostGuard;
  /** Whether tokens open sessions, so that links may have one. */
  readonly takesLinks: boolean;
}

/** Answers nothing but that it is not there yet, until it is opened. */
export class Front implements RequestHandler {
  readonly #log: ServeLog;
  #deps: FrontDeps | undefined;

  constructor(log: ServeLog) {
    this.#log = log;
  }

  /** From now on requests are answered. */
  open(deps: FrontDeps): void {
    this.#deps = deps;
  }

  /** Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const begun = performance.now();
    const response = await this.#answered(request).catch((error: unknown) =>
      failed(error, (reported) => this.#log.failed(reported)),
    );
    this.#log.answered(request, response.status, performance.now() - begun);
    return response;
  };

  async #answered(request: Request): Promise<Response> {
    if (this.#deps === undefined) return closingRefused();
    const { server, page, hosts, takesLinks } = this.#deps;
    const token = takesLinks ? tokenInLink(request) : null;
    const isRead = request.method === "GET" || request.method === "HEAD";
    const isPage = isRead && page?.has(new URL(request.url).pathname) === true;
    if (token === null && !isPage) return server.fetch(request);
    const reason = hosts.refusal(request, true);
    if (reason !== undefined) return originRefused(reason);
    if (token !== null) return signedIn(server, request, token);
    return page === null ? server.fetch(request) : page.answer(request);
  }
}

/** For a person, who has the link from somebody. */
const WRONG = "The token in this address opens nothing here: ask whoever runs this server for another one.";

/** The token of a link: browsers cannot send one when they open a page. Null for any other address. */
function tokenInLink({ method, url }: Request): string | null {
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
async function signedIn(server: RequestHandler, request: Request, token: string): Promise<Response> {
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
