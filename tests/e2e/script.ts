/**
 * What a client does, as data: lines that it sends, and what it waits for in between.
 * @module
 */

/** A message as it was received. */
export type Message = Readonly<Record<string, unknown>>;

/** One thing that a client does. */
export type Step =
  /** Sends a line, which need not be JSON. */
  | { readonly send: string }
  /** Sends a line made of what has come, e.g. to give a state back. */
  | { readonly sendFrom: (messages: readonly Message[]) => string }
  /** Waits for the answer to a request. */
  | { readonly wait: string | number }
  /** Waits until so many messages with this method have come. */
  | { readonly waitFor: string; readonly times?: number }
  /** Waits for the next question with this method and answers it. */
  | { readonly answer: string; readonly result: unknown }
  /** The same with an error. */
  | { readonly answer: string; readonly error: unknown }
  /** Waits until this stands on stderr. */
  | { readonly waitForNoise: string }
  /** Ends the server's input. */
  | { readonly end: true }
  /** Sends a signal. */
  | { readonly signal: NodeJS.Signals }
  /** Waits until the process is gone. */
  | { readonly exit: true };

/** The two families of revisions. */
export type Era = "2025" | "2026";

export const ERAS: readonly Era[] = ["2025", "2026"];

const PREFIX = "io.modelcontextprotocol/";

/** What the client of the scripts can do. */
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

const MODERN_META = {
  [`${PREFIX}protocolVersion`]: "2026-07-28",
  [`${PREFIX}clientInfo`]: { name: "script", version: "1.0.0" },
  [`${PREFIX}clientCapabilities`]: { ...CAPABILITIES, extensions: { [`${PREFIX}tasks`]: {} } },
};

/** A request as one line; in the later revision with the `_meta` that each one has to have. */
export function request(era: Era, id: string | number, method: string, params: Message = {}): string {
  const meta = era === "2026" ? { _meta: { ...MODERN_META, ...(params["_meta"] as object | undefined) } } : {};
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, ...meta } });
}

/** A notification as one line. */
export function notification(method: string, params?: Message): string {
  return JSON.stringify({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) });
}

/** Begins a conversation; the answer has the id `"begin"`. */
export function opening(era: Era, protocolVersion = "2025-11-25"): readonly Step[] {
  if (era === "2026") return [{ send: request(era, "begin", "server/discover") }, { wait: "begin" }];
  const clientInfo = { name: "script", version: "1.0.0" };
  return [
    { send: request(era, "begin", "initialize", { protocolVersion, capabilities: CAPABILITIES, clientInfo }) },
    { wait: "begin" },
    { send: notification("notifications/initialized") },
  ];
}

/** Sends a request and waits for its answer. */
export function ask(era: Era, id: string | number, method: string, params: Message = {}): readonly Step[] {
  return [{ send: request(era, id, method, params) }, { wait: id }];
}

/** Calls a tool and waits for its result. */
export function call(era: Era, id: string | number, name: string, args: Message = {}): readonly Step[] {
  return ask(era, id, "tools/call", { name, arguments: args });
}

/** Ends the conversation as a client does that closes. */
export const closing: readonly Step[] = [{ end: true }, { exit: true }];
