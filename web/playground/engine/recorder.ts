/**
 * Records the JSON-RPC messages of a server while they pass: bounded, without credentials, and without changing a byte.
 * `exchanges.ts`, which is loaded when a view shows them, makes requests and answers of them.
 * @module
 */

/** Messages kept of a server; older ones are dropped. */
const MAX_MESSAGES = 400;

/** Bytes kept of a message. */
export const MAX_KEPT: number = 8192;

/** Bytes kept of the answer that introduces a server, which has its instructions. */
const MAX_INTRODUCTION = 65_536;

/** Bytes kept of the end of a longer message, where its id may be. */
const MAX_TAIL = 160;

/** Bytes of a credential that may lie across a limit, and is blotted out before the cut. */
const MAX_SECRET = 4096;

/** Calls that messages are assigned to. */
const MAX_CALLS = 60;

/** One HTTP request and its response. */
export interface RecordedTrip {
  /** The HTTP status, once it is known. */
  status?: number;
  /** Milliseconds since 1970. */
  endedAt?: number;
  /** Why it ended early. */
  failure?: string;
}

/** A message. */
export interface RecordedMessage {
  readonly trip: RecordedTrip;
  readonly isSent: boolean;
  /** When it was complete, in milliseconds since 1970. */
  readonly at: number;
  /** Its beginning. */
  readonly text: string;
  /** Its end, if only its beginning was kept. */
  readonly tail: string;
  /** Bytes of the whole message. */
  readonly size: number;
}

/** A call of a tool, as the page made it. */
export interface RecordedCall {
  readonly id: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly args: unknown;
  readonly from: number;
  to?: number;
}

/** The recorder of one server. */
export class Recorder {
  readonly messages: RecordedMessage[] = [];
  readonly calls: RecordedCall[] = [];
  /** The last `initialize` or `server/discover`, and the answers to it. */
  introduction: RecordedMessage[] = [];
  /** The headers of the last request, for further ones on the same connection. Never shown. */
  headers = new Headers();
  readonly #onMessage: () => void;

  constructor(onMessage: () => void) {
    this.#onMessage = onMessage;
  }

  /** Starts a call; the returned function ends it. */
  call(id: string, tool: string, args: unknown): () => void {
    const call: RecordedCall = { id, tool, args, from: Date.now() };
    if (this.calls.push(call) > MAX_CALLS) this.calls.shift();
    return () => {
      call.to = Date.now();
    };
  }

  /** A `fetch` that records. Requests that are not JSON-RPC, such as those of a sign-in, are not recorded. */
  fetch(inner: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const body = init?.body;
      const isMessage = typeof body === "string" && /"jsonrpc"\s*:/.test(body);
      const headers = new Headers(init?.headers);
      if (!isMessage && !(headers.get("accept") ?? "").startsWith("text/event-stream")) return inner(input, init);
      const trip: RecordedTrip = {};
      const secret = headers.get("authorization")?.replace(/^\S+ +/, "") ?? "";
      let limit = MAX_KEPT;
      if (isMessage) {
        this.headers = headers;
        const sent = new Message(MAX_KEPT);
        sent.add(new TextEncoder().encode(body));
        const { text } = this.#add(sent, trip, true, secret);
        if (/"method"\s*:\s*"(?:initialize|server\/discover)"/.test(text.slice(0, 2000))) limit = MAX_INTRODUCTION;
      }
      const end = (failure?: string): void => {
        trip.endedAt = Date.now();
        if (failure !== undefined) trip.failure = failure;
        this.#onMessage();
      };
      try {
        const response = await inner(input, init);
        trip.status = response.status;
        // The streams of refused GET requests say nothing.
        if (response.body === null || (!isMessage && !response.ok)) {
          end();
          return response;
        }
        const isEvents = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
        const take = (message: Message): void => void this.#add(message, trip, false, secret);
        const tap = isEvents ? new Events(limit, take) : new Whole(limit, take);
        return tapResponse(response, tap, end);
      } catch (error) {
        end(init?.signal?.aborted === true ? "cancelled" : String(error));
        throw error;
      }
    };
  }

  #add(message: Message, trip: RecordedTrip, isSent: boolean, secret: string): RecordedMessage {
    const isIntroduction = this.introduction[0]?.trip === trip;
    const recorded = { trip, isSent, at: Date.now(), ...message.read(secret) };
    if (isSent && /"method"\s*:\s*"(?:initialize|server\/discover)"/.test(recorded.text.slice(0, 2000))) {
      this.introduction = [recorded];
    } else if (isIntroduction && this.introduction.length < 4) this.introduction.push(recorded);
    if (this.messages.push(recorded) > MAX_MESSAGES) this.messages.shift();
    this.#onMessage();
    return recorded;
  }
}

/** The beginning and the end of a message while it arrives. */
class Message {
  size = 0;
  readonly #limit: number;
  readonly #kept: Uint8Array[] = [];
  #room: number;
  #tail: Uint8Array = new Uint8Array();

  constructor(limit: number) {
    this.#limit = limit;
    this.#room = limit + MAX_SECRET;
  }

  add(bytes: Uint8Array): void {
    this.size += bytes.length;
    if (this.#room > 0) {
      const kept = bytes.slice(0, this.#room);
      this.#kept.push(kept);
      this.#room -= kept.length;
    }
    const most = MAX_TAIL + MAX_SECRET;
    const end = bytes.subarray(-most);
    const before = this.#tail.subarray(Math.max(0, this.#tail.length + end.length - most));
    const tail = new Uint8Array(before.length + end.length);
    tail.set(before);
    tail.set(end, before.length);
    this.#tail = tail;
  }

  read(secret: string): Pick<RecordedMessage, "text" | "tail" | "size"> {
    const decoder = new TextDecoder();
    const text = this.#kept.map((bytes) => decoder.decode(bytes, { stream: true })).join("");
    const hideSecret = (all: string): string => (secret === "" ? all : all.replaceAll(secret, "•••"));
    const kept = new TextEncoder().encode(hideSecret(text)).subarray(0, this.#limit);
    const tail = this.size > this.#limit ? new TextDecoder().decode(this.#tail) : "";
    // A new decoder drops a character that lies across the limit.
    return {
      text: new TextDecoder().decode(kept, { stream: true }),
      tail: hideSecret(tail).slice(-MAX_TAIL),
      size: this.size,
    };
  }
}

/** Looks at bytes that pass. */
interface Tap {
  see(bytes: Uint8Array): void;
  end(): void;
}

/** A body that is one message. */
class Whole implements Tap {
  readonly #message: Message;
  readonly #take: (message: Message) => void;

  constructor(limit: number, take: (message: Message) => void) {
    this.#message = new Message(limit);
    this.#take = take;
  }

  see(bytes: Uint8Array): void {
    this.#message.add(bytes);
  }

  end(): void {
    if (this.#message.size > 0) this.#take(this.#message);
  }
}

const LF = 10;
const CR = 13;
const DATA = [...new TextEncoder().encode("data:")];

/** A body of server-sent events: the data of each is a message (HTML, "Interpreting an event stream"). */
class Events implements Tap {
  readonly #limit: number;
  readonly #take: (message: Message) => void;
  #message: Message;
  /** The first bytes of the current line; its data is what follows `data:`. */
  #at = 0;
  #isData = true;
  #wasReturn = false;

  constructor(limit: number, take: (message: Message) => void) {
    this.#limit = limit;
    this.#take = take;
    this.#message = new Message(limit);
  }

  see(bytes: Uint8Array): void {
    let from = 0;
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index];
      const isEnd = byte === LF || byte === CR;
      if (isEnd) {
        this.#part(bytes.subarray(from, index));
        // The second byte of CR LF ends no line of its own.
        if (byte === CR || !this.#wasReturn) this.#line();
        from = index + 1;
      } else if (this.#at < DATA.length) {
        this.#isData &&= byte === DATA[this.#at];
        this.#at += 1;
        from = index + 1;
      } else if (this.#at === DATA.length) {
        // One space after the colon is no data.
        this.#at += 1;
        if (byte === 32) from = index + 1;
      }
      this.#wasReturn = byte === CR;
    }
    this.#part(bytes.subarray(from));
  }

  /** An event that the stream breaks off is none. */
  end(): void {
    this.#message = new Message(this.#limit);
  }

  #part(bytes: Uint8Array): void {
    if (bytes.length > 0 && this.#isData && this.#at >= DATA.length) this.#message.add(bytes);
  }

  #line(): void {
    const isEmpty = this.#at === 0;
    this.#at = 0;
    this.#isData = true;
    if (!isEmpty || this.#message.size === 0) return;
    this.#take(this.#message);
    this.#message = new Message(this.#limit);
  }
}

/** The same response, whose bytes are looked at when they are read. */
function tapResponse(response: Response, tap: Tap, end: (failure?: string) => void): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            tap.end();
            end();
            return controller.close();
          }
          tap.see(value);
          controller.enqueue(value);
        } catch (error) {
          end(String(error));
          throw error;
        }
      },
      async cancel(reason) {
        end("cancelled");
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const same = new Response(body, response);
  return Object.defineProperty(same, "url", { value: response.url });
}
