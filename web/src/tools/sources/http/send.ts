/**
 * A request and the redirects that it meets: who asks is told to nobody but whom it was meant for.
 * @module
 */
import { adaptFetchError } from "../../adapt-error.js";
import { ToolNodeError } from "../../errors.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { mayGoOn } from "./addresses.js";
import type { HttpRequest } from "./request.js";

/** What sending needs. */
export interface Sending {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly place: ToolPlace;
}

/** An answer, and where it came from. */
export interface HttpAnswer {
  readonly response: Response;
  readonly url: URL;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that go on to another origin; what is secret is in the others. */
const HARMLESS: readonly string[] = ["accept", "accept-language"];

/**
 * Sends a request. Within an origin redirects are followed as browsers follow them; to another origin only without its
 * headers and its body, over https, and never from the network to this machine.
 *
 * @throws ToolConnectionError where nobody answers, ToolNodeError for a redirect that is not followed, the signal's reason.
 */
export async function send(request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  let current = request;
  for (let hops = 0; ; hops++) {
    const response = await fetched(current, sending);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (response.type === "opaqueredirect") return followed(current, sending);
    if (location === null) return { response, url: current.url };
    await response.body?.cancel().catch(() => undefined);
    if (hops >= MAX_REDIRECTS) throw refused(sending.place, `more than ${MAX_REDIRECTS} times`);
    current = next(current, response.status, location, sending.place);
  }
}

/** Browsers do not say where a redirect leads: there one is followed only by what may be told to everybody. */
async function followed(request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  const isHarmless = [...request.headers].every(([name]) => HARMLESS.includes(name));
  if (request.method !== "GET" || !isHarmless) throw refused(sending.place, "where a browser does not tell");
  const response = await fetched(request, sending, "follow");
  return { response, url: URL.canParse(response.url) ? new URL(response.url) : request.url };
}

async function fetched(
  { method, url, headers, body }: HttpRequest,
  { fetch, signal, place }: Sending,
  redirect: RequestRedirect = "manual",
): Promise<Response> {
  try {
    return await fetch(url, { method, headers, redirect, signal, ...(body !== undefined && { body }) });
  } catch (error) {
    signal.throwIfAborted();
    throw adaptFetchError(error, place);
  }
}

function next(
  { method, url, headers, body }: HttpRequest,
  status: number,
  location: string,
  place: ToolPlace,
): HttpRequest {
  if (!URL.canParse(location, url.href)) throw refused(place, "to what is no URL");
  const to = new URL(location, url.href);
  if (!mayGoOn(url, to)) throw refused(place, "to where it must not: another server in the clear, or this machine");
  const isSame = to.origin === url.origin;
  const becomesGet = status === 303 ? method !== "HEAD" : (status === 301 || status === 302) && method === "POST";
  if (!isSame && body !== undefined && !becomesGet) throw refused(place, "with its body to another server");
  const kept = isSame ? new Headers(headers) : harmless(headers);
  if (becomesGet) for (const name of ["content-type", "content-language", "content-encoding"]) kept.delete(name);
  if (becomesGet) return { method: "GET", url: to, headers: kept };
  return { method, url: to, headers: kept, ...(body !== undefined && { body }) };
}

function harmless(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => HARMLESS.includes(name)));
}

function refused(place: ToolPlace, how: string): ToolNodeError {
  return new ToolNodeError(`${subjectOf(place)} redirects ${how}: give the address that it redirects to.`, {
    category: "non_retryable",
  });
}
