/**
 * One message from a client over HTTP, and its response.
 * @module
 */
import { encodeEvent, EVENT_END } from "../../http/event-stream.js";
import { joinBytes } from "../../artifacts/bytes.js";
import { readBounded, decodePieces } from "../../jsonrpc/bytes.js";
import { errorMessage, objectOr, tryParse, RpcCode, stringOr } from "../../jsonrpc/rpc.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { oneLine } from "../../jsonrpc/lines.js";
import { EventStreamGate } from "../../jsonrpc/sse.js";
import { BatchMembers, isBatch, scanMembers, requestsIn } from "../client-request.js";
import type { Interceptor } from "../interceptor-interface.js";
import { refusalWithoutId, type Refused } from "../message-refusal.js";
import { FollowUps, waitFor } from "./follow-ups.js";

interface ExchangeDeps {
  /** Whether the client takes an event stream. It learns there that a call is silent. */
  readonly takesEvents?: boolean;
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
    return refuseTooLarge(interceptor, scanMembers([body]), deps);
  }
  const { forward, answers, followUps: calls = [] } = await interceptor.fromClient(body);
  const own = (await Promise.all(answers)).filter((answer) => answer !== undefined);
  if (forward === undefined) {
    // A cancelled call, or the notification that cancelled it.
    if (own.length === 0) return new Response(null, { status: 202 });
    const refusal = await deps.admit?.();
    return refusal ?? jsonResponse(isBatch(body) ? `[${own.join(",")}]` : own.join(","));
  }
  const followUps = calls.length === 0 ? undefined : new FollowUps(calls, idsIn(forward).length);
  return forwardMessage(interceptor, { body, forward, own, followUps }, deps);
}

/** The ids of the requests in a message, as JSON text. */
export function idsIn(body: Uint8Array): readonly string[] {
  return requestsIn(body).map(({ id }) => id);
}

interface ForwardedMessage {
  readonly body: Uint8Array;
  readonly forward: Uint8Array;
  /** Answers that are not the server's. */
  readonly own: string[];
  /** What is sent while the server is silent. */
  readonly followUps: FollowUps | undefined;
}

async function forwardMessage(
  interceptor: Interceptor,
  message: ForwardedMessage,
  deps: ExchangeDeps,
): Promise<Response> {
  const { body, forward, own, followUps } = message;
  const { send, takesEvents = false } = deps;
  const reply = replySender(send);
  const answering = { own, reply, followUps, isBatched: isBatch(body) };
  const forget = (): void => {
    for (const id of idsIn(forward)) interceptor.forget(id);
  };
  const sent = send(forward === body ? undefined : forward).catch((error: unknown) => {
    forget();
    throw error;
  });
  let response = await waitFor(sent, followUps);
  if (response === undefined && takesEvents) {
    const pieces = eventsBefore(interceptor, sent, { ...answering, ids: idsIn(forward) });
    return new Response(
      toStream(pieces, () => discard(sent)),
      { headers: { "content-type": "text/event-stream" } },
    );
  }
  while (response === undefined) {
    const answer = takeFollowUp(followUps as FollowUps, reply);
    if (answer !== undefined) own.push(answer);
    if ((followUps as FollowUps).isSettled) {
      discard(sent);
      return jsonResponse(answering.isBatched ? `[${own.join(",")}]` : own.join(","));
    }
    response = await waitFor(sent, followUps);
  }
  if (carriesMessages(response)) return gateResponse(interceptor, response, answering);
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
  readonly own?: string[];
  /** What is sent while the server is silent. */
  readonly followUps?: FollowUps | undefined;
  /** Whether the client sent a batch. */
  readonly isBatched?: boolean;
  /** Sends the server an error in place of an answer. */
  readonly reply: (text: string) => void;
}

/** Whether a response carries messages: an event stream or JSON. */
function carriesMessages(response: Response): boolean {
  return response.ok && response.body !== null && chooseWay(response) !== undefined;
}

/**
 * Passes a response through an interceptor; one without messages is returned unchanged. It is read only as fast as the
 * client reads.
 */
export function gateResponse(interceptor: Interceptor, response: Response, deps: ResponseDeps): Response {
  const way = chooseWay(response);
  if (way === undefined || !response.ok || response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // These describe the body on the wire.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const reader = response.body.getReader();
  const pieces = way(interceptor, reader, deps);
  return new Response(
    toStream(pieces, (reason) => reader.cancel(reason)),
    { status, statusText, headers },
  );
}

/** A response that is not waited for any more. */
function discard(sent: Promise<Response>): void {
  void sent.then((response) => response.body?.cancel()).catch(() => undefined);
}

/** Takes what comes next, and tells the server what concerns it. Returns an answer for the client, if it is one. */
function takeFollowUp(followUps: FollowUps, reply: (text: string) => void): string | undefined {
  const { toClient, toServer } = followUps.take();
  if (toServer !== undefined) reply(toServer);
  return toServer === undefined ? undefined : toClient;
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
  const bytes = await readBounded(readChunks(response.body.getReader()), MAX_REFUSAL);
  if (bytes === undefined) return new Response(null, { status, statusText, headers });
  const text = decodePieces([bytes]);
  const told = errorMessage("null", RpcCode.serverError, text);
  const pieces: Uint8Array[] = [];
  const put = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const sink = { forward: put, complete: async () => undefined, nonProtocol: put };
  await using incoming = interceptor.fromServer(sink, () => undefined);
  await incoming.write(new TextEncoder().encode(told));
  await incoming.end();
  const { error } = objectOr(tryParse(decodePieces(pieces)));
  const guarded = stringOr(objectOr(error)["message"]);
  return new Response(guarded === text ? bytes : (guarded ?? null), { status, statusText, headers });
}

/** A JSON response with one message or a batch. */
function jsonResponse(text: string, status = 200): Response {
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;
type Way = (interceptor: Interceptor, body: BodyReader, deps: ResponseDeps) => AsyncGenerator<Uint8Array>;

function chooseWay({ headers }: Response): Way | undefined {
  const type = headers.get("content-type") ?? "";
  if (/\btext\/event-stream\b/i.test(type)) return eventPieces;
  return /\bapplication\/(?:[\w.+-]+\+)?json\b/i.test(type) ? messagePieces : undefined;
}

async function* eventPieces(
  interceptor: Interceptor,
  body: BodyReader,
  { own = [], reply, followUps }: ResponseDeps,
): AsyncGenerator<Uint8Array> {
  const events: Uint8Array[][] = [[]];
  const state = { isInEvent: false };
  const put = async (bytes: Uint8Array): Promise<void> => {
    events.at(-1)?.push(bytes);
    state.isInEvent = true;
  };
  const gate = new EventStreamGate(
    (sink) => interceptor.fromServer(sink, reply),
    put,
    () => {
      events.push([]);
      state.isInEvent = false;
    },
  );
  try {
    for (let read = body.read(); ;) {
      const next = await waitFor(read, state.isInEvent ? undefined : followUps);
      if (next === undefined) {
        yield* followUpEvents(followUps as FollowUps, reply);
        if (followUps?.isSettled !== true) continue;
        await body.cancel();
        break;
      }
      if (next.done) break;
      await gate.write(next.value);
      // Each on its own: SDKs drop the progress of a call that they read together with its result.
      for (const pieces of events.splice(0, events.length, [])) {
        if (pieces.length > 0) yield joinBytes(pieces);
      }
      read = body.read();
    }
    for (const text of own) yield encodeEvent({}, text);
  } finally {
    await gate.end();
  }
}

/** What comes next, as an event. */
function* followUpEvents(followUps: FollowUps, reply: (text: string) => void): Generator<Uint8Array> {
  const { toClient, toServer } = followUps.take();
  if (toServer !== undefined) reply(toServer);
  yield encodeEvent({}, toClient);
}

/** The events of a response whose beginning is not waited for. */
async function* eventsBefore(
  interceptor: Interceptor,
  sent: Promise<Response>,
  deps: ResponseDeps & { readonly ids: readonly string[] },
): AsyncGenerator<Uint8Array> {
  const { own = [], reply, ids } = deps;
  const followUps = deps.followUps as FollowUps;
  try {
    let response: Response | undefined;
    while (response === undefined) {
      yield* followUpEvents(followUps, reply);
      if (followUps.isSettled) {
        discard(sent);
        return;
      }
      response = await waitFor(sent, followUps);
    }
    if (carriesMessages(response)) {
      yield* streamEvents(interceptor, response, deps);
      return;
    }
    await response.body?.cancel();
    yield* failRequests(interceptor, ids, `The server refused the request with HTTP ${response.status}.`);
  } catch {
    yield* failRequests(interceptor, ids, "The server could not be reached.");
  }
  for (const text of own) yield encodeEvent({}, text);
}

/** Errors for the requests that wait for an answer. */
function* failRequests(interceptor: Interceptor, ids: readonly string[], sentence: string): Generator<Uint8Array> {
  for (const id of ids) {
    if (!interceptor.isWaiting(id)) continue;
    interceptor.forget(id);
    yield encodeEvent({}, errorMessage(id, RpcCode.serverError, sentence));
  }
}

/** The messages of a response as events. */
async function* streamEvents(
  interceptor: Interceptor,
  response: Response,
  deps: ResponseDeps,
): AsyncGenerator<Uint8Array> {
  const way = chooseWay(response);
  if (way === undefined || response.body === null) return;
  const pieces = way(interceptor, response.body.getReader(), deps);
  if (way === eventPieces) {
    yield* pieces;
    return;
  }
  let isBegun = false;
  for await (const piece of pieces) {
    if (!isBegun) yield new TextEncoder().encode("data: ");
    isBegun = true;
    yield oneLine(piece);
  }
  if (isBegun) yield new TextEncoder().encode(EVENT_END);
}

async function* messagePieces(
  interceptor: Interceptor,
  body: BodyReader,
  { own = [], reply, followUps, isBatched = false }: ResponseDeps,
): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void out.push(bytes);
  const incoming = interceptor.fromServer({ forward: put, complete: async () => undefined, nonProtocol: put }, reply);
  try {
    for (let read = body.read(); ;) {
      const next = await waitFor(read, followUps);
      if (next === undefined) {
        const answer = takeFollowUp(followUps as FollowUps, reply);
        if (answer !== undefined) own.push(answer);
        if (followUps?.isSettled !== true) continue;
        await body.cancel();
        yield isBatched ? joinAnswers(out, own) : new TextEncoder().encode(own.join(""));
        return;
      }
      if (next.done) break;
      await incoming.write(next.value);
      read = body.read();
      // Output before the end is never small and never part of a batch.
      if (own.length === 0) yield* out.splice(0);
    }
    await incoming.end();
    if (own.length === 0) yield* out;
    else yield joinAnswers(out, own);
  } finally {
    await incoming[Symbol.asyncDispose]();
  }
}

/** Joins the server's part of a batch with our own answers. */
function joinAnswers(out: readonly Uint8Array[], own: readonly string[]): Uint8Array {
  const text = decodePieces(out);
  const inner = text.trim().replace(/^\[([\s\S]*)\]$/, "$1");
  return new TextEncoder().encode(`[${[inner, ...own].filter((each) => each !== "").join(",")}]`);
}

async function* readChunks(body: BodyReader): AsyncGenerator<Uint8Array> {
  for (let next = await body.read(); !next.done; next = await body.read()) yield next.value;
}

/** A stream that does no more work than is read. */
function toStream(
  pieces: AsyncGenerator<Uint8Array>,
  cancelBody: (reason: unknown) => Promise<void> | void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async (reason) => {
      // A generator that waits for the body cannot return before the body has ended.
      await cancelBody(reason);
      await pieces.return(undefined);
    },
  });
}
