/**
 * One message of a client's over HTTP, and what comes back.
 * @module
 */
import { joined, textOf } from "../transports/bytes.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { MessageMembers } from "../transports/members.js";
import { EventStreamGate } from "../transports/sse.js";
import { isBatch, membersOf, requestsIn } from "./client-request.js";
import type { Doorway } from "./doorway.js";

interface ExchangeTerms {
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
  return requestsIn(body).map(({ id }) => id);
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

interface ResponseTerms {
  /** Messages of our own that come behind the server's. */
  readonly own?: readonly string[];
  /** Sends the server what it gets in place of an answer. */
  readonly reply: (text: string) => void;
}

/** Whether a response carries messages: a stream of events, or JSON. */
function carriesMessages(response: Response): boolean {
  return response.ok && response.body !== null && wayOf(response) !== undefined;
}

/** The response as its client gets it; one that carries no messages as it is. It is read no faster than it is taken. */
export function gatedResponse(door: Doorway, response: Response, terms: ResponseTerms): Response {
  const way = wayOf(response);
  if (way === undefined || !response.ok || response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // They tell of the body as it was on the wire.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const reader = response.body.getReader();
  return new Response(streamOf(way(door, reader, terms), reader), { status, statusText, headers });
}

/** A response of one message, or of several as a batch. */
export function jsonResponse(text: string): Response {
  return new Response(text, { status: 200, headers: { "content-type": "application/json" } });
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;
type Way = (door: Doorway, body: BodyReader, terms: ResponseTerms) => AsyncGenerator<Uint8Array>;

function wayOf({ headers }: Response): Way | undefined {
  const type = headers.get("content-type") ?? "";
  if (/\btext\/event-stream\b/i.test(type)) return eventPieces;
  return /\bapplication\/(?:[\w.+-]+\+)?json\b/i.test(type) ? messagePieces : undefined;
}

async function* eventPieces(
  door: Doorway,
  body: BodyReader,
  { own = [], reply }: ResponseTerms,
): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void out.push(bytes);
  const gate = new EventStreamGate((outlet) => door.fromServer(outlet, reply), put);
  try {
    for await (const chunk of chunksOf(body)) {
      await gate.write(chunk);
      if (out.length > 0) yield joined(out.splice(0));
    }
    for (const text of own) yield new TextEncoder().encode(`data: ${text}\n\n`);
  } finally {
    await gate.end();
  }
}

async function* messagePieces(
  door: Doorway,
  body: BodyReader,
  { own = [], reply }: ResponseTerms,
): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void out.push(bytes);
  const incoming = door.fromServer({ forward: put, complete: async () => undefined, stray: put }, reply);
  try {
    for await (const chunk of chunksOf(body)) {
      await incoming.write(chunk);
      // What comes before the end is never small, and never part of a batch.
      if (own.length === 0) yield* out.splice(0);
    }
    await incoming.end();
    if (own.length === 0) yield* out;
    else yield joinedBatch(out, own);
  } finally {
    await incoming[Symbol.asyncDispose]();
  }
}

/** The answers to the part of a batch that the server saw, and those to the rest. */
function joinedBatch(out: readonly Uint8Array[], own: readonly string[]): Uint8Array {
  const text = textOf(out);
  const inner = text.trim().replace(/^\[([\s\S]*)\]$/, "$1");
  return new TextEncoder().encode(`[${[inner, ...own].filter((each) => each !== "").join(",")}]`);
}

async function* chunksOf(body: BodyReader): AsyncGenerator<Uint8Array> {
  for (let next = await body.read(); !next.done; next = await body.read()) yield next.value;
}

/** A stream that works no further ahead than it is read. */
function streamOf(pieces: AsyncGenerator<Uint8Array>, body: BodyReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async (reason) => {
      // A generator that waits for the body cannot be told to return before the body has ended.
      await body.cancel(reason);
      await pieces.return(undefined);
    },
  });
}
