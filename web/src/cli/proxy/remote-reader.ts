/**
 * Responses of a server at an address, on their way to a client's lines.
 * @module
 */
import { setTimeout } from "node:timers/promises";
import type { Doorway, MessageTaker } from "../../mcp/doorway.js";
import { objectOr, parsedOr, stringOr } from "../../mcp/rpc.js";
import { MAX_MESSAGE } from "../../transports/limits.js";
import type { LineWriter } from "../../transports/line-writer.js";
import { EventStreamGate, type OpenIncoming } from "../../transports/sse.js";
import { oneLine } from "./message-lane.js";
import { refusalIn, saying, type Refusal, type RemoteConnection } from "./remote-connection.js";

interface RemoteReaderTerms {
  readonly door: Doorway;
  readonly client: LineWriter;
  readonly connection: RemoteConnection;
  /** Sends the server what it gets in place of an answer. */
  readonly reply: (text: string) => void;
}

interface Asked {
  /** JSON texts. */
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  /** Whether it is `initialize`. */
  readonly isOpening: boolean;
}

/** Milliseconds before a stream that broke off is asked for again, where the server says nothing of it. */
const RETRY = 1000;
const SHORTEST = 10;
const LONGEST = 30_000;

/** How often in a row it may fail. */
const MAX_FAILURES = 5;

const BROKEN = "The server's answer broke off before it was complete.";

/** Reads responses, several at a time. */
export class RemoteReader {
  readonly #terms: RemoteReaderTerms;

  constructor(terms: RemoteReaderTerms) {
    this.#terms = terms;
  }

  /** Passes on what a response says; gives what those are told who were not answered, if there are any. */
  async read(response: Response, asked: Asked): Promise<Refusal | undefined> {
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && response.body !== null) {
      if (/^text\/event-stream\b/i.test(type)) return this.#follow(response, asked);
      if (/^application\/json\b/i.test(type)) return this.#whole(response.body, asked);
    }
    return refusalIn(response, { inSession: this.#terms.connection.session !== undefined });
  }

  /** Reads what belongs to no request, as long as the session lasts. Never throws. */
  async listen(): Promise<void> {
    const { connection } = this.#terms;
    const { session } = connection;
    const ever: Asked = { ids: [], signal: connection.signal, isOpening: false };
    const place: Place = { id: undefined, retry: undefined };
    for (let failures = 0; connection.session === session && !connection.signal.aborted;) {
      const response = await connection.get(place.id).catch(() => undefined);
      // Servers that have no such stream say so.
      if (response !== undefined && response.status >= 400 && response.status < 500) return;
      if (response !== undefined && isEvents(response)) {
        failures = 0;
        await this.#events(response, ever, place);
      } else {
        failures += 1;
      }
      await response?.body?.cancel().catch(() => undefined);
      await pause(place.retry ?? RETRY * 2 ** failures, connection.signal);
    }
  }

  /** Reads a stream, and goes on with it where it breaks off before the answers came. */
  async #follow(first: Response, asked: Asked): Promise<Refusal | undefined> {
    const { door, connection } = this.#terms;
    const place: Place = { id: undefined, retry: undefined };
    let response: Response | undefined = first;
    for (let failures = 0; failures <= MAX_FAILURES;) {
      const before = place.id;
      if (response !== undefined && isEvents(response)) await this.#events(response, asked, place);
      if (!asked.ids.some((id) => door.isWaiting(id))) return undefined;
      if (place.id === undefined || asked.signal.aborted || connection.signal.aborted) return saying(BROKEN);
      failures = place.id === before ? failures + 1 : 0;
      await pause(place.retry ?? RETRY * 2 ** failures, asked.signal);
      response = await connection.get(place.id, asked.signal).catch(() => undefined);
    }
    return saying(BROKEN);
  }

  async #whole(body: ReadableStream<Uint8Array>, asked: Asked): Promise<Refusal | undefined> {
    await using taker = this.#open(asked);
    try {
      for await (const chunk of body) await taker.write(chunk);
    } catch (error) {
      if (asked.signal.aborted) throw error;
      return saying(BROKEN);
    }
    await taker.end();
    return saying("The server's response carries no answer.");
  }

  /** Reads a stream to its end, however it ends. */
  async #events(response: Response, asked: Asked, place: Place): Promise<void> {
    await using events = new RemoteEvents(() => this.#open(asked));
    try {
      for await (const chunk of response.body ?? []) await events.write(chunk);
    } catch {
      // It is asked for again, if that can be.
    }
    place.id = events.lastEventId ?? place.id;
    place.retry = events.retry ?? place.retry;
  }

  /** The way of one message to the client. */
  #open({ isOpening }: Asked): MessageTaker {
    const { door, client, connection, reply } = this.#terms;
    const lane = client.lane(MAX_MESSAGE);
    const opening: Uint8Array[] = [];
    const outlet = {
      forward: async (bytes: Uint8Array): Promise<void> => {
        if (isOpening) opening.push(bytes);
        await lane.forward(oneLine(bytes));
      },
      complete: async (): Promise<void> => {
        const version = versionIn(opening);
        if (version !== undefined) connection.agree(version);
        await lane.complete();
      },
      // What is no message has no place among them.
      stray: async (): Promise<void> => undefined,
    };
    const taker = door.fromServer(outlet, reply);
    return {
      write: (bytes) => taker.write(bytes),
      end: () => taker.end(),
      [Symbol.asyncDispose]: async () => {
        await taker[Symbol.asyncDispose]();
        // What broke off is not sent, or ended where its beginning was, so that others can be written.
        await lane.drop().catch(() => undefined);
      },
    };
  }
}

/** Where a stream is to be gone on with. */
interface Place {
  id: string | undefined;
  retry: number | undefined;
}

function isEvents(response: Response): boolean {
  return response.ok && /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

/** What an answer to `initialize` agrees to. */
function versionIn(pieces: readonly Uint8Array[]): string | undefined {
  const { result } = objectOr(parsedOr(Buffer.concat(pieces).toString()));
  const version = stringOr(objectOr(result)["protocolVersion"]);
  return version !== undefined && /^[\w.-]{1,32}$/.test(version) ? version : undefined;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return waited(Math.min(LONGEST, Math.max(SHORTEST, milliseconds)), signal);
}

/** Settles early when the signal is aborted. */
export async function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Longer lines are none that matter here. */
const MAX_LINE = 8 * 1024;

const LF = 0x0a;

/** An event stream, read for its messages, which go where `open` says, and for where to go on reading. */
export class RemoteEvents implements AsyncDisposable {
  /** What to ask for, to get what comes after the events so far. */
  lastEventId: string | undefined;
  /** How long the server wants to be left alone before, in milliseconds. */
  retry: number | undefined;
  readonly #gate: EventStreamGate;
  #line: Uint8Array[] = [];
  #size = 0;
  #id: string | undefined;

  constructor(open: () => ReturnType<OpenIncoming>) {
    this.#gate = new EventStreamGate(open, async (bytes) => this.#take(bytes));
  }

  /** Bytes that must not be written over. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#gate.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gate[Symbol.asyncDispose]();
  }

  /** Lines that are no data, in pieces. */
  #take(bytes: Uint8Array): void {
    if (bytes.length === 1 && bytes[0] === LF) {
      this.#end();
      return;
    }
    this.#size += bytes.length;
    if (this.#size <= MAX_LINE) this.#line.push(bytes);
  }

  #end(): void {
    const line = this.#size > MAX_LINE ? "" : Buffer.concat(this.#line).toString();
    const isBlank = this.#size === 0;
    this.#line = [];
    this.#size = 0;
    // Only an event that was dispatched is one that need not come again.
    if (isBlank) this.lastEventId = this.#id ?? this.lastEventId;
    const [, field, value = ""] = /^(id|retry)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "id" && isHeaderValue(value)) this.#id = value === "" ? undefined : value;
    if (field === "retry" && /^\d{1,9}$/.test(value)) this.retry = Number(value);
  }
}

/** What could not be asked for in a header is as good as none. */
function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}
