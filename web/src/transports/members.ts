/**
 * The members of a JSON-RPC message (JSON-RPC 2.0 §4, §5) whose bytes come in pieces, found without holding them, and
 * the outermost levels of any JSON text.
 * @module
 */
import { BYTE_ORDER_MARK, textOf } from "./bytes.js";

/** Where the value of a member stands, in bytes from the message's first; `end` is undefined until it is known. */
export interface Member {
  readonly start: number;
  readonly end: number | undefined;
}

/** Members that are kept account of; a message has five. */
const MAX_MEMBERS = 64;

/** Bytes of a key, of an id and of a method's name that are kept. */
const MAX_KEPT = 1024;

/** Members whose own members are told as well, as `result.result`. */
const PARENTS: ReadonlySet<string> = new Set(["result", "params"]);

/** Members whose text is kept. */
const KEPT: ReadonlySet<string> = new Set(["id", "method"]);

/** Members that decide, however many there are beside them; readers differ in which of two equal ones they take. */
const DECIDING: ReadonlySet<string> = new Set(
  ["jsonrpc", "id", "method", "params", "result", "error"].concat("result.result", "params.result"),
);

const COLON = 0x3a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Follows one message. Members are named by their path: `id`, `result`, `result.result`. */
export class MessageMembers {
  readonly #levels = new Levels(this, 2);
  readonly #members = new Map<string, { start: number; end: number | undefined }>();
  readonly #texts = new Map<string, string>();
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes before this chunk. */
  #before = 0;
  /** What is being kept of a key or a value, and from where in the chunk on. */
  #kept: Uint8Array[] | undefined;
  #keptFrom = 0;
  #keptSize = 0;
  #key = "";
  /** Whether a colon was read, and the value did not begin. */
  #awaitsValue = false;
  #isKey = false;
  /** The member at depth 1, and the one inside it, whose values have not ended. */
  readonly #open: [string | undefined, string | undefined] = [undefined, undefined];
  #root: "object" | "other" | undefined;
  #ended = false;
  #fault: string | undefined;

  /** Takes bytes of the message. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#keptFrom = 0;
    this.#levels.push(chunk);
    this.#keep(chunk.length);
    this.#before += chunk.length;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#before;
  }

  /** Whether the message is an object, as far as is known. */
  get isObject(): boolean {
    return this.#root === "object";
  }

  /** Whether the object was closed. */
  get isComplete(): boolean {
    return this.#ended;
  }

  /** Whether it answers a request. */
  get isResponse(): boolean {
    return this.#members.has("result") || (this.#members.has("error") && !this.#members.has("method"));
  }

  /** What makes it no message, as the end of a sentence. */
  get fault(): string | undefined {
    return this.#fault;
  }

  member(path: string): Member | undefined {
    return this.#members.get(path);
  }

  /** The member at the root that is largest so far. */
  get largest(): string | undefined {
    let largest: string | undefined;
    let most = -1;
    for (const [path, { start, end = this.#before }] of this.#members) {
      if (path.includes(".") || end - start <= most) continue;
      largest = path;
      most = end - start;
    }
    return largest;
  }

  /** The JSON text of `id` or `method`, once it is complete; undefined also for one that is too long. */
  text(name: "id" | "method"): string | undefined {
    return this.#texts.get(name);
  }

  /** For {@link Levels}. */
  mark(byte: number, at: number, depth: number): void {
    if (this.#ended) {
      this.#fault ??= "something follows it";
      return;
    }
    if (depth === 0) {
      if (this.#root === undefined && BYTE_ORDER_MARK.includes(byte)) return;
      if (this.#root === undefined) this.#root = byte === 0x7b ? "object" : "other";
      if (byte === 0x7d) this.#end(0, at);
      this.#ended = byte === 0x7d || byte === 0x5d;
      return;
    }
    // A container is told of with the depth around it, also when it ends: a closing brace ends the level it leaves.
    if (byte === COLON && this.#isTold(depth)) {
      this.#awaitsValue = true;
      return;
    }
    if (byte === COMMA) {
      this.#end(depth - 1, at);
      return;
    }
    if (byte === 0x7d || byte === 0x5d) this.#end(depth, at);
    else this.#beginValue(at, depth);
  }

  /** For {@link Levels}. */
  openString(at: number, depth: number): void {
    if (depth === 0 || this.#ended) return;
    if (this.#awaitsValue) {
      this.#beginValue(at, depth);
      return;
    }
    this.#isKey = this.#isTold(depth) && this.#open[depth - 1] === undefined;
    if (this.#isKey) this.#startKeeping(at);
  }

  /** For {@link Levels}. */
  closeString(at: number): void {
    if (!this.#isKey) return;
    this.#isKey = false;
    this.#key = stringOf(this.#stopKeeping(at + 1)) ?? "";
  }

  /** Whether members at this depth are told of. */
  #isTold(depth: number): boolean {
    if (this.#root !== "object") return false;
    return depth === 1 || (depth === 2 && PARENTS.has(this.#open[0] ?? ""));
  }

  #beginValue(at: number, depth: number): void {
    if (!this.#awaitsValue) return;
    this.#awaitsValue = false;
    const level = depth - 1;
    const path = level === 0 ? this.#key : `${this.#open[0] ?? ""}.${this.#key}`;
    this.#open[level] = path;
    const decides = DECIDING.has(path);
    if (decides && this.#members.has(path)) this.#fault ??= `it has two members ${path}`;
    if (decides || this.#members.size < MAX_MEMBERS)
      this.#members.set(path, { start: this.#before + at, end: undefined });
    if (level === 0 && KEPT.has(path)) this.#startKeeping(at);
  }

  /** The values at this level and inside it are over. */
  #end(level: number, at: number): void {
    for (let inner = 1; inner >= level; inner -= 1) {
      const path = this.#open[inner];
      if (path === undefined) continue;
      this.#open[inner] = undefined;
      const member = this.#members.get(path);
      if (member !== undefined) member.end ??= this.#before + at;
      const text = inner === 0 && KEPT.has(path) ? this.#stopKeeping(at) : undefined;
      if (text !== undefined) this.#texts.set(path, text);
    }
  }

  #startKeeping(at: number): void {
    this.#kept = [];
    this.#keptSize = 0;
    this.#keptFrom = at;
  }

  #keep(until: number): void {
    if (this.#kept === undefined) return;
    const piece = this.#chunk.subarray(this.#keptFrom, until);
    this.#keptSize += piece.length;
    // Chunks may be written over by whoever gave them.
    if (this.#keptSize <= MAX_KEPT) this.#kept.push(piece.slice());
  }

  /** The text that was kept; undefined when it was too long. */
  #stopKeeping(until: number): string | undefined {
    this.#keep(until);
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    if (this.#keptSize > MAX_KEPT) return undefined;
    return textOf(kept);
  }
}

/** What a JSON string says. */
function stringOf(json: string | undefined): string | undefined {
  try {
    return json === undefined ? undefined : (JSON.parse(json) as string);
  } catch {
    return undefined;
  }
}

/** What is told of a text: bytes outside of strings, and where strings begin and end. */
export interface LevelsVisitor {
  /** A byte outside of strings that is no white space, not deeper than asked for; `depth` is that around it. */
  mark(byte: number, at: number, depth: number): void;
  /** A string begins behind its quote at `at` of the chunk. */
  openString?(at: number, depth: number): void;
  /** A string ends with the quote at `at` of the chunk. */
  closeString?(at: number, depth: number): void;
}

/**
 * Follows braces, brackets and strings, whatever the chunks. It judges nothing else: of a text that is no JSON it
 * tells something, in the same bounded memory.
 */
export class Levels {
  readonly #visitor: LevelsVisitor;
  readonly #deepest: number;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(visitor: LevelsVisitor, deepest: number) {
    this.#visitor = visitor;
    this.#deepest = deepest;
  }

  /** Whether the text so far ends inside a string. */
  get inString(): boolean {
    return this.#inString;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) at = this.#inString ? this.#string(chunk, at) : this.#structure(chunk, at);
  }

  /** Goes on to the next string; gives where it begins. */
  #structure(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth <= this.#deepest) this.#visitor.openString?.(at, this.#depth);
        return at + 1;
      }
      if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
      if (this.#depth <= this.#deepest && byte > 0x20) this.#visitor.mark(byte, at, this.#depth);
      if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    }
    return chunk.length;
  }

  /** Goes on to the end of the string; gives what is behind it. */
  #string(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      const escaped = isEscaped(chunk, at, end);
      if (quote < 0) {
        this.#escaped = escaped;
        return chunk.length;
      }
      at = quote + 1;
      if (escaped) continue;
      this.#inString = false;
      if (this.#depth <= this.#deepest) this.#visitor.closeString?.(quote, this.#depth);
      return at;
    }
  }
}

/** Whether an odd number of backslashes stands before `end`; `from` is not escaped. */
function isEscaped(chunk: Uint8Array, from: number, end: number): boolean {
  let first = end;
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1;
  return (end - first) % 2 === 1;
}
