/**
 * Where a source over HTTP may be, and where it may send requests on to.
 * @module
 */
import { subjectOf } from "../../adapting/place.js";
import { mayBeLoopback } from "../../auth/addresses.js";
import { unsupported, wrong } from "../../problem.js";

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
