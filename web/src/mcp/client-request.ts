/**
 * A request as a client wrote it.
 * @module
 */
import { textOf } from "../transports/bytes.js";
import { MessageMembers } from "../transports/members.js";
import { idKey, objectOr, stringOr } from "./rpc.js";

/** A request, its text, and what matters of it. */
export interface ClientRequest {
  /** The whole message. */
  readonly text: string;
  /** JSON text of its id. */
  readonly id: string;
  /** The same in one spelling. */
  readonly key: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether it is of revision 2026-07-28 or later, where each request says which. */
  readonly isModern: boolean;
}

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/** Reads a message of the client's; undefined for what is no request. */
export function requestOf(bytes: Uint8Array): ClientRequest | undefined {
  const members = new MessageMembers();
  members.push(bytes);
  const id = members.text("id");
  const key = idKey(id);
  if (id === undefined || key === undefined || members.text("method") === undefined) return undefined;
  const text = textOf([bytes]);
  const message = parsed(text);
  const method = stringOr(message["method"]);
  if (method === undefined) return undefined;
  const params = objectOr(message["params"]);
  return { text, id: id.trim(), key, method, params, isModern: PROTOCOL_VERSION in objectOr(params["_meta"]) };
}

/** The key of the request that a message of the client's cancels, if it is `notifications/cancelled`. */
export function cancelledBy(bytes: Uint8Array): string | undefined {
  // Looked at only where it may be one: this is asked for each notification.
  if (bytes.length > MAX_CANCELLATION) return undefined;
  const { method, params } = parsed(textOf([bytes]));
  if (method !== "notifications/cancelled") return undefined;
  return idKey(JSON.stringify(objectOr(params)["requestId"]));
}

/** A cancellation is an id and a reason. */
const MAX_CANCELLATION = 65_536;

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOr(JSON.parse(text));
  } catch {
    return {};
  }
}
