/**
 * Who of a client's open requests gets what its server sends.
 * @module
 */
import type { EventStream, MessagePieces } from "./event-stream.js";
import type { PostExchange } from "./post-exchange.js";

/** Messages that wait until somebody can take them. */
const MAX_WAITING = 256;

/** Bytes of them. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Messages that belong to no request. */
const UNRELATED = /^"notifications\/(?:\w+\/list_changed|resources\/updated|tasks\/status|tasks)"$/;

/** Larger messages are not looked into. */
const MAX_PROGRESS = 64 * 1024;

const TO_NOBODY: MessagePieces = { write: async () => undefined, end: () => undefined, fail: () => undefined };

/** What is known of a message. */
export interface MessageFacts {
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
