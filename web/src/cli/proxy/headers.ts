/**
 * Headers on their way through a proxy.
 * @module
 */
import { UsageError } from "../exit.js";

/** Headers of one connection, not of a message (RFC 9110 §7.6.1), and those that each request has of its own. */
const OF_CONNECTION: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
const OF_REQUEST: readonly string[] = ["host", "content-length", "accept-encoding", "expect"];

/** Headers of a client's request that the server may see. */
export function requestHeaders(headers: Headers, more: readonly Header[]): Headers {
  const passed = withoutConnection(headers);
  for (const name of OF_REQUEST) passed.delete(name);
  for (const [name, value] of more) passed.set(name, value);
  return passed;
}

/** Headers of a server's response that the client may see. */
export function withoutConnection(headers: Headers): Headers {
  const passed = new Headers(headers);
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...OF_CONNECTION, ...named]) if (isName(name)) passed.delete(name);
  return passed;
}

/** Headers as Node gives them, names and values in turn. */
export function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string);
  return headers;
}

/** A name and a value. */
export type Header = readonly [name: string, value: string];

/** What `--header "K: V"` says. Throws UsageError, which never shows the value: it may be a secret. */
export function headersSaid(lines: readonly string[]): readonly Header[] {
  return lines.map((line) => {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    const value = line.slice(colon + 1).trim();
    if (!canBeSent(name, value) || [...OF_CONNECTION, ...OF_REQUEST].includes(name.toLowerCase())) throw notAHeader();
    return [name, value];
  });
}

function notAHeader(): UsageError {
  return new UsageError('--header wants a name and a value, as in --header "Authorization: Bearer …"', "proxy");
}

function canBeSent(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

function isName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\w]+$/.test(name);
}
