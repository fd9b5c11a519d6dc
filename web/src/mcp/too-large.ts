/**
 * What is said of messages that are too large to be sent on, and of those that cannot be for another reason.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import type { MessageMembers } from "../transports/members.js";
import { BatchMembers } from "./client-request.js";
import { errorMessage, RpcCode } from "./rpc.js";

/** What each side is told, as JSON text. */
export interface Refused {
  readonly toClient?: string;
  readonly toServer?: string;
}

/** Characters of a method's name in a sentence. */
const MAX_NAME = 100;

const SIZE = `${MAX_MESSAGE / 1024 / 1024} MiB`;

/** What is said of a message of the client's that is larger than may be sent on: each request in it is answered. */
export function refuseMessage(message: MessageMembers): Refused {
  const sentence = `The message is larger than ${SIZE}, and servers close the connection at one that is: send less at a time.`;
  const error = (id: string): string => errorMessage(id, RpcCode.invalidRequest, sentence);
  if (message instanceof BatchMembers) {
    const { requests, responses, isEmpty } = message;
    // What has no message in it that could be told apart is answered as a whole (JSON-RPC 2.0 §6).
    if (isEmpty) return { toClient: error("null") };
    return {
      ...(requests.length > 0 && { toClient: `[${requests.map(error).join(",")}]` }),
      ...(responses.length > 0 && { toServer: `[${responses.map(error).join(",")}]` }),
    };
  }
  const id = message.text("id");
  if (id === undefined) return {};
  return message.text("method") === undefined ? { toServer: error(id) } : { toClient: error(id) };
}

/** The same for logs. */
export function tooLargeForServer(message: MessageMembers): SluiceError {
  const what = message instanceof BatchMembers ? "batch" : kindOf(message);
  return new SluiceError(
    "E_TOO_LARGE",
    `The client's ${what} was not passed on: it is larger than ${SIZE}, and servers close the connection at one that is; send less at a time.`,
  );
}

/** What is too large to be passed on, and is no use reduced. */
export function tooLargeForClient(): SluiceError {
  return new SluiceError("E_TOO_LARGE", `it is larger than ${SIZE}: ask for less at a time`);
}

/** What is said of a message of the server's that cannot be passed on. */
interface Undelivered {
  /** For logs. */
  readonly event: SluiceError | undefined;
  readonly toClient: string;
  readonly toServer: string;
}

/** `asked` is the method of the request that the message answers, where somebody waits for it. */
export function undelivered(error: unknown, message: MessageMembers, asked: string | undefined): Undelivered {
  const failure = error instanceof SluiceError ? error : undefined;
  const reason = reasonOf(failure, message, asked);
  const what = asked === undefined ? kindOf(message) : `answer to ${named(asked)}`;
  return {
    event: failure && new SluiceError(failure.code, `The server's ${what} could not be passed on: ${reason}`),
    toClient: `The server's answer could not be passed on: ${reason}`,
    toServer: `The request could not be passed on: ${reason}`,
  };
}

function reasonOf(failure: SluiceError | undefined, message: MessageMembers, asked: string | undefined): string {
  if (failure === undefined) return "it is not JSON-RPC";
  if (failure.code !== "E_TOO_LARGE") return failure.message;
  const limit = `it is larger than ${SIZE}, the most that clients take`;
  if (asked?.endsWith("/list") === true) return `${limit}: let the server list in pages, or offer less`;
  const isRequest = !message.isResponse && message.member("id") !== undefined;
  return isRequest ? `${limit}: send less at a time` : failure.message;
}

/** What a message is, and of which method. */
function kindOf(message: MessageMembers): string {
  const method = message.text("method");
  if (message.isResponse) return "answer";
  if (method === undefined) return "message";
  return `${message.member("id") === undefined ? "notification" : "request"} ${named(method)}`;
}

/** Names come from outside. JSON text of one stays as it is. */
function named(method: string): string {
  const text = method.trim();
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;
}
