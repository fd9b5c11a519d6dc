/**
 * An event stream of a server, read for its messages and for where to go on reading.
 * @module
 */
import { EventStreamGate, type OpenIncoming } from "../../transports/sse.js";

/** Longer lines are none that matter here. */
const MAX_LINE = 8 * 1024;

const LF = 0x0a;

/** Takes the bytes of one stream; messages go where `open` says. */
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
