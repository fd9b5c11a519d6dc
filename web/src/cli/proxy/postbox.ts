/**
 * Who of a client's open requests gets what its server sends, and what each is answered with: JSON where the answers are
 * all there is, else a stream of events.
 * @module
 */
import { batchOf } from "../../mcp/client-request.js";
import { objectOr, RpcCode } from "../../mcp/rpc.js";
import { EventStream, PacedBody, type MessagePieces } from "./event-stream.js";

/** Messages that wait until somebody can take them. */
const MAX_WAITING = 256;

/** Bytes of them. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Messages that belong to no request. */
const UNRELATED = /^"notifications\/(?:\w+\/list_changed|resources\/updated|tasks\/status|tasks)"$/;

/** Larger messages are not looked into. */
const MAX_PROGRESS = 64 * 1024;

const TO_NOBODY: MessagePieces = { write: async () => undefined, end: () => undefined, fail: () => undefined };

interface MessageFacts {
  /** JSON text. */
  readonly method: string;
  /** The request that it belongs to, where that is known. */
  readonly key: string | undefined;
  /** Whether several clients share the server: what belongs to nobody may be anybody's. */
  readonly isShared: boolean;
}

/** Open exchanges by request, and the stream of what belongs to none. */
export class Postbox {
  readonly #byKey = new Map<string, PostExchange>();
  readonly #byToken = new Map<string, PostExchange>();
  /** The latest one last. */
  readonly #open = new Set<PostExchange>();
  #stream: EventStream | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#stream === undefined;
  }

  /** Requests that wait for an answer. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
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

  /** Opens the stream, and sends what has waited for one. */
  open(stream: EventStream): void {
    this.#stream?.end();
    this.#stream = stream;
    void this.flush();
  }

  close(stream: EventStream): void {
    if (this.#stream === stream) this.#stream = undefined;
  }

  /** Nothing more comes. */
  end(): void {
    this.#stream?.end();
    this.#stream = undefined;
    for (const exchange of this.#open) exchange.end();
  }

  /** Sends the answer to requests, if somebody still waits for them. */
  async answer(keys: readonly string[], message: Uint8Array): Promise<void> {
    const exchange = this.#byKey.get(keys.find((key) => this.#byKey.has(key)) ?? "");
    for (const key of keys) this.#byKey.delete(key);
    await exchange?.answer(keys, message);
  }

  /**
   * Finds who takes an answer in pieces: whoever waits under its id, or the only one who waits at all where the id has not
   * come. Undefined where there is nobody who can.
   */
  async begin(key: string | undefined): Promise<MessagePieces | undefined> {
    const [only, ...others] = this.#byKey.values();
    if (key === undefined) return others.length === 0 ? only?.begin(undefined) : undefined;
    const exchange = this.#byKey.get(key);
    // Who waited may have gone.
    return exchange === undefined ? TO_NOBODY : exchange.begin(key);
  }

  /** An answer that came in pieces is complete. */
  answered(key: string): void {
    const exchange = this.#byKey.get(key);
    this.#byKey.delete(key);
    exchange?.answered(key);
  }

  /** Sends a message that is no answer. */
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

  /** Sends what has waited. */
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

  /** The oldest ones give way. */
  #wait(message: Uint8Array): void {
    this.#waiting.push(message);
    this.#waitingBytes += message.length;
    while (this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? 0;
      if (this.#waiting.length === 0) this.#waitingBytes = 0;
    }
  }
}

interface PostTerms {
  /** Ids of its requests, in one spelling each. */
  readonly ids: readonly string[];
  readonly isBatch: boolean;
  /** Whether errors have a status of their own (since 2026-07-28). */
  readonly hasStatus: boolean;
  /** Whether a request lacks what each has to say of itself; its refusal is then one of the transport's. */
  readonly lacksEnvelope: boolean;
  readonly acceptsEvents: boolean;
  readonly headers: Record<string, string>;
  /** Called once, when nothing more comes: with the ids that nobody waits for any more. */
  readonly onEnd: (left: readonly string[]) => void;
}

/** How long, in milliseconds, a client is left without a response. */
const SILENCE = 10_000;

/** How long, in milliseconds, others wait for a client that does not read. */
const PATIENCE = 30_000;

/** The status of a response that is an error alone (MCP 2026-07-28, Streamable HTTP). */
const STATUS: ReadonlyMap<unknown, number> = new Map([
  [-32_700, 400],
  [-32_600, 400],
  [-32_601, 404],
  [-32_020, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

const JSON_TYPE = { "content-type": "application/json" };

/** Answers to larger messages are no errors. */
const MAX_ERROR = 64 * 1024;

/** The answers to one POST, and what comes before them. */
export class PostExchange {
  readonly response: Promise<Response>;
  readonly #terms: PostTerms;
  readonly #left: Set<string>;
  #respond: (response: Response) => void = () => undefined;
  #events: EventStream | undefined;
  /** The one answer, where it is written in pieces. */
  #body: PacedBody | undefined;
  #answers: Uint8Array[] = [];
  #isOver = false;
  readonly #silence: NodeJS.Timeout | undefined;

  constructor(terms: PostTerms) {
    this.#terms = terms;
    this.#left = new Set(terms.ids);
    this.response = new Promise((resolve) => {
      this.#respond = resolve;
    });
    if (terms.acceptsEvents) this.#silence = setTimeout(() => this.#open(), SILENCE).unref();
  }

  /** Ids of its requests. */
  get ids(): readonly string[] {
    return this.#terms.ids;
  }

  /** Whether messages can be sent here that are no answers. */
  get takesMessages(): boolean {
    return this.#terms.acceptsEvents && !this.#isOver && this.#body === undefined;
  }

  /** Sends a message that is no answer; settles when more can be taken. */
  async message(message: Uint8Array): Promise<void> {
    if (this.takesMessages) await this.#open().send(message);
  }

  /** Sends the answer to one of the requests, or to several as a batch. */
  async answer(ids: readonly string[], message: Uint8Array): Promise<void> {
    if (this.#isOver) return;
    for (const id of ids) this.#left.delete(id);
    if (this.#events === undefined && (this.#left.size === 0 || !this.#terms.acceptsEvents))
      this.#answers.push(message);
    else await this.#open().send(message);
    if (this.#left.size === 0) this.#finish();
  }

  /**
   * Takes an answer in pieces; undefined where that is not possible. `id` is the request's, where it is known: only an
   * event stream can go on when the answer turns out to be another's.
   */
  async begin(id: string | undefined): Promise<MessagePieces | undefined> {
    const { acceptsEvents, isBatch } = this.#terms;
    const isOnly = id !== undefined && this.#left.has(id) && this.#left.size === 1 && !isBatch;
    if (this.#isOver) return undefined;
    if (this.#events === undefined && isOnly) return this.#begin();
    return acceptsEvents ? this.#open().begin() : undefined;
  }

  /** An answer that came in pieces is complete. */
  answered(id: string): void {
    this.#left.delete(id);
    if (this.#left.size === 0) this.#finish();
  }

  /** The client has gone, or nothing more comes. */
  end(): void {
    this.#finish();
  }

  #open(): EventStream {
    if (this.#events === undefined) {
      this.#events = new EventStream(() => this.#finish(), this.#patience);
      this.#respond(this.#events.response(this.#terms.headers));
    }
    return this.#events;
  }

  #begin(): MessagePieces {
    clearTimeout(this.#silence);
    const body = new PacedBody(() => this.#finish(), this.#patience);
    this.#body = body;
    this.#respond(new Response(body.stream, { status: 200, headers: { ...JSON_TYPE, ...this.#terms.headers } }));
    return { write: (bytes) => body.write(bytes), end: () => body.end(), fail: () => body.fail() };
  }

  /** Where there are no sessions, others share the server. */
  get #patience(): number | undefined {
    return this.#terms.hasStatus ? PATIENCE : undefined;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    // A body that was complete has ended before.
    if (this.#body !== undefined) this.#body.fail();
    else if (this.#events === undefined) this.#respond(this.#json());
    else this.#events.end();
    this.#terms.onEnd([...this.#left]);
  }

  #json(): Response {
    const { isBatch, headers, hasStatus, lacksEnvelope } = this.#terms;
    const [only, ...more] = this.#answers;
    if (only === undefined) return new Response(null, { status: 202, headers });
    const body = isBatch && only[0] !== 0x5b ? batchOf([only, ...more]) : only;
    const status = hasStatus ? statusOf(only, lacksEnvelope) : 200;
    return new Response(body as BodyInit, { status, headers: { ...JSON_TYPE, ...headers } });
  }
}

function statusOf(answer: Uint8Array, lacksEnvelope: boolean): number {
  if (answer.length > MAX_ERROR) return 200;
  const { error } = objectOr(JSON.parse(new TextDecoder().decode(answer)));
  const { code } = objectOr(error);
  return lacksEnvelope && code === RpcCode.invalidParams ? 400 : (STATUS.get(code) ?? 200);
}
