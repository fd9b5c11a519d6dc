/**
 * One session of Streamable HTTP: a server that speaks lines of JSON-RPC, and the requests that wait for it.
 * @module
 */
import { readCancelledKey, splitBatch, readRequest } from "../client-request.js";
import type { FollowUp } from "../call-limit.js";
import type { Interceptor } from "../interceptor-interface.js";
import { errorMessage, idKey, RpcCode } from "../../jsonrpc/rpc.js";
import { passServerLines } from "../stdio/lines.js";
import { type LineSink, oneLine } from "../../jsonrpc/lines.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { EventStream, type MessagePieces, EventHistory } from "./event-stream.js";
import { refusalResponse } from "./exchange.js";
import { MessageAssembler, type AnswerTaker, MessageRouter, PostExchange } from "./message-router.js";
import { refuseRequest } from "./refusal.js";
import {
  applyEdits,
  parseJson,
  replaceEdit,
  sliceSource,
  valueAt,
  type Edit,
  type ValueNode,
} from "../../json/text.js";

/** A server at the other end of a session, such as a process: lines of JSON-RPC in both directions. */
export interface MessagePeer {
  /** What it sends, for one reader. A chunk is valid until the next one is asked for. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when it has ended and its output is read. */
  readonly ended: Promise<unknown>;
  /** Sends it bytes. Resolves when it takes more. What is sent after its end is lost. */
  write(bytes: Uint8Array): Promise<void>;
  /** Tells it that nothing more comes. */
  endInput(): void;
  /** Ends it. */
  stop(): Promise<unknown>;
}

/** What a session is made of. */
export interface McpSessionDeps {
  readonly peer: MessagePeer;
  readonly interceptor: Interceptor;
  /** Takes lines that are no messages. They are dropped by default. */
  readonly nonProtocol?: LineSink | undefined;
  /** Whether several clients share it, whose ids may be equal. */
  readonly isShared: boolean;
}

/** A parsed POST. */
export interface Post {
  readonly body: Uint8Array;
  readonly acceptsEvents: boolean;
  /** Whether it lacks the metadata that requests need since 2026-07-28. */
  readonly lacksEnvelope: boolean;
  /** Whether the client accepts events without data (since 2025-11-25). */
  readonly primes: boolean;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

/** A parsed GET. */
export interface Get {
  /** Headers of the response. */
  readonly headers: Record<string, string>;
  /** As in a POST. */
  readonly primes: boolean;
  readonly signal: AbortSignal;
}

const TOO_LARGE = "The server's answer is too large while other calls are running: call the tool on its own.";

const NOWHERE: LineSink = { forward: async () => undefined, complete: async () => undefined };

/** A server, and the clients that wait for it. */
export class McpSession {
  /** Resolves when the server has ended and all clients were told. */
  readonly ended: Promise<void>;
  /** When it was last used, in milliseconds. */
  lastUsed: number = Date.now();
  readonly #peer: MessagePeer;
  readonly #interceptor: Interceptor;
  readonly #nonProtocol: LineSink;
  readonly #ids: MappedIds | undefined;
  readonly #posts = new MessageRouter();
  /** Only sessions can be resumed: since 2026-07-28 a client that disconnects has given up. */
  readonly #sent: EventHistory | undefined;
  /** The latest stream for messages that belong to no request. */
  #stream: EventStream | undefined;

  constructor({ peer, interceptor, nonProtocol = NOWHERE, isShared }: McpSessionDeps) {
    this.#peer = peer;
    this.#interceptor = interceptor;
    this.#ids = isShared ? new MappedIds() : undefined;
    this.#sent = isShared ? undefined : new EventHistory();
    this.#nonProtocol = nonProtocol;
    this.ended = this.#read();
  }

  /** Whether no client waits for anything. */
  get isIdle(): boolean {
    return this.#posts.isEmpty;
  }

  /** A tool as the server listed it. */
  get tool(): Interceptor["tool"] {
    return (name) => this.#interceptor.tool(name);
  }

  /** Forwards a message and returns its response. */
  async post(post: Post): Promise<Response> {
    this.lastUsed = Date.now();
    // Its id may be the number of another client's request.
    if (this.#ids?.isStray(readCancelledKey(post.body)) === true) return new Response(null, { status: 202 });
    const elements = splitBatch(post.body);
    const { body, keys } = this.#ids === undefined ? plain(post.body, elements) : this.#mapIds(this.#ids, post.body);
    if (keys.length === 0) {
      await this.#pass(body, keys);
      return new Response(null, { status: 202 });
    }
    if (keys.some((key) => this.#posts.has(key))) return duplicateId(keys);
    const exchange = new PostExchange({
      ids: keys,
      isBatch: elements !== undefined,
      hasStatus: this.#ids !== undefined,
      lacksEnvelope: post.lacksEnvelope,
      acceptsEvents: post.acceptsEvents,
      headers: post.headers,
      sent: this.#sent,
      primes: post.primes && this.#sent !== undefined,
      signal: post.signal,
      onEnd: (left) => this.#endExchange(exchange, left),
    });
    this.#posts.add(keys, exchange, tokenIn(body));
    const endStream = (): void => {
      this.lastUsed = Date.now();
      exchange.left();
    };
    post.signal.addEventListener("abort", endStream, { once: true });
    if (post.signal.aborted) endStream();
    // Not awaited: a client that does not read must still get its response.
    void this.#posts.flush();
    this.#pass(body, keys).catch(() => this.#fail(keys, "The request could not be passed on."));
    return exchange.response;
  }

  /** Refuses a message that is too large. */
  async refuse(message: JsonRpcScanner): Promise<Response> {
    const refused = this.#interceptor.refuse(message);
    if (refused.toServer !== undefined) await this.#send(new TextEncoder().encode(refused.toServer));
    return refusalResponse(refused, message);
  }

  /** Opens the stream for messages that belong to no request. Ends a previous one. */
  stream({ headers, primes, signal }: Get): Response {
    this.lastUsed = Date.now();
    this.#stream?.giveUp();
    const onGone = (): void => {
      this.lastUsed = Date.now();
      this.#posts.close(stream);
    };
    const stream = new EventStream({ onGone, onBack: () => this.#posts.open(stream), sent: this.#sent, primes });
    this.#stream = stream;
    this.#posts.open(stream);
    return stream.response(headers, signal);
  }

  /** Resumes a stream after an event. Undefined if none of its events is kept. */
  resume(lastEventId: string, get: Get): Response | undefined {
    this.lastUsed = Date.now();
    const { stream, after = 0 } = this.#sent?.find(lastEventId) ?? {};
    const response = stream?.resume(after, get);
    void this.#posts.flush();
    return response;
  }

  /** Stops the server and tells its clients. */
  async stop(): Promise<void> {
    this.#peer.endInput();
    await this.#peer.stop();
    await this.ended;
  }

  #mapIds(ids: MappedIds, body: Uint8Array): { readonly body: Uint8Array; readonly keys: readonly string[] } {
    const request = readRequest(body);
    const text = new TextDecoder().decode(body);
    if (request === undefined) return { body: ids.notification(text), keys: [] };
    const mapped = ids.request(text);
    return { body: mapped.bytes, keys: [mapped.key] };
  }

  /** `keys` are those of the requests in it. */
  async #pass(body: Uint8Array, keys: readonly string[]): Promise<void> {
    const { forward, answers, followUps = [] } = await this.#interceptor.fromClient(body);
    for (const messages of followUps) void this.#follow(messages, keys).catch(() => undefined);
    for (const answer of answers) void this.#answer(answer, keys).catch(() => undefined);
    if (forward !== undefined) await this.#send(forward);
    else if (answers.length === 0) this.#leaveUnanswered(keys);
  }

  async #answer(answer: Promise<string | undefined>, keys: readonly string[]): Promise<void> {
    const text = await answer;
    if (text === undefined) this.#leaveUnanswered(keys);
    else await this.#route(new TextEncoder().encode(text));
  }

  /** Sends what follows a call to the client that waits for it. */
  async #follow(messages: AsyncIterable<FollowUp>, [key]: readonly string[]): Promise<void> {
    for await (const { toClient, toServer } of messages) {
      await this.#route(new TextEncoder().encode(toClient), key);
      if (toServer !== undefined) await this.#send(new TextEncoder().encode(toServer));
    }
  }

  /** Ends the response to a cancelled request. In a batch it ends with the others. */
  #leaveUnanswered([key, ...others]: readonly string[]): void {
    if (key !== undefined && others.length === 0) this.#posts.answered(key);
  }

  async #send(message: Uint8Array): Promise<void> {
    await this.#peer.write(oneLine(message, true));
  }

  async #read(): Promise<void> {
    const client = new MessageAssembler({
      take: (message) => this.#route(message),
      begin: (about, isLast) => this.#begin(about, isLast),
      tooLarge: (id) => this.#fail([id], TOO_LARGE),
    });
    const sides = {
      client,
      nonProtocol: this.#nonProtocol,
      reply: (text: string) => void this.#send(new TextEncoder().encode(text)),
    };
    try {
      await passServerLines(this.#peer.output, this.#interceptor, sides);
      await this.#peer.ended;
    } catch {
      await this.#peer.stop();
    }
    client.drop();
    await this.#fail(this.#posts.keys, "The server ended before it answered.");
    this.#posts.end();
    this.#sent?.clear();
  }

  async #fail(keys: readonly string[], sentence: string): Promise<void> {
    for (const key of keys) {
      this.#interceptor.forget(key);
      await this.#route(new TextEncoder().encode(errorMessage(key, RpcCode.serverError, sentence)));
    }
  }

  /** Finds the receiver of an answer in pieces. */
  async #begin(about: JsonRpcScanner, isLast: boolean): Promise<AnswerTaker | undefined> {
    if (!about.isObject || !about.isResponse || about.text("method") !== undefined) return undefined;
    const key = idKey(about.text("id"));
    // An answer with its id at the end is buffered as long as possible, until its receiver is known.
    if (key === undefined && (!isLast || about.member("id") !== undefined)) return undefined;
    const pieces = await this.#posts.begin(key);
    return pieces === undefined ? undefined : this.#chooseTaker(pieces);
  }

  #chooseTaker(pieces: MessagePieces): AnswerTaker {
    const swap = this.#ids === undefined ? undefined : new IdSwap((key) => this.#ids?.own(key));
    return {
      write: async (bytes, about) => {
        for (const piece of swap?.pieces(bytes, about) ?? [bytes]) await pieces.write(piece);
      },
      end: (about) => {
        const key = idKey(about.text("id"));
        pieces.end(key);
        if (key !== undefined) this.#posts.answered(key);
      },
      fail: () => pieces.fail(),
    };
  }

  /** Sends a message to its receiver: to who waits for `request`, if the message does not say. */
  async #route(message: Uint8Array, request?: string): Promise<void> {
    const { bytes, key = request } = this.#ids?.back(message) ?? { bytes: message };
    const members = new JsonRpcScanner();
    members.push(message);
    if (members.isObject && members.text("method") !== undefined) {
      await this.#posts.message(bytes, {
        method: members.text("method") ?? "",
        key,
        isShared: this.#ids !== undefined,
      });
      return;
    }
    const answered = members.isObject ? [idKey(members.text("id"))] : (splitBatch(message) ?? []).map(idIn);
    await this.#posts.answer(
      answered.filter((id) => id !== undefined),
      bytes,
    );
  }

  #endExchange(exchange: PostExchange, left: readonly string[]): void {
    this.lastUsed = Date.now();
    this.#posts.remove(exchange);
    if (this.#ids === undefined) return;
    // Since 2026-07-28 a client that disconnects no longer wants the answer.
    for (const key of left) {
      const params = `{"requestId":${key},"reason":"the client disconnected"}`;
      const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
      void this.#pass(new TextEncoder().encode(cancelled), []).catch(() => undefined);
      this.#interceptor.forget(key);
    }
    for (const key of exchange.ids) this.#ids.close(key);
  }
}

function plain(
  body: Uint8Array,
  elements: readonly Uint8Array[] | undefined,
): { readonly body: Uint8Array; readonly keys: readonly string[] } {
  const keys = (elements ?? [body]).map((element) => readRequest(element)?.key);
  return { body, keys: keys.filter((key) => key !== undefined) };
}

function idIn(element: Uint8Array): string | undefined {
  const members = new JsonRpcScanner();
  members.push(element);
  return members.text("method") === undefined ? idKey(members.text("id")) : undefined;
}

/** The normalised progress token of a request. */
function tokenIn(body: Uint8Array): string | undefined {
  const { _meta } = readRequest(body)?.params ?? {};
  const { progressToken } = (_meta ?? {}) as { progressToken?: unknown };
  return progressToken === undefined ? undefined : JSON.stringify(progressToken);
}

function duplicateId([id]: readonly string[]): Response {
  const sentence = "A request with this id is still unanswered: give each request its own id.";
  return refuseRequest(id, 400, RpcCode.invalidRequest, sentence);
}

/** A request with its number as id. */
interface Mapped {
  readonly bytes: Uint8Array;
  /** The number, which is also its progress token. */
  readonly key: string;
}

interface Own {
  /** JSON text of the id. */
  readonly id: string;
  /** JSON text of the progress token. */
  readonly token: string | undefined;
}

/** Largest notification that is searched: larger ones carry no progress. */
const MAX_NOTIFICATION = 64 * 1024;

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** Names that occur in messages with an id to restore. Others are not parsed. */
const TRACES = ["progressToken", "requestId", SUBSCRIPTION];

/** Replaces the ids of several clients' requests on one connection by numbers, and restores them. */
export class MappedIds {
  readonly #own = new Map<string, Own>();
  #last = 0;

  /** Replaces the id of a client's request by a number. */
  request(text: string): Mapped {
    this.#last += 1;
    const key = String(this.#last);
    const message = parseJson(text);
    const id = valueAt(message, "id");
    const token = valueAt(valueAt(valueAt(message, "params"), "_meta"), "progressToken");
    this.#own.set(key, {
      id: id === undefined ? "null" : sliceSource(text, id),
      token: token === undefined ? undefined : sliceSource(text, token),
    });
    const edits = [id, token].flatMap((node) => (node === undefined ? [] : [replaceEdit(node, key)]));
    return { bytes: new TextEncoder().encode(applyEdits(text, edits)), key };
  }

  /**
   * Translates the request id in a client's notification, which is JSON text there. Of equal ids the latest one is
   * meant.
   */
  notification(text: string): Uint8Array {
    const edits = this.#edits(text, (json) => [...this.#own].findLast(([, { id }]) => id === json)?.[0]);
    return new TextEncoder().encode(applyEdits(text, edits));
  }

  /** Restores the ids in a message from the server, and returns the number of the request that it belongs to. */
  back(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly key: string | undefined } {
    const members = new JsonRpcScanner();
    members.push(bytes);
    const key = members.text("method") === undefined ? members.text("id")?.trim() : undefined;
    const own = this.#own.get(key ?? "");
    const { start = 0, end = 0 } = own === undefined ? {} : (members.member("id") ?? {});
    const told = own === undefined ? bytes : splice(bytes, start, end, own.id);
    if (told.length > MAX_NOTIFICATION) return { bytes: told, key };
    const text = new TextDecoder().decode(told);
    if (!TRACES.some((trace) => text.includes(trace))) return { bytes: told, key };
    let about: string | undefined;
    const edits = this.#edits(text, (json, isToken) => {
      const { id, token } = this.#own.get(json) ?? {};
      if (id !== undefined) about = json;
      return isToken ? token : id;
    });
    return { bytes: new TextEncoder().encode(applyEdits(text, edits)), key: key ?? about };
  }

  /** Whether an id is that of no request that waits for an answer. */
  isStray(key: string | undefined): boolean {
    return key !== undefined && ![...this.#own.values()].some(({ id }) => idKey(id) === key);
  }

  /** The id of a request as its client wrote it. */
  own(key: string): string | undefined {
    return this.#own.get(key)?.id;
  }

  close(key: string): void {
    this.#own.delete(key);
  }

  #edits(text: string, find: (json: string, isToken: boolean) => string | undefined): Edit[] {
    const message = parseJson(text);
    const params = valueAt(message, "params");
    const places: readonly (readonly [ValueNode | undefined, boolean])[] = [
      [valueAt(params, "requestId"), false],
      [valueAt(params, "progressToken"), true],
      [valueAt(valueAt(params, "_meta"), SUBSCRIPTION), false],
      [valueAt(valueAt(valueAt(message, "result"), "_meta"), SUBSCRIPTION), false],
    ];
    return places.flatMap(([node, isToken]) => {
      const instead = node === undefined ? undefined : find(sliceSource(text, node), isToken);
      return node === undefined || instead === undefined ? [] : [replaceEdit(node, instead)];
    });
  }
}

function splice(bytes: Uint8Array, start: number, end: number, text: string): Uint8Array {
  const middle = new TextEncoder().encode(text);
  const whole = new Uint8Array(start + middle.length + bytes.length - end);
  whole.set(bytes.subarray(0, start));
  whole.set(middle, start);
  whole.set(bytes.subarray(end), start + middle.length);
  return whole;
}

/** Replaces the id of one message that arrives in pieces. */
export class IdSwap {
  readonly #ownOf: (key: string) => string | undefined;
  /** Bytes before the next piece. */
  #at = 0;
  #isDone = false;

  /** `ownOf` returns the JSON text that replaces an id. An unknown id stays. */
  constructor(ownOf: (key: string) => string | undefined) {
    this.#ownOf = ownOf;
  }

  /** The output for a piece. `about` has scanned the message at least to the piece's end. */
  pieces(bytes: Uint8Array, about: JsonRpcScanner): readonly Uint8Array[] {
    const from = this.#at;
    this.#at += bytes.length;
    const id = about.member("id");
    if (id === undefined) return [bytes];
    const { start, end = Number.POSITIVE_INFINITY } = id;
    const within = (place: number): number => Math.min(Math.max(place - from, 0), bytes.length);
    const own = end <= this.#at && !this.#isDone ? this.#own(about) : new Uint8Array(0);
    return [bytes.subarray(0, within(start)), own, bytes.subarray(within(end))];
  }

  #own(about: JsonRpcScanner): Uint8Array {
    this.#isDone = true;
    const text = about.text("id") ?? "null";
    return new TextEncoder().encode(this.#ownOf(text.trim()) ?? text);
  }
}
