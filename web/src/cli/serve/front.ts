/**
 * What a port answers: the page, signing in by a link, and the server behind both.
 * @module
 */
import type { Answering } from "../../server/http/listen.js";
import type { HostGuard } from "../../server/http/host-guard.js";
import { closingRefused, failed, originRefused } from "../../server/refusals.js";
import type { ServeLog } from "./log.js";
import type { Page } from "./page.js";
import { signedIn, tokenInLink } from "./sign-in.js";

/** What stands behind a port. */
export interface FrontTerms {
  readonly server: Answering;
  /** Null where it is not installed. */
  readonly page: Page | null;
  readonly hosts: HostGuard;
  /** Whether tokens open sessions, so that links may have one. */
  readonly takesLinks: boolean;
}

/** Answers nothing but that it is not there yet, until it is opened. */
export class Front implements Answering {
  readonly #log: ServeLog;
  #terms: FrontTerms | undefined;

  constructor(log: ServeLog) {
    this.#log = log;
  }

  /** From now on requests are answered. */
  open(terms: FrontTerms): void {
    this.#terms = terms;
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
    if (this.#terms === undefined) return closingRefused();
    const { server, page, hosts, takesLinks } = this.#terms;
    const token = takesLinks ? tokenInLink(request) : null;
    const isRead = request.method === "GET" || request.method === "HEAD";
    const isPage = isRead && page?.has(new URL(request.url).pathname) === true;
    if (token === null && !isPage) return server.fetch(request);
    const refusal = hosts.refusal(request, true);
    if (refusal !== undefined) return originRefused(refusal);
    if (token !== null) return signedIn(server, request, token);
    return page === null ? server.fetch(request) : page.answer(request);
  }
}
