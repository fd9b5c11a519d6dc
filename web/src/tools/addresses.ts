/**
 * Which addresses may be sent requests, which may be sent secrets, and which are on this machine or in a private network.
 * @module
 */
import { untilAborted } from "../core/abort.js";

/** Whether a URL certainly names this machine, so that requests do not leave it. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a text is an origin as browsers write it: http or https, without a path. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether a URL may name this machine, in any notation. */
function mayBeLoopback({ hostname }: URL): boolean {
  // The URL parser normalises all notations of an address.
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  if (/^127\.\d+\.\d+\.\d+$/.test(host) || host === "0.0.0.0") return true;
  return host === "::1" || host === "::" || /^::ffff:(?:7f[0-9a-f]{2}:|0:0$)/.test(host);
}

/**
 * Whether a URL certainly leads to this machine, a private network or the local link (RFC 1918, 3927, 4193, 4291,
 * 6598). A name may do so as well; see `refusalNow`.
 */
export function isPrivate(url: URL): boolean {
  return mayBeLoopback(url) || isPrivateAddress(url.hostname.replace(/^\[|\]$/g, ""));
}

/** The same for an address from a URL or a name server. */
function isPrivateAddress(address: string): boolean {
  const text = address.toLowerCase().replace(/%.*$/, "");
  if (!text.includes(":")) return isPrivateV4(text);
  if (!URL.canParse(`http://[${text}]`)) return true;
  const host = new URL(`http://[${text}]`).hostname.slice(1, -1);
  // An IPv4 address within an IPv6 address: mapped, or behind NAT64 (RFC 6052).
  const within = /^(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (within !== null) return isPrivateV4(toBytes(within.slice(1)).join("."));
  return host === "::" || host === "::1" || /^(?:f[cd][0-9a-f]{2}|fe[89a-f][0-9a-f]):/.test(host);
}

function isPrivateV4(text: string): boolean {
  const [, first = "", second = ""] = /^(\d{1,3})\.(\d{1,3})\.\d{1,3}\.\d{1,3}$/.exec(text) ?? [];
  const [a, b] = [Number(first || -1), Number(second || -1)];
  if (a === 0 || a === 10 || a === 127) return true;
  if (a === 172) return b >= 16 && b <= 31;
  if (a === 100) return b >= 64 && b <= 127;
  return (a === 169 && b === 254) || (a === 192 && b === 168);
}

function toBytes(groups: readonly string[]): readonly number[] {
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}

/** Whether a host is a name that has to be resolved. */
function isName({ hostname }: URL): boolean {
  return !hostname.startsWith("[") && !/^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether requests cannot be read by others: https, or http on this machine; without user and password. */
export function isSafe(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Whether an address from elsewhere is safe. Addresses on this machine are safe only if `isLocal`. */
export function isSafeFrom(url: URL, isLocal: boolean): boolean {
  return isSafe(url) && (isLocal || !mayBeLoopback(url));
}

/**
 * Whether an authorization code may be sent there: to a safe address, or to an app's own scheme in reversed domain
 * notation (RFC 8252 §7).
 */
export function isSafeRedirect(url: URL): boolean {
  return isSafe(url) || /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(url.protocol);
}

/** Rules from the configuration and the platform. */
export interface DestinationRules {
  /** Further hosts that may get requests: `api.example.com`, `*.example.com`, with a port if it is not 443. */
  readonly allowed_hosts?: readonly string[];
  /** Further origins that may get requests and credentials. */
  readonly trusted_origins?: readonly string[];
  /** Resolves a name. Left out where that is impossible, as in browsers. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>;
}

/**
 * Why a document at `base` may not refer to another URL. Completes a sentence after "since"; undefined if it may.
 *
 * A document may refer to its own origin, to its own host by https, and to `allowed_hosts` and `trusted_origins`. It
 * may never refer to an unencrypted address elsewhere, and to a private address only if its own address is private.
 */
export function refusalBetween(base: URL, to: URL, rules: DestinationRules): string | undefined {
  if (!/^(?:https?|wss?):$/.test(to.protocol) || to.username !== "" || to.password !== "") {
    return "it is not a valid address";
  }
  if (toOrigin(to) === toOrigin(base)) return undefined;
  const isEncrypted = to.protocol === "https:" || to.protocol === "wss:";
  if (isPrivate(to) && !isPrivate(base)) return PRIVATE;
  if (!isEncrypted && !isPrivate(to)) return "it is another server without encryption";
  if (isEncrypted && to.hostname === base.hostname && to.port === "" && base.port === "") return undefined;
  const { allowed_hosts: hosts = [], trusted_origins: origins = [] } = rules;
  if (origins.includes(toOrigin(to)) || hosts.some((host) => isHost(to, host))) return undefined;
  return "it is on another host than the document, and allowed_hosts does not name it";
}

const PRIVATE = "it is on this machine or in a private network, and the document is not";

/** The origin. WebSockets share it with HTTP. */
export function toOrigin(url: URL): string {
  const { protocol, origin } = url;
  return protocol === "ws:" || protocol === "wss:" ? new URL(url.href.replace(/^ws/, "http")).origin : origin;
}

/** Whether a URL matches an entry of `allowed_hosts`. */
function isHost(url: URL, allowed: string): boolean {
  const isBelow = allowed.startsWith("*.");
  const written = `https://${isBelow ? allowed.slice(2) : allowed}`;
  if (!URL.canParse(written)) return false;
  const { host } = new URL(written);
  return isBelow ? url.host.endsWith(`.${host}`) : url.host === host;
}

/** The addresses that one source may send requests to. */
export class Destinations {
  readonly #base: URL | null;
  readonly #rules: DestinationRules;

  /** @param base the document's address; null for an inline document, which may refer to any address. */
  constructor(base: URL | null, rules: DestinationRules) {
    this.#base = base;
    this.#rules = rules;
  }

  /** The rules for redirects from an address of the document. */
  from(url: URL): Destinations {
    return this.#base === null ? new Destinations(url, this.#rules) : this;
  }

  /** Why a URL may not be requested, judged by the URL alone. */
  refusal(to: URL): string | undefined {
    return refusalBetween(this.#base ?? to, to, this.#rules);
  }

  /** Like `refusal`, and also resolves the name. Skipped for the document's own origin. */
  async refusalNow(to: URL, signal?: AbortSignal): Promise<string | undefined> {
    const base = this.#base ?? to;
    const refusal = refusalBetween(base, to, this.#rules);
    if (refusal !== undefined || toOrigin(base) === toOrigin(to) || isPrivate(base)) return refusal;
    const isHidden = (await this.#leadsInside(to, signal)) && !(await this.#leadsInside(base, signal));
    return isHidden ? PRIVATE : undefined;
  }

  async #leadsInside(url: URL, signal: AbortSignal | undefined): Promise<boolean> {
    const { lookup } = this.#rules;
    if (lookup === undefined || !isName(url)) return isPrivate(url);
    // A name that cannot be resolved here may be known to a proxy. If not, the request fails anyway.
    const addresses = await untilAborted(
      lookup(url.hostname).catch(() => []),
      signal,
    );
    return addresses.some(isPrivateAddress);
  }
}
