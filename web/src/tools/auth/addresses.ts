/**
 * Which addresses secrets may be sent to.
 * @module
 */

/** Whether a URL names this machine: what is sent there leaves it by no wire. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether what is sent there is safe from others: https, or http on this machine; no name or password in it. */
export function isSafe(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Whether a code may be sent back there: a safe address, or an app's own scheme in reversed domain form (RFC 8252 §7). */
export function isSafeRedirect(url: URL): boolean {
  return isSafe(url) || /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(url.protocol);
}
