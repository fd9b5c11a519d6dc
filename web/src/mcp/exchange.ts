/**
 * One message of a client's over HTTP, and what comes back.
 * @module
 */
import { MAX_MESSAGE } from "../transports/limits.js";
import { MessageMembers } from "../transports/members.js";
import { elementsOf, membersOf } from "./client-batch.js";
import { requestOf } from "./client-request.js";
import type { Doorway } from "./doorway.js";
import { carriesMessages, gatedResponse, jsonResponse } from "./gated-response.js";

/** What one exchange needs. */
export interface ExchangeTerms {
  /** Sends the server the message: as the client sent it, or this one in its place. */
  readonly send: (body?: Uint8Array) => Promise<Response>;
  /** Asked before the door answers by itself; a response says that the client may not come in. */
  readonly admit?: () => Promise<Response | undefined>;
}

/**
 * Passes a message through a door, and the response back. `body` is the message, or what one is about that is too large
 * to be sent on. Throws what `send` throws.
 */
export async function exchange(
  door: Doorway,
  body: Uint8Array | MessageMembers,
  terms: ExchangeTerms,
): Promise<Response> {
  if (body instanceof MessageMembers) return refused(door, body, terms);
  if (body.length > MAX_MESSAGE) {
    return refused(door, membersOf([body]), terms);
  }
  const { forward, answers } = await door.fromClient(body);
  const own = await Promise.all(answers);
  if (forward === undefined) {
    // A call that nobody waits for any more, or what said so.
    if (own.length === 0) return new Response(null, { status: 202 });
    const refusal = await terms.admit?.();
    return refusal ?? jsonResponse(isBatch(body) ? `[${own.join(",")}]` : own.join(","));
  }
  return forwarded(door, { body, forward, own }, terms);
}

/** The ids of a message's requests, as JSON text. */
export function idsIn(body: Uint8Array): readonly string[] {
  const ids = (elementsOf(body) ?? [body]).map((element) => requestOf(element)?.id);
  return ids.filter((id) => id !== undefined);
}

interface Taken {
  readonly body: Uint8Array;
  readonly forward: Uint8Array;
  readonly own: readonly string[];
}

async function forwarded(door: Doorway, { body, forward, own }: Taken, { send }: ExchangeTerms): Promise<Response> {
  const forget = (): void => {
    for (const id of idsIn(forward)) door.forget(id);
  };
  let response: Response;
  try {
    response = await send(forward === body ? undefined : forward);
  } catch (error) {
    forget();
    throw error;
  }
  if (carriesMessages(response)) return gatedResponse(door, response, { own, reply: replying(send) });
  forget();
  if (!response.ok || own.length === 0) return response;
  await response.body?.cancel();
  return jsonResponse(`[${own.join(",")}]`);
}

async function refused(door: Doorway, message: MessageMembers, { send }: ExchangeTerms): Promise<Response> {
  const { toClient, toServer } = door.refuse(message);
  if (toClient !== undefined) {
    if (toServer !== undefined) replying(send)(toServer);
    return jsonResponse(toClient);
  }
  return toServer === undefined ? new Response(null, { status: 202 }) : send(new TextEncoder().encode(toServer));
}

/** Sends the server a message nobody waits for. */
export function replying(send: (body: Uint8Array) => Promise<Response>): (text: string) => void {
  return (text) => {
    send(new TextEncoder().encode(text))
      .then((response) => response.body?.cancel())
      .catch(() => undefined);
  };
}

/** The headers of any request of a client's, made those of a message. */
export function asPost(headers: Headers): Headers {
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  headers.delete("last-event-id");
  return headers;
}

function isBatch(body: Uint8Array): boolean {
  return body.find((byte) => byte > 0x20) === 0x5b;
}
