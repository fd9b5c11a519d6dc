/**
 * Builds a request from a UTCP `http` call template and arguments, and sends it, following redirects where it may go.
 * @module
 */
import { adaptFetchError } from "../../adapt-error.js";
import {
  toSubject,
  ToolAuthError,
  ToolClientError,
  ToolNodeError,
  type ToolPlace,
  toUnsupportedError,
  wrong,
} from "../../errors.js";
import { asText, fillDocument } from "../document-source.js";
import { toOrigin as originOfUrl, type Destinations } from "../../addresses.js";
import { type ClientCredentials, type HttpTemplate, PARAMETER, type TemplateAuth } from "../utcp/manual.js";
import type { Variables } from "../../config/variables.js";
import { isObject } from "../../../errors/arguments.js";

/** A request to send. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | URLSearchParams | FormData;
}

/** What a request is built from. */
interface RequestParts {
  readonly template: HttpTemplate;
  readonly args: Readonly<Record<string, unknown>>;
  readonly variables: Variables;
  /** Origins that get credentials. */
  readonly trusted: ReadonlySet<string>;
  /** Returns credentials. Called only for trusted origins. */
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
  /** The configured header for the key. Overrides the place in the document. */
  readonly keyHeader?: string | undefined;
  /** Requests a client's own token. */
  readonly clientToken: (credentials: ClientCredentials, place: ToolPlace) => Promise<string>;
  readonly place: ToolPlace;
}

/** Headers that belong to the connection. */
const OF_THE_CONNECTION =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const DOTS = /^(?:\.|%2e){1,2}$/i;
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Builds a request. Path parameters are encoded, header fields become headers, and the body field becomes the body.
 * All other arguments go into the query: arrays as repeated parameters, objects as JSON; null and undefined are
 * skipped.
 *
 * @throws ToolClientError for wrong arguments, ToolNodeError E_TOOL_CONFIG for a wrong template.
 */
export async function buildRequest(parts: RequestParts): Promise<HttpRequest> {
  const { template, variables, place } = parts;
  const args = new Map(Object.entries(parts.args).filter(([, value]) => value !== undefined && value !== null));
  const isEvents = template.call_template_type === "sse";
  const headers = new Headers({ accept: isEvents ? "text/event-stream" : "application/json, */*;q=0.9" });
  // Without a body, events are requested by GET.
  const isBodiless = isEvents && !args.has(template.body_field ?? "");
  const method = isBodiless ? "GET" : template.http_method.toUpperCase();
  const isTrusted = parts.trusted.has(fixOrigin(template, variables, place));
  const resolveKnown: Variables = (name) => (isTrusted ? variables(name) : undefined);
  for (const [name, value] of Object.entries(template.headers)) {
    set(headers, name, fillDocument(value, resolveKnown, place.source), place);
  }
  for (const name of template.header_fields) {
    if (!args.has(name)) continue;
    set(headers, name, asText(args.get(name)), place);
    args.delete(name);
  }
  const body = BODILESS.has(method) ? undefined : takeBody(template, args);
  const url = addressFrom(fillDocument(template.url, resolveKnown, place.source), args, place);
  for (const [name, value] of args) append(url, name, value);
  if (body !== undefined && !headers.has("content-type") && !(body instanceof FormData)) {
    set(headers, "content-type", template.content_type, place);
  }
  if (isTrusted) await sayWho(parts, url, headers);
  return { method, url, headers, ...(body !== undefined && { body }) };
}

/**
 * The origin of a tool's requests. Arguments cannot change it.
 *
 * @throws ToolNodeError E_TOOL_CONFIG if it is not fixed.
 */
export function fixOrigin({ url }: Pick<HttpTemplate, "url">, variables: Variables, place: ToolPlace): string {
  // Only the authority is filled in: other variables must not reach a name server.
  const authority = /^(?:https?|wss?):\/\/[^/?#\\]+/i.exec(url)?.[0] ?? "";
  const filled = /[{$]/.test(authority) ? fillDocument(authority, variables, place.source) : authority;
  if (filled.includes("{") || !URL.canParse(filled)) {
    throw wrong(`${toSubject(place)} does not name its server: its document must name one.`);
  }
  return originOfUrl(new URL(filled));
}

function addressFrom(template: string, args: Map<string, unknown>, place: ToolPlace): URL {
  const used = new Set<string>();
  const text = template.replace(PARAMETER, (_, name: string) => {
    if (!args.has(name)) {
      throw new ToolClientError(`${toSubject(place)} needs the argument ${JSON.stringify(name)}, which is missing.`);
    }
    used.add(name);
    return encodeValue(asText(args.get(name)));
  });
  for (const name of used) args.delete(name);
  const path = /^https?:\/\/[^/?#\\]+([^?#]*)/i.exec(text)?.[1] ?? "";
  // The URL parser would resolve such segments, so the request would go elsewhere.
  if (used.size > 0 && path.split(/[/\\]/).some((segment) => DOTS.test(segment))) {
    throw new ToolClientError(`${toSubject(place)} takes no "." or ".." as part of its path: use a name.`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw wrong(`${toSubject(place)} has no valid address: fix the URL in its document.`);
  }
  return url;
}

function takeBody(template: HttpTemplate, args: Map<string, unknown>): HttpRequest["body"] {
  const { body_field: field, content_type: type } = template;
  if (field === null || !args.has(field)) return undefined;
  const value = args.get(field);
  args.delete(field);
  if (/[/+]json\b/i.test(type)) return JSON.stringify(value);
  if (/^multipart\/form-data/i.test(type) && isObject(value)) {
    const form = new FormData();
    for (const [name, part] of pairs(value)) form.append(name, part);
    return form;
  }
  if (/^application\/x-www-form-urlencoded/i.test(type) && isObject(value)) return new URLSearchParams(pairs(value));
  return asText(value);
}

async function sayWho(
  { template, variables, authorize, keyHeader, clientToken, place }: RequestParts,
  url: URL,
  headers: Headers,
): Promise<void> {
  const own = await authorize();
  const values = Object.values(own);
  const isOwn = (said: string | undefined): boolean => values.some((value) => isSame(said, value));
  const auth = fillAuth(template, variables, values.length > 0, place);
  let said: string | undefined;
  if (auth?.auth_type === "oauth2") {
    set(headers, "authorization", `Bearer ${await clientToken(auth, place)}`, place);
  } else if (auth !== undefined) {
    const secret = auth.auth_type === "api_key" ? auth.api_key : undefined;
    if (keyHeader === undefined || secret === undefined || !isOwn(secret)) {
      sayAs(auth, url, headers, place);
      said = secret;
    }
  }
  // The key is sent only where the document wants it.
  for (const [name, value] of Object.entries(own)) if (!isSame(said, value)) set(headers, name, value, place);
}

/** Whether a document and the configuration use the same secret. */
function isSame(said: string | undefined, value: string): boolean {
  return said === value || said === `Bearer ${value}`;
}

/**
 * The `auth` of a document with its variables replaced. Undefined if there is none, or if it is optional and a
 * variable has no value.
 */
function fillAuth(
  { auth, isAuthOptional }: Pick<HttpTemplate, "auth" | "isAuthOptional">,
  variables: Variables,
  hasOwn: boolean,
  place: ToolPlace,
): TemplateAuth | undefined {
  if (auth === undefined) return undefined;
  try {
    const filled = Object.entries(auth).map(([key, value]) => [
      key,
      value && fillDocument(value, variables, place.source),
    ]);
    return Object.fromEntries(filled) as TemplateAuth;
  } catch (error) {
    // The configured credentials are enough; an API may require less than its document says.
    if (!(error instanceof ToolAuthError) || !(isAuthOptional || hasOwn)) throw error;
    return undefined;
  }
}

function sayAs(auth: Exclude<TemplateAuth, ClientCredentials>, url: URL, headers: Headers, place: ToolPlace): void {
  if (auth.auth_type === "basic") {
    const pair = new TextEncoder().encode(`${auth.username}:${auth.password}`);
    set(headers, "authorization", `Basic ${btoa(String.fromCharCode(...pair))}`, place);
  } else if (auth.auth_type === "oauth2_user") {
    set(headers, auth.var_name, `${auth.prefix}${auth.access_token}`, place);
  } else {
    const { var_name: name, location, api_key: key } = auth;
    if (location === "query") url.searchParams.set(name, key);
    else if (location === "cookie") set(headers, "cookie", `${name}=${encodeURIComponent(key)}`, place);
    else set(headers, name, key, place);
  }
}

function set(headers: Headers, name: string, value: string, place: ToolPlace): void {
  if (OF_THE_CONNECTION.test(name)) return;
  try {
    headers.set(name, value);
  } catch {
    // The original error would quote the value.
    throw new ToolClientError(
      `${toSubject(place)} has a header that HTTP does not allow: a header is one line of Latin-1 characters.`,
    );
  }
}

function append(url: URL, name: string, value: unknown): void {
  for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (one !== undefined && one !== null) url.searchParams.append(name, asText(one));
  }
}

function pairs(value: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(value).flatMap(([name, part]) =>
    (Array.isArray(part) ? (part as unknown[]) : [part])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, asText(one)]),
  );
}

function encodeValue(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return encodeURIComponent(value.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  }
}

/** What sending needs. */
export interface Sending {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly place: ToolPlace;
  /** Where the request may go. */
  readonly destinations: Destinations;
}

/** An answer, and the address it came from. */
export interface HttpAnswer {
  readonly response: Response;
  readonly url: URL;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that are kept on a redirect to another origin. They hold no secrets. */
const HARMLESS: readonly string[] = ["accept", "accept-language"];

/**
 * Sends a request. Follows redirects within an origin like browsers do; to another allowed origin without headers and
 * body.
 *
 * @throws ToolNodeError E_TOOL_CONFIG for a forbidden address, ToolConnectionError without an answer, ToolNodeError
 *   for a redirect that is not followed, the signal's reason.
 */
export async function send(request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  const { place, signal } = sending;
  await checkDestination(request.url, sending);
  const destinations = sending.destinations.from(request.url);
  let current = request;
  for (let hops = 0; ; hops++) {
    const response = await fetchOnce(current, sending);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (response.type === "opaqueredirect") return followRedirects(current, { ...sending, destinations });
    if (location === null) return { response, url: current.url };
    await response.body?.cancel().catch(() => undefined);
    if (hops >= MAX_REDIRECTS) throw toRedirectError(place, `more than ${MAX_REDIRECTS} times`);
    current = next(current, response.status, location, place);
    const refusal = await destinations.refusalNow(current.url, signal);
    if (refusal !== undefined) throw toRedirectError(place, `to an address that is not allowed, because ${refusal}`);
  }
}

/** Throws E_TOOL_CONFIG if the address is forbidden. */
export async function checkDestination(
  url: URL,
  { destinations, place, signal }: Pick<Sending, "destinations" | "place" | "signal">,
): Promise<void> {
  const refusal = await destinations.refusalNow(url, signal);
  if (refusal !== undefined)
    throw wrong(`${toSubject(place)} is not called at the address in its document, because ${refusal}.`);
}

/**
 * Browsers hide the target of a redirect. There, only requests without secrets follow one, and the target is checked
 * afterwards.
 */
async function followRedirects(request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  const isHarmless = [...request.headers].every(([name]) => HARMLESS.includes(name));
  if (request.method !== "GET" || !isHarmless)
    throw toRedirectError(sending.place, "to an address that the browser does not reveal");
  const response = await fetchOnce(request, sending, "follow");
  const url = URL.canParse(response.url) ? new URL(response.url) : request.url;
  const refusal = sending.destinations.refusal(url);
  if (refusal === undefined) return { response, url };
  await response.body?.cancel().catch(() => undefined);
  throw toRedirectError(sending.place, `to an address that is not allowed, because ${refusal}`);
}

async function fetchOnce(
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
  if (!URL.canParse(location, url.href)) throw toRedirectError(place, "to something that is not a URL");
  const to = new URL(location, url.href);
  const isWithin = to.origin === url.origin;
  const becomesGet = status === 303 ? method !== "HEAD" : (status === 301 || status === 302) && method === "POST";
  if (!isWithin && body !== undefined && !becomesGet) throw toRedirectError(place, "with its body to another server");
  const kept = isWithin ? new Headers(headers) : harmless(headers);
  if (becomesGet) for (const name of ["content-type", "content-language", "content-encoding"]) kept.delete(name);
  if (becomesGet) return { method: "GET", url: to, headers: kept };
  return { method, url: to, headers: kept, ...(body !== undefined && { body }) };
}

function harmless(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => HARMLESS.includes(name)));
}

function toRedirectError(place: ToolPlace, how: string): ToolNodeError {
  return new ToolNodeError(`${toSubject(place)} redirects ${how}: use the address that it redirects to.`, {
    category: "non_retryable",
  });
}

const SCHEME = /^\s*([a-z][a-z0-9+.-]*):/i;

/**
 * Parses a source's address.
 *
 * @throws ToolNodeError E_TOOL_UNSUPPORTED for WebSockets, E_TOOL_CONFIG for anything else that is not an http(s)
 *   URL. The text is never quoted, since it may hold secrets.
 */
export function parseSourceAddress(text: string, source: string): URL {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  const subject = toSubject({ source });
  if (scheme === "ws" || scheme === "wss") {
    throw toUnsupportedError(`${subject} is a WebSocket, which is not supported: give its http(s) URL.`);
  }
  const url = (scheme === "http" || scheme === "https") && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw wrong(`${subject} has no address: its connection must be a whole http(s) URL.`);
  // `fetch` refuses such URLs, with an error that contains the password.
  if (url.username !== "" || url.password !== "") {
    throw wrong(`${subject} has a user or a password in its address: use auth_type and auth_config for credentials.`);
  }
  url.hash = "";
  return url;
}
