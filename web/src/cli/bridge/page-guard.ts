/**
 * Who may use a bridge: whoever knows its address, and of pages those of one origin.
 * @module
 */
import { hostAsked, isLoopback, isSameToken } from "../proxy/listen-address.js";
import type { HttpGuard } from "../proxy/listen-http.js";

/** What a bridge is told when it starts. */
export interface PageGuardTerms {
  /** The first segment of its path. */
  readonly token: string;
  /** Origins whose pages may use it; with none, the first page that does decides. */
  readonly origins: readonly string[];
  /** Told of the origin that used it first. */
  readonly onBound: (origin: string) => void;
  /** Told once of each origin that knew the token and was refused. */
  readonly onRefused: (origin: string) => void;
}

/** Refused origins that are told of: any page can make up more. */
const MAX_TOLD = 16;

/** What browsers say of a request that a page caused (Fetch Metadata). */
const OF_PAGES: ReadonlySet<string> = new Set(["cross-site", "same-site", "same-origin"]);

/** Lets requests in. Refusals say nothing but their status. */
export class PageGuard implements HttpGuard {
  readonly #terms: PageGuardTerms;
  readonly #told = new Set<string>();
  #origins: readonly string[];

  constructor(terms: PageGuardTerms) {
    this.#terms = terms;
    this.#origins = terms.origins;
  }

  /** The first request of a page, other than the question whether it may, binds the bridge to the page's origin. */
  refusal(headers: Headers, method: string, path: string): Response | undefined {
    // Another name for this machine is a page elsewhere that pretends to be here.
    if (!isLoopback(hostAsked(headers) ?? "")) return refused(403);
    const [, segment = ""] = /^\/([^/?]*)/.exec(path) ?? [];
    if (!isSameToken(segment, this.#terms.token)) return refused(404);
    const origin = headers.get("origin");
    // Programs name no origin. A page cannot but do so, except where it does not see the response.
    if (origin === null) return OF_PAGES.has(headers.get("sec-fetch-site") ?? "") ? refused(403) : undefined;
    if (!this.#mayUse(origin)) return this.#refuse(origin);
    if (this.#origins.length === 0 && method !== "OPTIONS") this.#bind(origin);
    return undefined;
  }

  #mayUse(origin: string): boolean {
    return this.#origins.length === 0 ? isPageOrigin(origin) : this.#origins.includes(origin);
  }

  #bind(origin: string): void {
    this.#origins = [origin];
    this.#terms.onBound(origin);
  }

  #refuse(origin: string): Response {
    if (isPageOrigin(origin) && !this.#told.has(origin) && this.#told.size < MAX_TOLD) {
      this.#told.add(origin);
      this.#terms.onRefused(origin);
    }
    return refused(403);
  }
}

/** Whether it is an origin of pages that come over HTTP, written as browsers write it. `null` is anybody's. */
export function isPageOrigin(origin: string): boolean {
  return /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
}

function refused(status: number): Response {
  return new Response(null, { status });
}
