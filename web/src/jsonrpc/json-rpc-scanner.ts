/**
 * Finds the members of a JSON-RPC message (JSON-RPC 2.0 §4, §5) that arrives in chunks, without holding it.
 * @module
 */
import { StructureScanner } from "../json/structure-scanner.js";
import { BYTE_ORDER_MARK, copyBytes, decodePieces } from "./bytes.js";

/** The byte range of a member's value within the message. `end` is undefined until it is known. */
export interface Member {
  readonly start: number;
  readonly end: number | undefined;
}

/** Most members that are tracked. A valid message has at most five. */
const MAX_MEMBERS = 64;

/** Longest key, id and method name that is kept, in bytes. */
const MAX_KEPT = 1024;

/** Members whose own members are tracked too, such as `result.result`. */
const PARENTS: ReadonlySet<string> = new Set(["result", "params"]);

/** Members whose JSON text is kept. */
const KEPT: ReadonlySet<string> = new Set(["id", "method"]);

/**
 * Members that decide what a message is. They are tracked beyond the limit, and a duplicate is a fault, since readers
 * differ in which one they take.
 */
const DECIDING: ReadonlySet<string> = new Set(
  ["jsonrpc", "id", "method", "params", "result", "error"].concat("result.result", "params.result"),
);

const COLON = 0x3a;
const COMMA = 0x2c;

/** Scans one message. Members are named by path: `id`, `result`, `result.result`. */
export class JsonRpcScanner {
  readonly #structure = new StructureScanner(this, 2);
  readonly #members = new Map<string, { start: number; end: number | undefined }>();
  readonly #texts = new Map<string, string>();
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes before the current chunk. */
  #before = 0;
  /** The key or value being kept, and its start in the chunk. */
  #kept: Uint8Array[] | undefined;
  #keptFrom = 0;
  #keptSize = 0;
  #key = "";
  /** Whether a colon was read and the value has not begun. */
  #awaitsValue = false;
  #isKey = false;
  /** The open member at depth 1, and the open one inside it. */
  readonly #open: [string | undefined, string | undefined] = [undefined, undefined];
  #root: "object" | "other" | undefined;
  #ended = false;
  #fault: string | undefined;

  /** Scans a chunk. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#keptFrom = 0;
    this.#structure.push(chunk);
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

  /** Whether the object is complete. */
  get isComplete(): boolean {
    return this.#ended;
  }

  /** Whether it is a response. */
  get isResponse(): boolean {
    return this.#members.has("result") || (this.#members.has("error") && !this.#members.has("method"));
  }

  /** Why it is not a valid message, as the end of a sentence. */
  get fault(): string | undefined {
    return this.#fault;
  }

  member(path: string): Member | undefined {
    return this.#members.get(path);
  }

  /** The largest member at the root so far. */
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

  /** The JSON text of `id` or `method` once it is complete. Undefined if it is too long. */
  text(name: "id" | "method"): string | undefined {
    return this.#texts.get(name);
  }

  /** For {@link StructureScanner}. */
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
    // The scanner reports a bracket with the depth around its container, so a closing bracket ends the level it leaves.
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

  /** For {@link StructureScanner}. */
  openString(at: number, depth: number): void {
    if (depth === 0 || this.#ended) return;
    if (this.#awaitsValue) {
      this.#beginValue(at, depth);
      return;
    }
    this.#isKey = this.#isTold(depth) && this.#open[depth - 1] === undefined;
    if (this.#isKey) this.#startKeeping(at);
  }

  /** For {@link StructureScanner}. */
  closeString(at: number): void {
    if (!this.#isKey) return;
    this.#isKey = false;
    this.#key = decodeString(this.#stopKeeping(at + 1)) ?? "";
  }

  /** Whether members at this depth are tracked. */
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

  /** Ends the values at this level and inside it. */
  #end(level: number, at: number): void {
    for (let inner = 1; inner >= level; inner -= 1) {
      const path = this.#open[inner];
      if (path === undefined) continue;
      this.#open[inner] = undefined;
      const member = this.#members.get(path);
      if (member !== undefined) member.end ??= this.#before + at;
      const text = inner === 0 && KEPT.has(path) ? this.#stopKeeping(at) : undefined;
      if (text !== undefined) this.#texts.set(path, text);
      else if (inner === 0 && KEPT.has(path)) this.#fault ??= `its ${path} is longer than ${MAX_KEPT} bytes`;
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
    // Copied: callers may reuse their chunks.
    if (this.#keptSize <= MAX_KEPT) this.#kept.push(copyBytes(piece));
  }

  /** The kept text. Undefined if it was too long. */
  #stopKeeping(until: number): string | undefined {
    this.#keep(until);
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    if (this.#keptSize > MAX_KEPT) return undefined;
    return decodePieces(kept);
  }
}

/** Decodes a JSON string. */
function decodeString(json: string | undefined): string | undefined {
  try {
    return json === undefined ? undefined : (JSON.parse(json) as string);
  } catch {
    return undefined;
  }
}
