/**
 * Errors for messages that are too large to forward, or cannot be forwarded for another reason.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";
import type { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import { BatchMembers } from "./client-request.js";
import { errorMessage, RpcCode } from "../jsonrpc/rpc.js";

/** What to send each side, as JSON text. */
export interface Refused {
  readonly toClient?: string;
  readonly toServer?: string;
}

/** Longest method name in a sentence. */
const MAX_NAME = 100;

const SIZE = `${MAX_MESSAGE / 1024 / 1024} MiB`;

const SENTENCE = `The message is larger than ${SIZE}, and servers close the connection at such a message: send less at a time.`;

/** Answers each request in a message from the client that is too large. */
export function refuseMessage(message: JsonRpcScanner): Refused {
  if (message instanceof BatchMembers) {
    const { requests, responses, isEmpty } = message;
    // A batch without recognisable messages is answered as a whole (JSON-RPC 2.0 §6).
    if (isEmpty) return { toClient: refusal("null") };
    return {
      ...(requests.length > 0 && { toClient: `[${requests.map(refusal).join(",")}]` }),
      ...(responses.length > 0 && { toServer: `[${responses.map(refusal).join(",")}]` }),
    };
  }
  const id = message.text("id");
  if (id === undefined) return {};
  return message.text("method") === undefined ? { toServer: refusal(id) } : { toClient: refusal(id) };
}

function refusal(id: string): string {
  return errorMessage(id, RpcCode.invalidRequest, SENTENCE);
}

/** The answer to such a message without requests, for transports that answer every message. JSON text. */
export function refusalWithoutId(message: JsonRpcScanner): string {
  const isMessage = message instanceof BatchMembers ? !message.isEmpty : message.text("method") !== undefined;
  if (isMessage) return refusal("null");
  return errorMessage("null", RpcCode.parseError, `The body is larger than ${SIZE}, and is not a JSON-RPC message.`);
}

/** The same for logs. */
export function tooLargeForServer(message: JsonRpcScanner): SluiceError {
  const what = message instanceof BatchMembers ? "batch" : nameMessage(message);
  return new SluiceError(
    "E_TOO_LARGE",
    `The client's ${what} was not passed on: it is larger than ${SIZE}, and servers close the connection at such a message; send less at a time.`,
  );
}

/** Error for a message that is too large and useless when reduced. */
export function tooLargeForClient(): SluiceError {
  return new SluiceError("E_TOO_LARGE", `it is larger than ${SIZE}: ask for less at a time`);
}

/** What to send about a message from the server that cannot be forwarded. */
interface Undelivered {
  /** For logs. */
  readonly event: SluiceError | undefined;
  readonly toClient: string;
  readonly toServer: string;
}

/** `asked` is the method of the waiting request that the message answers, if there is one. */
export function describeUndelivered(error: unknown, message: JsonRpcScanner, asked: string | undefined): Undelivered {
  const failure = error instanceof SluiceError ? error : undefined;
  const reason = describeReason(failure, message, asked);
  const what = asked === undefined ? nameMessage(message) : `answer to ${shortenMethod(asked)}`;
  return {
    event: failure && new SluiceError(failure.code, `The server's ${what} could not be passed on: ${reason}`),
    toClient: `The server's answer could not be passed on: ${reason}`,
    toServer: `The request could not be passed on: ${reason}`,
  };
}

function describeReason(failure: SluiceError | undefined, message: JsonRpcScanner, asked: string | undefined): string {
  if (failure === undefined) return "it is not JSON-RPC";
  if (failure.line !== undefined) return `${failure.message} (line ${failure.line}, column ${failure.column})`;
  if (failure.code !== "E_TOO_LARGE") return failure.message;
  const limit = `it is larger than ${SIZE}, the most that clients take`;
  if (asked?.endsWith("/list") === true) return `${limit}: configure the server to list in pages, or to offer less`;
  const isRequest = !message.isResponse && message.member("id") !== undefined;
  return isRequest ? `${limit}: send less at a time` : failure.message;
}

/** Names a message by its kind and method. */
function nameMessage(message: JsonRpcScanner): string {
  const method = message.text("method");
  if (message.isResponse) return "answer";
  if (method === undefined) return "message";
  return `${message.member("id") === undefined ? "notification" : "request"} ${shortenMethod(method)}`;
}

/** Shortens a method name, which is untrusted. JSON text stays JSON text. */
function shortenMethod(method: string): string {
  const text = method.trim();
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;
}
