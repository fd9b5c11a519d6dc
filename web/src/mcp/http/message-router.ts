/**
 * Routes a server's messages to the HTTP requests that wait for them. An answer is sent as JSON if it is all there is,
 * else as an event stream.
 * @module
 */
import { joinBatch } from "../client-request.js";
import { objectOr, RpcCode } from "../../jsonrpc/rpc.js";
import { EventStream, PacedBody, type MessagePieces, KEPT_FOR, type EventHistory } from "./event-stream.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { oneLine, type LineSink } from "../../jsonrpc/lines.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";

/** Most messages that wait for a receiver. */
const MAX_WAITING = 256;

/** Most bytes of them. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Methods of messages that belong to no request. */
const UNRELATED = /^"notifications\/(?:\w+\/list_changed|resources\/updated|tasks\/status|tasks)"$/;

/** Largest message that is searched for a progress token. */
const MAX_PROGRESS = 64 * 1024;

const TO_NOBODY: MessagePieces = { write: async () => undefined, end: () => undefined, fail: () => undefined };

interface MessageFacts {
  /** JSON text. */
  readonly method: string;
  /** The request that it belongs to, if known. */
  readonly key: string | undefined;
  /** Whether several clients share the server. A message without a request may then be anybody's. */
  readonly isShared: boolean;
}

/** Tracks open exchanges by request, and the stream for other messages. */
export class MessageRouter {
  readonly #byKey = new Map<string, PostExchange>();
  readonly #byToken = new Map<string, PostExchange>();
  /** Latest last. */
  readonly #open = new Set<PostExchange>();
  #stream: EventStream | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  /** Whether no client waits for anything. */
  get isEmpty(): boolean {
    return this.#stream === undefined && ![...this.#open].some(({ isConnected }) => isConnected);
  }

  /** Requests that wait for an answer. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** Whether a client waits for the answer to a request. A disconnected one gives way to another with the same id. */
  has(key: string): boolean {
    return this.#byKey.get(key)?.isConnected === true;
  }

  add(keys: readonly string[], exchange: PostExchange, token: string | undefined): void {
    for (const key of keys) this.#byKey.set(key, exchange);
    if (token !== undefined) this.#byToken.set(token, exchange);
    this.#open.add(exchange);
  }

  remove(exchange: PostExchange): void {
    for (const map of [this.#byKey, this.#byToken]) {
      for (const [key, each] of map) if (each === exchange) map.delete(key);
    }
    this.#open.delete(exchange);
  }

  /** Opens the stream and sends what has waited for one. */
  open(stream: EventStream): void {
    if (this.#stream !== stream) this.#stream?.end();
    this.#stream = stream;
    void this.flush();
  }

  close(stream: EventStream): void {
    if (this.#stream === stream) this.#stream = undefined;
  }

  /** Ends it. */
  end(): void {
    this.#stream?.end();
    this.#stream = undefined;
    for (const exchange of this.#open) exchange.end();
  }

  /** Sends an answer, if the client still waits for it. */
  async answer(keys: readonly string[], message: Uint8Array): Promise<void> {
    const exchange = this.#byKey.get(keys.find((key) => this.#byKey.has(key)) ?? "");
    for (const key of keys) this.#byKey.delete(key);
    await exchange?.answer(keys, message);
  }

  /**
   * Opens a writer for an answer in pieces: for the client waiting under its id, or for the only one waiting if the id
   * has not come. Undefined if no stream can carry it.
   */
  async begin(key: string | undefined): Promise<MessagePieces | undefined> {
    const [only, ...others] = this.#byKey.values();
    if (key === undefined) return others.length === 0 ? only?.begin(undefined) : undefined;
    const exchange = this.#byKey.get(key);
    // The client may have gone.
    return exchange === undefined ? TO_NOBODY : exchange.begin(key);
  }

  /** Notes that an answer in pieces is complete. */
  answered(key: string): void {
    const exchange = this.#byKey.get(key);
    this.#byKey.delete(key);
    exchange?.answered(key);
  }

  /** Sends a message that is not an answer. */
  async message(message: Uint8Array, facts: MessageFacts): Promise<void> {
    const related = this.#byKey.get(facts.key ?? "") ?? this.#byProgress(message, facts);
    if (related !== undefined) return related.message(message);
    const stream = this.#stream;
    if (UNRELATED.test(facts.method) && stream !== undefined) return stream.send(message);
    const latest = [...this.#open].findLast((exchange) => exchange.takesMessages);
    if (latest !== undefined) return latest.message(message);
    if (stream !== undefined) return stream.send(message);
    if (!facts.isShared) this.#wait(message);
    return undefined;
  }

  /** Sends the waiting messages. */
  async flush(): Promise<void> {
    const latest = [...this.#open].findLast((exchange) => exchange.takesMessages);
    if (this.#stream === undefined && latest === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const message of waiting) await (this.#stream?.send(message) ?? latest?.message(message));
  }

  #byProgress(message: Uint8Array, { method }: MessageFacts): PostExchange | undefined {
    if (method !== '"notifications/progress"' || message.length > MAX_PROGRESS) return undefined;
    const { params } = JSON.parse(new TextDecoder().decode(message)) as { params?: { progressToken?: unknown } };
    return this.#byToken.get(JSON.stringify(params?.progressToken ?? null));
  }

  /** Queues a message. The oldest ones are dropped. */
  #wait(message: Uint8Array): void {
    this.#waiting.push(message);
    this.#waitingBytes += message.length;
    while (this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? 0;
      if (this.#waiting.length === 0) this.#waitingBytes = 0;
    }
  }
}

interface MessageRouterDeps {
  /** Normalised ids of its requests. */
  readonly ids: readonly string[];
  readonly isBatch: boolean;
  /** Whether errors have their own status codes (since 2026-07-28). */
  readonly hasStatus: boolean;
  /** Whether a request lacks required metadata, so that its refusal is a transport error. */
  readonly lacksEnvelope: boolean;
  readonly acceptsEvents: boolean;
  readonly headers: Record<string, string>;
  /** Keeps events for a client that resumes. Without it, a client that disconnects has given up. */
  readonly sent: EventHistory | undefined;
  /** Whether streams begin with an event that tells the client how to resume (since 2025-11-25). */
  readonly primes: boolean;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Called once at the end, with the ids that no client waits for any more. */
  readonly onEnd: (left: readonly string[]) => void;
}

/** Milliseconds before a client without an answer gets an event stream. */
const SILENCE = 10_000;

/** The same if the client learns from it how to resume: a connection that breaks before costs it the answer. */
const SHORT_SILENCE = 250;

/** Milliseconds that others wait for a client that does not read. */
const IDLE_TIMEOUT = 30_000;

/** Status codes for error responses (MCP 2026-07-28, Streamable HTTP). */
const STATUS: ReadonlyMap<unknown, number> = new Map([
  [-32_700, 400],
  [-32_600, 400],
  [-32_601, 404],
  [-32_020, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

const JSON_TYPE = { "content-type": "application/json" };

/** Largest answer that may be an error. */
const MAX_ERROR = 64 * 1024;

/** The answers to one POST, and the messages before them. */
export class PostExchange {
  readonly response: Promise<Response>;
  readonly #deps: MessageRouterDeps;
  readonly #left: Set<string>;
  #respond: (response: Response) => void = () => undefined;
  #events: EventStream | undefined;
  /** The only answer, if it is written in pieces. */
  #body: PacedBody | undefined;
  #answers: Uint8Array[] = [];
  #isOver = false;
  readonly #silence: NodeJS.Timeout | undefined;
  /** Runs while the client is disconnected and may resume. */
  #away: NodeJS.Timeout | undefined;

  constructor(deps: MessageRouterDeps) {
    this.#deps = deps;
    this.#left = new Set(deps.ids);
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
    const silence = deps.primes ? SHORT_SILENCE : SILENCE;
    if (deps.acceptsEvents) this.#silence = setTimeout(() => this.#open(), silence).unref();
  }

  /** Ids of its requests. */
  get ids(): readonly string[] {
    return this.#deps.ids;
  }

  /** Whether its client is connected. */
  get isConnected(): boolean {
    return !this.#isOver && this.#events?.isConnected !== false;
  }

  /** Whether it accepts messages that are not answers and belong to no other request. */
  get takesMessages(): boolean {
    return this.#canStream && this.isConnected;
  }

  /** Sends a message that is not an answer. Resolves when more can be sent. */
  async message(message: Uint8Array): Promise<void> {
    if (this.#canStream) await this.#open().send(message);
  }

  /** Sends the answer to one request, or to several as a batch. */
  async answer(ids: readonly string[], message: Uint8Array): Promise<void> {
    if (this.#isOver) return;
    for (const id of ids) this.#left.delete(id);
    if (this.#events === undefined && (this.#left.size === 0 || !this.#deps.acceptsEvents)) this.#answers.push(message);
    else await this.#open().send(message, ids);
    if (this.#left.size === 0) this.#finish();
  }

  /**
   * Opens a writer for an answer in pieces; undefined if that is not possible. `id` is the request's, if known. Only an
   * event stream can go on if the answer turns out to be another's.
   */
  async begin(id: string | undefined): Promise<MessagePieces | undefined> {
    const { acceptsEvents, isBatch } = this.#deps;
    const isOnly = id !== undefined && this.#left.has(id) && this.#left.size === 1 && !isBatch;
    if (this.#isOver) return undefined;
    if (this.#events === undefined && isOnly) return this.#begin();
    return acceptsEvents ? this.#open().begin() : undefined;
  }

  /** Notes that an answer in pieces is complete. */
  answered(id: string): void {
    this.#left.delete(id);
    if (this.#left.size === 0) this.#finish();
  }

  /** Ends it. */
  end(): void {
    this.#finish();
  }

  /** Notes that the client has disconnected. It may resume if it was told how. */
  left(): void {
    if (this.#events === undefined || this.#deps.sent === undefined) this.#finish();
  }

  get #canStream(): boolean {
    return this.#deps.acceptsEvents && !this.#isOver && this.#body === undefined;
  }

  #open(): EventStream {
    if (this.#events === undefined) {
      clearTimeout(this.#silence);
      const { headers, sent, primes, signal } = this.#deps;
      const [onGone, onBack] = [(): void => this.#onGone(), (): void => clearTimeout(this.#away)];
      this.#events = new EventStream({ onGone, onBack, idleTimeout: this.#idleTimeout, sent, primes });
      this.#respond(this.#events.response(headers, signal));
    }
    return this.#events;
  }

  #onGone(): void {
    if (this.#deps.sent === undefined) return this.#finish();
    clearTimeout(this.#away);
    this.#away = setTimeout(() => {
      this.#events?.giveUp();
      this.#finish();
    }, KEPT_FOR).unref();
  }

  #begin(): MessagePieces {
    clearTimeout(this.#silence);
    const body = new PacedBody(() => this.#finish(), this.#idleTimeout);
    this.#body = body;
    this.#respond(new Response(body.stream, { status: 200, headers: { ...JSON_TYPE, ...this.#deps.headers } }));
    return { write: (bytes) => body.write(bytes), end: () => body.end(), fail: () => body.fail() };
  }

  /** Only limited where clients share the server. */
  get #idleTimeout(): number | undefined {
    return this.#deps.hasStatus ? IDLE_TIMEOUT : undefined;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#away);
    // A complete body has ended before.
    if (this.#body !== undefined) this.#body.fail();
    else if (this.#events === undefined) this.#respond(this.#json());
    else this.#events.end();
    this.#deps.onEnd([...this.#left]);
  }

  #json(): Response {
    const { isBatch, headers, hasStatus, lacksEnvelope } = this.#deps;
    const [only, ...more] = this.#answers;
    if (only === undefined) return new Response(null, { status: 202, headers });
    const body = isBatch && only[0] !== 0x5b ? joinBatch([only, ...more]) : only;
    const status = hasStatus ? chooseStatus(only, lacksEnvelope) : 200;
    return new Response(body as BodyInit, { status, headers: { ...JSON_TYPE, ...headers } });
  }
}

function chooseStatus(answer: Uint8Array, lacksEnvelope: boolean): number {
  if (answer.length > MAX_ERROR) return 200;
  const { error } = objectOr(JSON.parse(new TextDecoder().decode(answer)));
  const { code } = objectOr(error);
  return lacksEnvelope && code === RpcCode.invalidParams ? 400 : (STATUS.get(code) ?? 200);
}

/** Largest message that is buffered whole: its receiver cannot be known before its end. */
const MAX_HELD = 64 * 1024 * 1024;

/** Receives an answer in pieces. */
export interface AnswerTaker {
  /** Writes a piece, which `about` has scanned. Resolves when more can be written. */
  write(bytes: Uint8Array, about: JsonRpcScanner): Promise<void>;
  /** Ends the message. */
  end(about: JsonRpcScanner): void;
  /** Abandons the message. */
  fail(): void;
}

interface MessageSides {
  /** Receives a whole message. */
  readonly take: (message: Uint8Array) => Promise<void>;
  /**
   * Finds the receiver of a message of more than MAX_MESSAGE bytes; undefined while it is not known. `isLast`: it
   * cannot be buffered any longer.
   */
  readonly begin: (about: JsonRpcScanner, isLast: boolean) => Promise<AnswerTaker | undefined>;
  /** Called with the id, as JSON text, of an answer without receiver that is too large to buffer. */
  readonly tooLarge: (id: string) => Promise<void>;
}

/** Assembles a server's lines to messages: whole ones, and large ones in pieces. */
export class MessageAssembler implements LineSink {
  readonly #sides: MessageSides;
  #held: Uint8Array[] = [];
  #about = new JsonRpcScanner();
  #taker: AnswerTaker | undefined;

  constructor(sides: MessageSides) {
    this.#sides = sides;
  }

  async forward(bytes: Uint8Array): Promise<void> {
    this.#about.push(bytes);
    if (this.#taker !== undefined) {
      await this.#taker.write(oneLine(bytes), this.#about);
      return;
    }
    const isGivenUp = this.#about.size - bytes.length > MAX_HELD;
    if (isGivenUp) return;
    this.#held.push(bytes);
    if (this.#about.size > MAX_MESSAGE) await this.#spill(this.#about.size > MAX_HELD);
  }

  async complete(): Promise<void> {
    const [held, about, taker] = [this.#held, this.#about, this.#taker];
    this.#reset();
    // A server that ends within a message has not sent it.
    if (!about.isComplete) taker?.fail();
    else if (taker !== undefined) taker.end(about);
    else if (about.size <= MAX_HELD) await this.#sides.take(oneLine(Buffer.concat(held)));
    else await this.#refuse(about);
  }

  /** Discards an incomplete message. */
  drop(): void {
    this.#taker?.fail();
    this.#reset();
  }

  async #spill(isLast: boolean): Promise<void> {
    this.#taker = await this.#sides.begin(this.#about, isLast);
    if (this.#taker === undefined) {
      if (isLast) this.#held = [];
      return;
    }
    for (const bytes of this.#held.splice(0)) await this.#taker.write(oneLine(bytes), this.#about);
  }

  async #refuse(about: JsonRpcScanner): Promise<void> {
    const id = about.text("method") === undefined ? about.text("id") : undefined;
    if (id !== undefined) await this.#sides.tooLarge(id);
  }

  #reset(): void {
    this.#held = [];
    this.#about = new JsonRpcScanner();
    this.#taker = undefined;
  }
}
