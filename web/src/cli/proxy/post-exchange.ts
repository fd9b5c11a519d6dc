/**
 * What one POST of a client's is answered with: JSON where the answers are all there is, else a stream of events.
 * @module
 */
import { objectOr, RpcCode } from "../../mcp/rpc.js";
import { EventStream, type MessagePieces } from "./event-stream.js";
import { PacedBody } from "./paced-body.js";

/** What is known of a POST. */
export interface PostTerms {
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

function batchOf(answers: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return `[${answers.map((answer) => decoder.decode(answer)).join(",")}]`;
}

function statusOf(answer: Uint8Array, lacksEnvelope: boolean): number {
  if (answer.length > MAX_ERROR) return 200;
  const { error } = objectOr(JSON.parse(new TextDecoder().decode(answer)));
  const { code } = objectOr(error);
  return lacksEnvelope && code === RpcCode.invalidParams ? 400 : (STATUS.get(code) ?? 200);
}
