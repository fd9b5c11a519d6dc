/**
 * Answers what arrives at the port: the page, sign-ins by a link, and everything else by the server.
 * @module
 */
import { isFromElsewhere, type HostGuard } from "../../server/http/host-guard.js";
import type { RequestHandler } from "../../server/http/listen.js";
import { refusal, messagePage } from "../../server/http/answers.js";
import { refuseError, originRefused, startingRefused } from "../../server/http/refusals.js";
import { isProbe } from "../../server/http/readiness.js";
import type { ServeLog } from "./log.js";
import type { Page } from "./page.js";

interface FrontDeps {
  readonly server: RequestHandler;
  /** Null if it is not installed. */
  readonly page: Page | null;
  readonly hosts: HostGuard;
  /** Whether tokens open sessions, so that links may contain one. */
  readonly takesLinks: boolean;
}

/** Answers 503 until it is opened. */
export class Front implements RequestHandler {
  readonly #log: ServeLog;
  #deps: FrontDeps | undefined;

  constructor(log: ServeLog) {
    this.#log = log;
  }

  /** Starts answering requests. */
  open(deps: FrontDeps): void {
    this.#deps = deps;
  }

  /** Begins the end of the server. */
  readonly drain: NonNullable<RequestHandler["drain"]> = async (options) => this.#deps?.server.drain?.(options);

  /** Ends what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deps?.server[Symbol.asyncDispose]?.();
  }

  /** Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const begun = performance.now();
    const response = await this.#answer(request).catch((error: unknown) =>
      refuseError(error, (reported) => this.#log.failed(reported)),
    );
    this.#log.answered(request, response.status, performance.now() - begun);
    return response;
  };

  async #answer(request: Request): Promise<Response> {
    if (this.#deps === undefined) return starting(request);
    const { server, page, hosts, takesLinks } = this.#deps;
    const token = takesLinks ? tokenInLink(request) : null;
    const { pathname } = new URL(request.url);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const isPage = isRead && (page === null ? pathname === "/" : page.has(pathname));
    if (token === null && !isPage) return server.fetch(request);
    const reason = hosts.refusal(request, true);
    if (reason !== undefined) return originRefused(reason);
    if (token !== null) return signIn(server, request, token);
    return page === null ? messagePage(NO_PLAYGROUND) : page.answer(request);
  }
}

/** The page where the playground is not installed. */
const NO_PLAYGROUND = {
  status: 200,
  title: "sluice serve",
  text: "The playground is a package of its own: install it beside mcp-sluice and start the server again.",
  command: "npm install mcp-sluice-playground",
} as const;

/** 503, before the stores are open. A probe is told in the form of its own. */
function starting({ url }: Request): Response {
  if (!isProbe(new URL(url).pathname)) return startingRefused();
  return Response.json({ status: "starting" }, { status: 503 });
}

const WRONG = "The token in this address is not valid here: ask the operator of this server for another one.";

/** The token in a link, since browsers cannot send a header when they open a page. Null for other requests. */
function tokenInLink({ method, url }: Request): string | null {
  const { pathname, searchParams } = new URL(url);
  return method === "GET" && pathname === "/" ? searchParams.get("token") : null;
}

/** Shown for links on other sites: such a link could sign a person in as another user. */
const ELSEWHERE = {
  status: 403,
  title: "Do you want to sign in?",
  text: "You followed this link from another site. If you trust it, go to the address bar above and press Enter.",
} as const;

/** Opens a session with the token, and redirects to the page without the token in its URL. Else answers the refusal. */
async function signIn(server: RequestHandler, request: Request, token: string): Promise<Response> {
  const { url, headers } = request;
  if (isFromElsewhere(headers)) return messagePage(ELSEWHERE);
  const begun = await server.fetch(
    new Request(new URL("/sessions", url), {
      method: "POST",
      headers: {
        host: headers.get("host") ?? new URL(url).host,
        // A token that is no valid header value opens nothing.
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
