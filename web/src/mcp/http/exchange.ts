/**
 * One message from a client over HTTP, and its response.
 * @module
 */
import { encodeEvent } from "../../http/event-stream.js";
import { joinBytes } from "../../artifacts/bytes.js";
import { readBounded, textOf } from "../../jsonrpc/bytes.js";
import { errorMessage, objectOr, parsedOr, RpcCode, stringOr } from "../../jsonrpc/rpc.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { EventStreamGate } from "../../jsonrpc/sse.js";
import { BatchMembers, isBatch, membersOf, requestsIn } from "../client-request.js";
import type { Interceptor } from "../interceptor.js";
import { refusalWithoutId, type Refused } from "../message-refusal.js";

interface ExchangeDeps {
  /** Sends the server the client's message, or `body` in its place. */
  readonly send: (body?: Uint8Array) => Promise<Response>;
  /** Called before the interceptor answers by itself. A response means that the client is not admitted. */
  readonly admit?: () => Promise<Response | undefined>;
}

/**
 * Passes a message through an interceptor, and the response back. `body` is the message, or a scan of one that is too
 * large to forward. Throws what `send` throws.
 */
export async function exchange(
  interceptor: Interceptor,
  body: Uint8Array | JsonRpcScanner,
  deps: ExchangeDeps,
): Promise<Response> {
  if (body instanceof JsonRpcScanner) return refuseTooLarge(interceptor, body, deps);
  if (body.length > MAX_MESSAGE) {
    return refuseTooLarge(interceptor, membersOf([body]), deps);
  }
  const { forward, answers } = await interceptor.fromClient(body);
  const own = (await Promise.all(answers)).filter((answer) => answer !== undefined);
  if (forward === undefined) {
    // A cancelled call, or the notification that cancelled it.
    if (own.length === 0) return new Response(null, { status: 202 });
    const refusal = await deps.admit?.();
    return refusal ?? jsonResponse(isBatch(body) ? `[${own.join(",")}]` : own.join(","));
  }
  return forwardMessage(interceptor, { body, forward, own }, deps);
}

/** The ids of the requests in a message, as JSON text. */
export function idsIn(body: Uint8Array): readonly string[] {
  return requestsIn(body).map(({ id }) => id);
}

interface ForwardedMessage {
  readonly body: Uint8Array;
  readonly forward: Uint8Array;
  readonly own: readonly string[];
}

async function forwardMessage(
  interceptor: Interceptor,
  { body, forward, own }: ForwardedMessage,
  { send }: ExchangeDeps,
): Promise<Response> {
  const forget = (): void => {
    for (const id of idsIn(forward)) interceptor.forget(id);
  };
  let response: Response;
  try {
    response = await send(forward === body ? undefined : forward);
  } catch (error) {
    forget();
    throw error;
  }
  if (carriesMessages(response)) return gatedResponse(interceptor, response, { own, reply: replySender(send) });
  forget();
  if (!response.ok) return guardRefusal(interceptor, response);
  if (own.length === 0) return response;
  await response.body?.cancel();
  return jsonResponse(`[${own.join(",")}]`);
}

async function refuseTooLarge(
  interceptor: Interceptor,
  message: JsonRpcScanner,
  { send }: ExchangeDeps,
): Promise<Response> {
  const said = interceptor.refuse(message);
  const { toClient, toServer } = said;
  const response = refusalResponse(said, message);
  if (toServer === undefined) return response;
  if (toClient === undefined) return send(new TextEncoder().encode(toServer));
  replySender(send)(toServer);
  return response;
}

/**
 * The response to a message that is too large: an error for each of its requests, 202 for responses, which are reported
 * to the server, and 400 for anything else (MCP, Streamable HTTP, "Sending Messages to the Server").
 */
export function refusalResponse({ toClient, toServer }: Refused, message: JsonRpcScanner): Response {
  const hasRequests = message instanceof BatchMembers ? message.requests.length > 0 : toClient !== undefined;
  if (hasRequests && toClient !== undefined) return jsonResponse(toClient);
  return toServer === undefined ? jsonResponse(refusalWithoutId(message), 400) : new Response(null, { status: 202 });
}

/** Returns a function that sends the server messages and ignores the responses. */
export function replySender(send: (body: Uint8Array) => Promise<Response>): (text: string) => void {
  return (text) => {
    send(new TextEncoder().encode(text))
      .then((response) => response.body?.cancel())
      .catch(() => undefined);
  };
}

interface ResponseDeps {
  /** Our own messages, sent after the server's. */
  readonly own?: readonly string[];
  /** Sends the server an error in place of an answer. */
  readonly reply: (text: string) => void;
}

/** Whether a response carries messages: an event stream or JSON. */
function carriesMessages(response: Response): boolean {
  return response.ok && response.body !== null && wayOf(response) !== undefined;
}

/**
 * Passes a response through an interceptor; one without messages is returned unchanged. It is read only as fast as the
 * client reads.
 */
export function gatedResponse(interceptor: Interceptor, response: Response, deps: ResponseDeps): Response {
  const way = wayOf(response);
  if (way === undefined || !response.ok || response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // These describe the body on the wire.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const reader = response.body.getReader();
  return new Response(streamOf(way(interceptor, reader, deps), reader), { status, statusText, headers });
}

/** Most bytes that are read of a refusal. Clients put them into an error. */
const MAX_REFUSAL = 1024 * 1024;

/** A response that refuses a message, without bytes in its body. One that is too large has none. */
async function guardRefusal(interceptor: Interceptor, response: Response): Promise<Response> {
  if (response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // These describe the body on the wire.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const bytes = await readBounded(chunksOf(response.body.getReader()), MAX_REFUSAL);
  if (bytes === undefined) return new Response(null, { status, statusText, headers });
  const text = textOf([bytes]);
  const told = errorMessage("null", RpcCode.serverError, text);
  const pieces: Uint8Array[] = [];
  const put = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const sink = { forward: put, complete: async () => undefined, nonProtocol: put };
  await using incoming = interceptor.fromServer(sink, () => undefined);
  await incoming.write(new TextEncoder().encode(told));
  await incoming.end();
  const { error } = objectOr(parsedOr(textOf(pieces)));
  const guarded = stringOr(objectOr(error)["message"]);
  return new Response(guarded === text ? bytes : (guarded ?? null), { status, statusText, headers });
}

/** A JSON response with one message or a batch. */
function jsonResponse(text: string, status = 200): Response {
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;
type Way = (interceptor: Interceptor, body: BodyReader, deps: ResponseDeps) => AsyncGenerator<Uint8Array>;

function wayOf({ headers }: Response): Way | undefined {
  const type = headers.get("content-type") ?? "";
  if (/\btext\/event-stream\b/i.test(type)) return eventPieces;
  return /\bapplication\/(?:[\w.+-]+\+)?json\b/i.test(type) ? messagePieces : undefined;
}

async function* eventPieces(
  interceptor: Interceptor,
  body: BodyReader,
  { own = [], reply }: ResponseDeps,
): AsyncGenerator<Uint8Array> {
  const events: Uint8Array[][] = [[]];
  const put = async (bytes: Uint8Array): Promise<void> => void events.at(-1)?.push(bytes);
  const gate = new EventStreamGate(
    (sink) => interceptor.fromServer(sink, reply),
    put,
    () => void events.push([]),
  );
  try {
    for await (const chunk of chunksOf(body)) {
      await gate.write(chunk);
      // Each on its own: SDKs drop the progress of a call that they read together with its result.
      for (const pieces of events.splice(0, events.length, [])) {
        if (pieces.length > 0) yield joinBytes(pieces);
      }
    }
    for (const text of own) yield encodeEvent({}, text);
  } finally {
    await gate.end();
  }
}

async function* messagePieces(
  interceptor: Interceptor,
  body: BodyReader,
  { own = [], reply }: ResponseDeps,
): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void out.push(bytes);
  const incoming = interceptor.fromServer({ forward: put, complete: async () => undefined, nonProtocol: put }, reply);
  try {
    for await (const chunk of chunksOf(body)) {
      await incoming.write(chunk);
      // Output before the end is never small and never part of a batch.
      if (own.length === 0) yield* out.splice(0);
    }
    await incoming.end();
    if (own.length === 0) yield* out;
    else yield joinedBatch(out, own);
  } finally {
    await incoming[Symbol.asyncDispose]();
  }
}

/** Joins the server's part of a batch with our own answers. */
function joinedBatch(out: readonly Uint8Array[], own: readonly string[]): Uint8Array {
  const text = textOf(out);
  const inner = text.trim().replace(/^\[([\s\S]*)\]$/, "$1");
  return new TextEncoder().encode(`[${[inner, ...own].filter((each) => each !== "").join(",")}]`);
}

async function* chunksOf(body: BodyReader): AsyncGenerator<Uint8Array> {
  for (let next = await body.read(); !next.done; next = await body.read()) yield next.value;
}

/** A stream that does no more work than is read. */
function streamOf(pieces: AsyncGenerator<Uint8Array>, body: BodyReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async (reason) => {
      // A generator that waits for the body cannot return before the body has ended.
      await body.cancel(reason);
      await pieces.return(undefined);
    },
  });
}
