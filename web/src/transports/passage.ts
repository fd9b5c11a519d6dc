/**
 * One message on its way from a server to a client: held while it is small, gated while it arrives when it is not.
 * @module
 */
import type { GatedResult, Sluice, SluiceStream, Transformed, TransformOptions } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { textOf } from "./bytes.js";
import { MAX_HEAD, MAX_MESSAGE } from "./limits.js";
import { MessageMembers } from "./members.js";

/** What becomes of a message. */
export type Course =
  /** It goes on as it came; one that is too large is reduced. */
  | { readonly kind: "pass" }
  /** It goes on as it came, whatever its size. */
  | { readonly kind: "raw" }
  /** It is held whole, and rewritten; undefined leaves it as it is. */
  | { readonly kind: "edit"; readonly edit: (message: string) => string | undefined | Promise<string | undefined> }
  | GateCourse;

/** A member's value goes through the gate. */
interface GateCourse {
  readonly kind: "gate";
  readonly member: string;
  readonly options: TransformOptions;
  /**
   * Says, once the whole message is known, what is sent in the place of the value; the result is then whose it was given to, to
   * be disposed of. The ordinary answer where left out.
   */
  readonly answer?: (gated: GatedResult) => Promise<GateAnswer>;
}

/** What is sent in the place of a value. */
export interface GateAnswer {
  /** JSON text. */
  readonly text: string;
  /** What is sent in place of the text: JSON of any length, for what goes on as it came after all. */
  readonly original?: AsyncIterable<Uint8Array>;
  /** What the gate made of it, where that is told. */
  readonly reduced?: Transformed;
}

/** Decides about messages. */
export interface Judge {
  /**
   * Asked as soon as something is known, and again when more is; `isWhole` says that nothing more will come. Undefined:
   * not to be decided yet.
   */
  course(message: MessageMembers, isWhole: boolean): Course | undefined;
  /** How what is too large is reduced, whatever it is. */
  readonly fallback: TransformOptions;
}

/** Where a message goes. Each call settles when more can be taken. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** What became of a message. */
export interface Passed {
  /** JSON text of its id, where it has one. */
  readonly id: string | undefined;
  /** Whether it answers the request with that id. */
  readonly isResponse: boolean;
  /** What the gate made of it, where it went through. */
  readonly reduced?: Transformed;
}

/**
 * Takes the bytes of one message. Nothing is given to the sink before the message's end, unless its course is `raw`; a
 * message given to it is whole, or the promise of `end` was rejected and nothing was given.
 */
export class Passage implements AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #judge: Judge;
  readonly #sink: Sink;
  readonly #members = new MessageMembers();
  #course: Course | undefined;
  #held: Uint8Array[] = [];
  #heldSize = 0;
  #gated: GatedValue | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(sluice: Sluice, judge: Judge, sink: Sink) {
    this.#sluice = sluice;
    this.#judge = judge;
    this.#sink = sink;
  }

  /** What is known of the message. */
  get members(): MessageMembers {
    return this.#members;
  }

  /** Bytes of the message, which are kept: they must not be written over. Never throws; see `end`. */
  async write(bytes: Uint8Array): Promise<void> {
    const at = this.#members.size;
    this.#members.push(bytes);
    if (this.#failure !== undefined) return;
    try {
      if (this.#gated !== undefined) await this.#gated.write(bytes, at);
      else if (this.#course?.kind === "raw") await this.#sink(bytes);
      else await this.#hold(bytes);
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** The message is over. Throws what kept it from being passed on; with E_JSON_… it was none. */
  async end(): Promise<Passed> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const { fault } = this.#members;
    if (fault !== undefined && this.#course?.kind !== "raw") {
      throw new SluiceError("E_JSON_SYNTAX", `the message is not JSON-RPC: ${fault}`);
    }
    if (this.#gated === undefined) this.#settle();
    else if (!this.#gated.holdsResult) throw tooLarge();
    const reduced = await this.#finish();
    const { isResponse } = this.#members;
    return { id: this.#members.text("id"), isResponse, ...(reduced !== undefined && { reduced }) };
  }

  /** Throws away what is half done. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#held = [];
    await this.#gated?.[Symbol.asyncDispose]();
  }

  async #hold(bytes: Uint8Array): Promise<void> {
    this.#held.push(bytes);
    this.#heldSize += bytes.length;
    if (this.#heldSize <= MAX_HEAD) return;
    this.#course ??= this.#judge.course(this.#members, false);
    if (this.#heldSize > MAX_MESSAGE) this.#course = this.#reduced(this.#course);
    await this.#follow();
  }

  /** The course of a message that is too large to be passed: the largest of its members goes through the gate. */
  #reduced(course: Course | undefined): Course {
    const { largest } = this.#members;
    // A list that is too large is no use as a reference to it.
    if (largest === undefined || course?.kind === "edit") throw tooLarge();
    const isReduced = course?.kind === "gate" && course.member.split(".", 1)[0] === largest;
    if (isReduced || course?.kind === "raw") return course;
    return { kind: "gate", member: largest, options: this.#judge.fallback };
  }

  /** Does what the course allows to be done before the end. */
  async #follow(): Promise<void> {
    const course = this.#course;
    if (course?.kind === "raw") await this.#flush();
    if (course?.kind !== "gate" || this.#gated !== undefined) return;
    const member = this.#members.member(course.member);
    if (member === undefined) return;
    await this.#gate(course);
    this.#held = [];
    this.#heldSize = 0;
  }

  /** Sends what is held through the gate. */
  async #gate(course: GateCourse): Promise<void> {
    this.#gated = new GatedValue(this.#sluice, this.#members, course);
    let at = 0;
    for (const bytes of this.#held) {
      await this.#gated.write(bytes, at);
      at += bytes.length;
    }
  }

  /** Decides at the end, when everything is known: what was let pass may have turned out to be an answer. */
  #settle(): void {
    if (this.#course !== undefined && this.#course.kind !== "pass") return;
    this.#course = this.#judge.course(this.#members, true) ?? { kind: "pass" };
  }

  async #finish(): Promise<Transformed | undefined> {
    const course = this.#course;
    if (course?.kind === "gate" && this.#gated === undefined) {
      if (this.#members.member(course.member)?.end !== undefined) await this.#gate(course);
    }
    if (this.#gated !== undefined) {
      const { pieces, reduced, isChanged } = await this.#gated.close();
      // What needs no change goes on as it came, where that is still held.
      if (isChanged || this.#held.length === 0) for await (const piece of pieces) await this.#sink(piece);
      else await this.#flush();
      return reduced;
    }
    if (course?.kind === "edit") {
      const message = textOf(this.#held);
      const edited = await editedOr(course, message);
      if (edited !== undefined && edited !== message) {
        await this.#sink(bounded(new TextEncoder().encode(edited)));
        return undefined;
      }
    }
    await this.#flush();
    return undefined;
  }

  async #flush(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    this.#heldSize = 0;
    for (const bytes of held) await this.#sink(bytes);
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = { error };
    await this[Symbol.asyncDispose]();
    this.#gated = undefined;
  }
}

/** What came of a message with a gated value. */
interface GatedMessage {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly reduced: Transformed | undefined;
  /** Whether it differs from what came. */
  readonly isChanged: boolean;
}

/** A message of which one member's value goes through the gate, and the rest is kept as it came. */
class GatedValue implements AsyncDisposable {
  readonly #stream: SluiceStream;
  readonly #members: MessageMembers;
  readonly #course: GateCourse;
  readonly #before: Uint8Array[] = [];
  readonly #behind: Uint8Array[] = [];
  #kept = 0;

  constructor(sluice: Sluice, members: MessageMembers, course: GateCourse) {
    this.#stream = sluice.open(course.options);
    this.#members = members;
    this.#course = course;
  }

  /** Whether a result, where there is one, is what went through the gate. */
  get holdsResult(): boolean {
    return this.#course.member.split(".", 1)[0] === "result" || this.#members.member("result") === undefined;
  }

  /** Bytes that stand at `at` in the message, and that `members` has seen. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    const { start, end = Infinity } = this.#members.member(this.#course.member) as { start: number; end?: number };
    const from = Math.min(bytes.length, Math.max(0, start - at));
    const to = Math.min(bytes.length, Math.max(from, end - at));
    this.#keep(this.#before, bytes.subarray(0, from));
    if (to > from) await this.#stream.write(bytes.subarray(from, to));
    this.#keep(this.#behind, bytes.subarray(to));
  }

  async close(): Promise<GatedMessage> {
    const { answer = ordinary } = this.#course;
    const { text, original, reduced } = await answer(await this.#stream.end());
    const value = new TextEncoder().encode(text);
    if (original === undefined && value.length + this.#kept > MAX_MESSAGE) throw tooLarge();
    const isChanged = reduced === undefined || reduced.changed || text !== reduced.text;
    return { pieces: this.#around(original ?? [value]), reduced, isChanged };
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
    pieces.push(bytes);
  }
}

async function ordinary(result: GatedResult): Promise<GateAnswer> {
  await using gated = result;
  const reduced = await gated.answer();
  return { text: reduced.text, reduced };
}

/** An edit that fails leaves the message as it is: what cannot be read here may be no trouble elsewhere. */
async function editedOr({ edit }: Course & { readonly kind: "edit" }, message: string): Promise<string | undefined> {
  try {
    return await edit(message);
  } catch {
    return undefined;
  }
}

function bounded(message: Uint8Array): Uint8Array {
  if (message.length > MAX_MESSAGE) throw tooLarge();
  return message;
}

function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `the message is larger than ${MAX_MESSAGE / 1024 / 1024} MiB also without what could be stored: ask for less at a time`,
  );
}
