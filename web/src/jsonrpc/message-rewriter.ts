/**
 * Rewrites one message from a server to a client: buffers a small one, streams a large one through the gate.
 * @module
 */
import type { GatedResult, Sluice, SluiceStream, Transformed, TransformOptions } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { copyBytes, decodePieces } from "./bytes.js";
import { MAX_HEAD, MAX_MESSAGE } from "./limits.js";
import { JsonRpcScanner } from "./json-rpc-scanner.js";
import { objectOr, tryParse } from "./rpc.js";

/** Longest error whose code is read, in bytes. */
const MAX_ERROR = 65_536;

/** What to do with a message. */
export type MessageAction =
  /** Forward it unchanged; reduce it if it is too large. */
  | { readonly kind: "pass" }
  /** Forward it unchanged, whatever its size. */
  | { readonly kind: "raw" }
  /** Buffer it whole and rewrite it. Undefined leaves it unchanged. A message whose edit throws is not forwarded. */
  | { readonly kind: "edit"; readonly edit: MessageEdit }
  | GateAction;

/** Rewrites a whole message, as JSON text. Undefined leaves it unchanged. */
type MessageEdit = (message: string) => string | undefined | Promise<string | undefined>;

/** Send one member's value through the gate. */
interface GateAction {
  readonly kind: "gate";
  readonly member: string;
  readonly options: TransformOptions;
  /**
   * Returns what replaces the value, once the whole message is known. It owns the result and must dispose of it.
   * Defaults to the gate's own answer.
   */
  readonly answer?: (gated: GatedResult) => Promise<GateAnswer>;
  /** Rewrites the message that it stands in, unless the original is sent instead. */
  readonly edit?: MessageEdit;
}

/** What replaces a value. */
export interface GateAnswer {
  /** JSON text. */
  readonly text: string;
  /** Sent instead of `text`: JSON of any length, for a value that is forwarded unchanged after all. */
  readonly original?: AsyncIterable<Uint8Array>;
  /** The gate's result, if it is to be reported. */
  readonly reduced?: Transformed;
}

/** Decides what to do with messages. */
export interface MessagePolicy {
  /**
   * Called as soon as something is known, and again when more is. `isWhole`: nothing more will come. Undefined: not
   * decided yet.
   */
  decide(message: JsonRpcScanner, isWhole: boolean): MessageAction | undefined;
  /** Options to reduce any message that is too large. */
  readonly fallback: TransformOptions;
  /** Rewrites a message that was too large, once it is reduced. */
  readonly finish?: MessageEdit;
}

/** Writes bytes of a message. Resolves when more can be written. */
export type ByteSink = (bytes: Uint8Array) => Promise<void>;

/** What happened to a message. */
export interface MessageOutcome {
  /** JSON text of its id, where it has one. */
  readonly id: string | undefined;
  /** Whether it answers the request with that id. */
  readonly isResponse: boolean;
  /** What the gate made of it, where it went through. */
  readonly reduced?: Transformed;
  /** JSON text of the code, if it is an error. Empty if that is not known. */
  readonly errorCode?: string;
}

/**
 * Rewrites one message. Unless the action is `raw`, nothing reaches the sink before the message is complete, and the
 * sink gets either a whole message or nothing, in which case `end` rejects.
 */
export class MessageRewriter implements AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #policy: MessagePolicy;
  readonly #sink: ByteSink;
  readonly #members = new JsonRpcScanner();
  #action: MessageAction | undefined;
  #buffered: Uint8Array[] = [];
  #bufferedSize = 0;
  #gated: GatedValue | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(sluice: Sluice, policy: MessagePolicy, sink: ByteSink) {
    this.#sluice = sluice;
    this.#policy = policy;
    this.#sink = sink;
  }

  /** What is known of the message. */
  get members(): JsonRpcScanner {
    return this.#members;
  }

  /** Takes bytes, whose memory may be reused once this has settled. Never throws; `end` does. */
  async write(bytes: Uint8Array): Promise<void> {
    const at = this.#members.size;
    this.#members.push(bytes);
    if (this.#failure !== undefined) return;
    try {
      if (this.#gated !== undefined) await this.#gated.write(bytes, at);
      else if (this.#action?.kind === "raw") await this.#sink(copyBytes(bytes));
      else await this.#buffer(copyBytes(bytes));
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Ends the message. Throws the reason if it was not forwarded; E_JSON_… if it is not a message. */
  async end(): Promise<MessageOutcome> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { fault } = this.#members;
    if (fault !== undefined && this.#action?.kind !== "raw") {
      throw new SluiceError("E_JSON_SYNTAX", `the message is not JSON-RPC: ${fault}`);
    }
    if (this.#gated === undefined) this.#settle();
    else if (!this.#gated.holdsResult) throw tooLarge();
    const { isResponse } = this.#members;
    const errorCode = isResponse && this.#members.member("error") !== undefined ? this.#errorCode() : undefined;
    const reduced = await this.#finish();
    return {
      id: this.#members.text("id"),
      isResponse,
      ...(reduced !== undefined && { reduced }),
      ...(errorCode !== undefined && { errorCode }),
    };
  }

  /** Errors are short: of others the code is not looked for. */
  #errorCode(): string {
    if (this.#members.size > MAX_ERROR || this.#bufferedSize < this.#members.size) return "";
    const { error } = objectOr(tryParse(decodePieces(this.#buffered)));
    const { code } = objectOr(error);
    return typeof code === "number" ? String(code) : "";
  }

  /** Discards unfinished work. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#buffered = [];
    await this.#gated?.[Symbol.asyncDispose]();
  }

  async #buffer(bytes: Uint8Array): Promise<void> {
    this.#buffered.push(bytes);
    this.#bufferedSize += bytes.length;
    if (this.#bufferedSize <= MAX_HEAD) return;
    this.#action ??= this.#policy.decide(this.#members, false);
    if (this.#bufferedSize > MAX_MESSAGE) this.#action = this.#reduceAction(this.#action);
    await this.#follow();
  }

  /** The action for a message that is too large to forward: reduce its largest member. */
  #reduceAction(action: MessageAction | undefined): MessageAction {
    const { largest } = this.#members;
    // A reference is no substitute for a list.
    if (largest === undefined || action?.kind === "edit") throw tooLarge();
    const isReduced = action?.kind === "gate" && action.member.split(".", 1)[0] === largest;
    if (isReduced || action?.kind === "raw") return action;
    const { fallback, finish } = this.#policy;
    return { kind: "gate", member: largest, options: fallback, ...(finish !== undefined && { edit: finish }) };
  }

  /** Does what the action allows before the end. */
  async #follow(): Promise<void> {
    const action = this.#action;
    if (action?.kind === "raw") await this.#flush();
    if (action?.kind !== "gate" || this.#gated !== undefined) return;
    const member = this.#members.member(action.member);
    if (member === undefined) return;
    await this.#gate(action);
    this.#buffered = [];
    this.#bufferedSize = 0;
  }

  /** Sends the buffered bytes through the gate. */
  async #gate(action: GateAction): Promise<void> {
    this.#gated = new GatedValue(this.#sluice, this.#members, action);
    let at = 0;
    for (const bytes of this.#buffered) {
      await this.#gated.write(bytes, at);
      at += bytes.length;
    }
  }

  /**
   * Decides at the end, when everything is known: a message that was passed may have turned out to be a response, and an answer whose result
   * was to be gated may be an error.
   */
  #settle(): void {
    const action = this.#action;
    const isMissing = action?.kind === "gate" && this.#members.member(action.member) === undefined;
    if (action !== undefined && action.kind !== "pass" && !isMissing) return;
    this.#action = this.#policy.decide(this.#members, true) ?? { kind: "pass" };
  }

  async #finish(): Promise<Transformed | undefined> {
    const action = this.#action;
    if (action?.kind === "gate" && this.#gated === undefined) {
      if (this.#members.member(action.member)?.end !== undefined) await this.#gate(action);
    }
    if (this.#gated !== undefined) {
      const { pieces, reduced, isChanged, isOriginal } = await this.#gated.close();
      // An unchanged message goes on as it came, if it is still buffered.
      if (!isChanged && this.#buffered.length > 0) await this.#flushEdited(action);
      else if (isOriginal || action?.kind !== "gate" || action.edit === undefined) {
        for await (const piece of pieces) await this.#sink(piece);
      } else {
        this.#buffered = [];
        for await (const piece of pieces) this.#buffered.push(piece);
        await this.#flushEdited(action);
      }
      return reduced;
    }
    await this.#flushEdited(action);
    return undefined;
  }

  /** Sends what is buffered, which is the whole message, as the action's edit leaves it. */
  async #flushEdited(action: MessageAction | undefined): Promise<void> {
    if (action?.kind === "edit" || (action?.kind === "gate" && action.edit !== undefined)) {
      const message = decodePieces(this.#buffered);
      const edited = await action.edit?.(message);
      if (edited !== undefined && edited !== message) {
        this.#buffered = [];
        await this.#sink(checkSize(new TextEncoder().encode(edited)));
        return;
      }
    }
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const held = this.#buffered;
    this.#buffered = [];
    this.#bufferedSize = 0;
    for (const bytes of held) await this.#sink(bytes);
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = { error };
    await this[Symbol.asyncDispose]();
    this.#gated = undefined;
  }
}

/** The result of a message with a gated value. */
interface GatedMessage {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly reduced: Transformed | undefined;
  /** Whether it differs from the original. */
  readonly isChanged: boolean;
  /** Whether it is sent as the server sent it. */
  readonly isOriginal: boolean;
}

/** A message with one member's value sent through the gate and the rest kept as text. */
class GatedValue implements AsyncDisposable {
  readonly #stream: SluiceStream;
  readonly #members: JsonRpcScanner;
  readonly #action: GateAction;
  readonly #before: Uint8Array[] = [];
  readonly #behind: Uint8Array[] = [];
  #kept = 0;

  constructor(sluice: Sluice, members: JsonRpcScanner, action: GateAction) {
    this.#stream = sluice.open(action.options);
    this.#members = members;
    this.#action = action;
  }

  /** Whether the gated member is the result, if there is one. */
  get holdsResult(): boolean {
    return this.#action.member.split(".", 1)[0] === "result" || this.#members.member("result") === undefined;
  }

  /** Takes bytes at offset `at` of the message. `members` has seen them. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    const { start, end = Infinity } = this.#members.member(this.#action.member) as { start: number; end?: number };
    const from = Math.min(bytes.length, Math.max(0, start - at));
    const to = Math.min(bytes.length, Math.max(from, end - at));
    this.#keep(this.#before, bytes.subarray(0, from));
    if (to > from)
      await this.#stream.write(bytes.subarray(from, to)).catch((error: unknown) => this.#throwAt(error, start));
    this.#keep(this.#behind, bytes.subarray(to));
  }

  async close(): Promise<GatedMessage> {
    const { answer = defaultAnswer } = this.#action;
    const { start } = this.#members.member(this.#action.member) as { start: number };
    const result = await this.#stream.end().catch((error: unknown) => this.#throwAt(error, start));
    const { text, original, reduced } = await answer(result);
    const value = new TextEncoder().encode(text);
    if (original === undefined && value.length + this.#kept > MAX_MESSAGE) throw tooLarge();
    const isChanged = reduced === undefined || reduced.changed || text !== reduced.text;
    return { pieces: this.#around(original ?? [value]), reduced, isChanged, isOriginal: original !== undefined };
  }

  /** Throws a fault of the value with its place in the message, which is one line and begins in ASCII. */
  #throwAt(error: unknown, start: number): never {
    if (!(error instanceof SluiceError) || error.line === undefined) throw error;
    const { code, message, line, column = 1 } = error;
    const place = { line, column: line === 1 ? column + start : column };
    throw new SluiceError(code, message, place, { cause: error });
  }

  async *#around(value: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* this.#before;
    yield* value;
    yield* this.#behind;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stream[Symbol.asyncDispose]();
  }

  #keep(pieces: Uint8Array[], bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#kept += bytes.length;
    if (this.#kept > MAX_MESSAGE) throw tooLarge();
    pieces.push(copyBytes(bytes));
  }
}

async function defaultAnswer(result: GatedResult): Promise<GateAnswer> {
  await using gated = result;
  const reduced = await gated.answer();
  return { text: reduced.text, reduced };
}

function checkSize(message: Uint8Array): Uint8Array {
  if (message.length > MAX_MESSAGE) throw tooLarge();
  return message;
}

function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `the message is larger than ${MAX_MESSAGE / 1024 / 1024} MiB even without the stored content: ask for less at a time`,
  );
}
