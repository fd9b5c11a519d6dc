/**
 * Which addresses secrets may be sent to, and which are on this machine.
 * @module
 */

/** Whether a URL surely names this machine: what is sent there leaves it by no wire. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a URL may lead to this machine, in whatever form it says so. */
export function mayBeLoopback({ hostname }: URL): boolean {
  // The URL parser has written every form of an address in the one that is compared here.
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  if (/^127\.\d+\.\d+\.\d+$/.test(host) || host === "0.0.0.0") return true;
  return host === "::1" || host === "::" || /^::ffff:(?:7f[0-9a-f]{2}:|0:0$)/.test(host);
}

/** Whether what is sent there is safe from others: https, or http on this machine; no name or password in it. */
export function isSafe(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Whether an address that somebody else names is safe; on this machine only for whoever `isLocal`, on it as well. */
export function isSafeFrom(url: URL, isLocal: boolean): boolean {
  return isSafe(url) && (isLocal || !mayBeLoopback(url));
}

/** Whether a code may be sent back there: a safe address, or an app's own scheme in reversed domain form (RFC 8252 §7). */
export function isSafeRedirect(url: URL): boolean {
  return isSafe(url) || /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(url.protocol);
}
