/**
 * A call over a WebSocket (UTCP `websocket` call template): sends one message and waits for one answer.
 * @module
 */
import { onAbort } from "../../../core/abort.js";
import {
  badAnswer,
  toSubject,
  ToolConnectionError,
  type ToolPlace,
  type ToolServerError,
  toUnsupportedError,
} from "../../errors.js";
import type { JsonSchema } from "../../source-features.js";
import type { Claim } from "../body.js";
import {
  readArgument,
  asText,
  fillPlaceholders,
  type Platform,
  type Socket,
  type SocketRequest,
} from "../document-source.js";
import type { WebSocketTemplate } from "../utcp/manual.js";
import { isObject } from "../../../errors/arguments.js";

/** Maximum bytes of an answer, which is held in memory. */
export const MAX_ANSWER: number = 16 * 1024 * 1024;

/** The WebSocket of browsers. It takes no headers. */
export const webPlatform: Platform = {
  openSocket: async ({ url, headers, protocol, signal, place }: SocketRequest): Promise<Socket> => {
    if ([...headers].length > 0) {
      const remedy = "call it in Node, or send the credentials in its query";
      throw toUnsupportedError(
        `${toSubject(place)} needs headers on its WebSocket, which browsers cannot send: ${remedy}.`,
      );
    }
    if (typeof globalThis.WebSocket !== "function") {
      throw toUnsupportedError(`${toSubject(place)} is called over a WebSocket, which this platform does not have.`);
    }
    const socket = new WebSocket(url, protocol === null ? [] : [protocol]);
    socket.binaryType = "arraybuffer";
    const forget = onAbort(signal, () => socket.close());
    try {
      await new Promise<void>((resolve, reject) => {
        socket.addEventListener("open", () => resolve());
        socket.addEventListener("close", () => reject(notOpened(place)));
      });
    } finally {
      forget();
      signal.throwIfAborted();
    }
    return socket;
  },
};

function notOpened(place: ToolPlace): ToolConnectionError {
  const remedy = "check its address and the network";
  return new ToolConnectionError(`${toSubject(place)} cannot be reached: ${remedy}.`, { neverSent: true });
}

/** An answer, and how to read it. */
interface SocketAnswer {
  readonly bytes: Uint8Array;
  readonly claim: Claim;
}

/**
 * Sends a message and returns the first one that comes back. Each call opens its own WebSocket, since answers do not
 * name their call.
 *
 * @throws ToolNodeError if it cannot be opened, closes without an answer, or the answer is too long; the signal's
 *   reason.
 */
export async function exchange(
  request: SocketRequest,
  message: string,
  { response_format: format }: Pick<WebSocketTemplate, "response_format">,
  openSocket: Platform["openSocket"],
): Promise<SocketAnswer> {
  const { signal, place } = request;
  const socket = await openSocket(request);
  try {
    const data = await firstMessage(socket, message, signal, place);
    if (typeof data !== "string") return { bytes: new Uint8Array(data as ArrayBuffer), claim: "bytes" };
    const claim = format === "json" ? "json" : format === null ? "unknown" : "text";
    return { bytes: new TextEncoder().encode(data), claim };
  } finally {
    socket.close();
  }
}

function firstMessage(socket: Socket, message: string, signal: AbortSignal, place: ToolPlace): Promise<unknown> {
  let forget: (() => void) | undefined;
  const answer = new Promise<unknown>((resolve, reject) => {
    const ended = `${toSubject(place)} ended the connection before it answered: check that it is still running.`;
    forget = onAbort(signal, () => reject(signal.reason as Error));
    socket.addEventListener("message", ({ data }) => {
      const size = typeof data === "string" ? data.length : (data as ArrayBuffer).byteLength;
      if (size > MAX_ANSWER) reject(tooLong(place));
      else resolve(data);
    });
    // Only the WebSocket in Node gives a cause.
    socket.addEventListener("error", (event) => {
      const { error } = event as { readonly error?: { readonly code?: unknown } };
      if (error?.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") reject(tooLong(place));
    });
    socket.addEventListener("close", () => reject(new ToolConnectionError(ended)));
    signal.throwIfAborted();
    socket.send(message);
  });
  return answer.finally(() => forget?.());
}

function tooLong(place: ToolPlace): ToolServerError {
  const what = `answered with a message of more than ${MAX_ANSWER / 1024 / 1024} MiB`;
  return badAnswer(place, what, "it must answer in less");
}

const PLACEHOLDER = /UTCP_ARG_([A-Za-z0-9_]+?)_UTCP_(?:ARG|END)/g;

/** What a message is built from. */
interface MessageParts {
  readonly args: Readonly<Record<string, unknown>>;
  readonly schema: JsonSchema;
  /** Replaces variables. Called only with the template's own text. */
  readonly fill: (text: string) => string;
  readonly subject: string;
}

/**
 * Builds the message: the template with arguments in place of `UTCP_ARG_name_UTCP_ARG`, or all arguments as JSON. In
 * text that looks like JSON, a value stays within its string.
 *
 * @throws ToolClientError for a missing argument.
 */
export function buildMessage(message: WebSocketTemplate["message"], parts: MessageParts): string {
  if (message === null) return JSON.stringify(parts.args);
  if (typeof message !== "string") return JSON.stringify(fillValue(message, parts));
  const isJson = /^\s*[[{]/.test(message);
  return fillText(message, parts, isJson ? (text) => JSON.stringify(text).slice(1, -1) : (text) => text);
}

function fillValue(value: unknown, parts: MessageParts): unknown {
  if (typeof value === "string") return fillText(value, parts, (text) => text);
  if (Array.isArray(value)) return value.map((one) => fillValue(one, parts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fillValue(one, parts)]));
}

function fillText(text: string, parts: MessageParts, written: (text: string) => string): string {
  return fillPlaceholders(text, PLACEHOLDER, parts.fill, ([, name = ""]) => {
    const value = readArgument(name, parts);
    // Other values are JSON already.
    return typeof value === "string" ? written(value) : asText(value);
  });
}
