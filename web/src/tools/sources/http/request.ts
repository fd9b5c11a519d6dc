/**
 * From a call template and arguments to a request (UTCP `http` call template), and to its answer: where it may go, and the redirects
 * that it meets. The library of UTCP builds requests only on its way to sending them.
 * @module
 */
import { adaptFetchError } from "../../adapt-error.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { mayBeLoopback } from "../../auth/addresses.js";
import { ToolAuthError, ToolClientError, ToolNodeError } from "../../errors.js";
import { unsupported, wrong } from "../../problem.js";
import { asText } from "../arguments.js";
import { filledIn, type DocumentVariables } from "../document-source.js";
import { isObject } from "../utcp/document.js";
import { PARAMETER, type HttpAuth, type HttpTemplate } from "./tool.js";

/** A request that can be sent. */
interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | URLSearchParams | FormData;
}

/** What a request is made of. */
interface RequestParts {
  readonly template: HttpTemplate;
  readonly args: Readonly<Record<string, unknown>>;
  readonly variables: DocumentVariables;
  /** Origins that are told who asks; null: all. */
  readonly trusted: ReadonlySet<string>;
  /** Says who asks; asked only for a trusted origin. */
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
  /** The header that the configuration wants the key in, wherever a description does. */
  readonly keyHeader?: string | undefined;
  readonly place: ToolPlace;
}

/** Headers that belong to the connection. */
const OF_THE_CONNECTION =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const DOTS = /^(?:\.|%2e){1,2}$/i;
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Builds a request. Path parameters are encoded, header fields become headers, the body field the body; whatever is left
 * goes into the query: arrays as repeated parameters, objects as JSON, null and undefined not at all.
 *
 * @throws ToolClientError for arguments that do not fit, ToolNodeError E_TOOL_CONFIG for a template that does not.
 */
export async function requestOf(parts: RequestParts): Promise<HttpRequest> {
  const { template, variables, place } = parts;
  const args = new Map(Object.entries(parts.args).filter(([, value]) => value !== undefined && value !== null));
  const headers = new Headers({ accept: "application/json, */*;q=0.9" });
  const method = template.http_method.toUpperCase();
  const isTrusted = parts.trusted.has(originOf(template, variables, place));
  const known: DocumentVariables = (name) => (isTrusted ? variables(name) : undefined);
  for (const [name, value] of Object.entries(template.headers)) {
    set(headers, name, filledIn(value, known, place.source), place);
  }
  for (const name of template.header_fields) {
    if (!args.has(name)) continue;
    set(headers, name, asText(args.get(name)), place);
    args.delete(name);
  }
  const body = BODILESS.has(method) ? undefined : takeBody(template, args);
  const url = addressFrom(filledIn(template.url, known, place.source), args, place);
  for (const [name, value] of args) append(url, name, value);
  if (body !== undefined && !headers.has("content-type") && !(body instanceof FormData)) {
    set(headers, "content-type", template.content_type, place);
  }
  if (isTrusted) await sayWho(parts, url, headers);
  return { method, url, headers, ...(body !== undefined && { body }) };
}

/**
 * Where a tool's requests go, which no argument may choose.
 *
 * @throws ToolNodeError E_TOOL_CONFIG where it is open.
 */
export function originOf({ url }: HttpTemplate, variables: DocumentVariables, place: ToolPlace): string {
  // Up to the path, without variables in it: their values must not reach a name server that somebody else runs.
  const authority = /^https?:\/\/[^/?#\\]+/i.exec(url)?.[0] ?? "";
  const filled = /[{$]/.test(authority) ? filledIn(authority, variables, place.source) : authority;
  if (filled.includes("{") || !URL.canParse(filled)) {
    throw wrong(`${subjectOf(place)} does not say which server it is on: its document must name one.`);
  }
  return new URL(filled).origin;
}

function addressFrom(template: string, args: Map<string, unknown>, place: ToolPlace): URL {
  const used = new Set<string>();
  const text = template.replace(PARAMETER, (_, name: string) => {
    if (!args.has(name)) {
      throw new ToolClientError(`${subjectOf(place)} needs the argument ${JSON.stringify(name)}, which was not given.`);
    }
    used.add(name);
    return encoded(asText(args.get(name)));
  });
  for (const name of used) args.delete(name);
  const path = /^https?:\/\/[^/?#\\]+([^?#]*)/i.exec(text)?.[1] ?? "";
  // A URL takes such segments away together with the ones before them: the request would go elsewhere.
  if (used.size > 0 && path.split(/[/\\]/).some((segment) => DOTS.test(segment))) {
    throw new ToolClientError(`${subjectOf(place)} takes no "." or ".." as a part of its path: give a name.`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw wrong(`${subjectOf(place)} has no address that can be asked: mend the URL in its document.`);
  }
  return url;
}

function takeBody(template: HttpTemplate, args: Map<string, unknown>): HttpRequest["body"] {
  const { body_field: field, content_type: type } = template;
  if (!args.has(field)) return undefined;
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
  { template, variables, authorize, keyHeader, place }: RequestParts,
  url: URL,
  headers: Headers,
): Promise<void> {
  const own = await authorize();
  const values = Object.values(own);
  const isOwn = (said: string | undefined): boolean => values.some((value) => isSame(said, value));
  let said: string | undefined;
  if (template.auth !== undefined) {
    try {
      const auth = filledAuth(template.auth, variables, place);
      if (keyHeader === undefined || !isOwn(auth.secret)) {
        auth.say(url, headers);
        said = auth.secret;
      }
    } catch (error) {
      // What the configuration says is enough, and an API may ask for less than its document tells.
      const isEnough = template.isAuthOptional || values.length > 0;
      if (!(error instanceof ToolAuthError) || !isEnough) throw error;
    }
  }
  // A key goes where the description says, and nowhere else.
  for (const [name, value] of Object.entries(own)) if (!isSame(said, value)) set(headers, name, value, place);
}

/** Whether what a document has said is the same secret as a header of the configuration's own. */
function isSame(said: string | undefined, value: string): boolean {
  return said === value || said === `Bearer ${value}`;
}

/** Who asks as a document wants to be told. */
interface FilledAuth {
  /** A key, which the configuration may know too. */
  readonly secret?: string;
  readonly say: (url: URL, headers: Headers) => void;
}

function filledAuth(auth: HttpAuth, variables: DocumentVariables, place: ToolPlace): FilledAuth {
  const fill = (text: string): string => filledIn(text, variables, place.source);
  if (auth.auth_type === "basic") {
    const pair = new TextEncoder().encode(`${fill(auth.username)}:${fill(auth.password)}`);
    const value = `Basic ${btoa(String.fromCharCode(...pair))}`;
    return { say: (_, headers) => set(headers, "authorization", value, place) };
  }
  if (auth.auth_type === "oauth2_user") {
    const value = `${auth.prefix ?? "Bearer "}${fill(auth.access_token)}`;
    return { say: (_, headers) => set(headers, auth.var_name ?? "Authorization", value, place) };
  }
  const secret = fill(auth.api_key);
  const { var_name: name, location } = auth;
  return {
    secret,
    say: (url, headers) => {
      if (location === "query") url.searchParams.set(name, secret);
      else if (location === "cookie") set(headers, "cookie", `${name}=${encodeURIComponent(secret)}`, place);
      else set(headers, name, secret, place);
    },
  };
}

function set(headers: Headers, name: string, value: string, place: ToolPlace): void {
  if (OF_THE_CONNECTION.test(name)) return;
  try {
    headers.set(name, value);
  } catch {
    // Its sentence would quote the value.
    throw new ToolClientError(
      `${subjectOf(place)} has a header that HTTP does not allow: a header is one line of Latin letters and signs.`,
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

function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return encodeURIComponent(value.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  }
}

/** What sending needs. */
interface Sending {
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
  const isWithin = to.origin === url.origin;
  const becomesGet = status === 303 ? method !== "HEAD" : (status === 301 || status === 302) && method === "POST";
  if (!isWithin && body !== undefined && !becomesGet) throw refused(place, "with its body to another server");
  const kept = isWithin ? new Headers(headers) : harmless(headers);
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

const SCHEME = /^\s*([a-z][a-z0-9+.-]*):/i;

/**
 * A source's own address.
 *
 * @throws ToolNodeError E_TOOL_UNSUPPORTED for WebSockets, E_TOOL_CONFIG for all else that is no http(s) URL; never with
 * the text, which may hold secrets.
 */
export function addressOf(text: string, source: string): URL {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  const subject = subjectOf({ source });
  if (scheme === "ws" || scheme === "wss") {
    throw unsupported(`${subject} is a WebSocket, which is not supported: give its http(s) URL.`);
  }
  const url = (scheme === "http" || scheme === "https") && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw wrong(`${subject} has no address: its connection must be a whole http(s) URL.`);
  // No request can be made to such a URL, and its error would tell the password.
  if (url.username !== "" || url.password !== "") {
    throw wrong(`${subject} has a user or a password in its address: say who asks by auth_type and auth_config.`);
  }
  url.hash = "";
  return url;
}

/** Whether a request may go on to another place than its own: never from the network to this machine, never in the clear. */
export function mayGoOn(from: URL, to: URL): boolean {
  if (to.protocol !== "https:" && to.protocol !== "http:") return false;
  if (to.username !== "" || to.password !== "") return false;
  if (from.origin === to.origin) return true;
  if (mayBeLoopback(to)) return mayBeLoopback(from);
  return to.protocol === "https:";
}
