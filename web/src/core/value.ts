/**
 * Values as JSON text. JSON has no bytes, so bytes in a value are kept apart and go through the gate as bytes.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** An object that holds bytes: a buffer or a view of one, a file, an HTTP response, a stream. */
type Held = ArrayBufferView | ArrayBufferLike | Blob | Response | ReadableStream<Uint8Array>;

/** An object that holds bytes or yields them, such as a stream of Node or an async generator. */
export type ByteSource = Held | AsyncIterable<unknown>;

/** A piece of a value in the order of the document: JSON text, or a source of bytes between texts. */
export type ValuePiece = string | ByteSource;

/**
 * Sources of bytes by their `Object.prototype.toString`, since values may come from other realms, and some platforms lack a class. Each
 * has a member that only a real one has.
 */
const BYTE_SOURCES: Readonly<Record<string, string | symbol>> = {
  "[object ArrayBuffer]": "byteLength",
  "[object SharedArrayBuffer]": "byteLength",
  "[object Blob]": "stream",
  "[object File]": "stream",
  "[object Response]": "arrayBuffer",
  "[object ReadableStream]": "getReader",
  "[object AsyncGenerator]": Symbol.asyncIterator,
};

/** Most characters of a key, and of a path, that an error repeats. */
const [MAX_KEY, MAX_PLACE] = [64, 256];

/** Whether a value is a source of bytes. */
export function isByteSource(value: unknown): value is ByteSource {
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value)) return true;
  const member = BYTE_SOURCES[Object.prototype.toString.call(value)];
  if (member !== undefined) return member in value;
  return isNodeStream(value);
}

interface NodeStream extends AsyncIterable<unknown> {
  readonly readableObjectMode?: unknown;
}

function isNodeStream(value: object): value is NodeStream {
  return typeof (value as { readonly pipe?: unknown }).pipe === "function" && Symbol.asyncIterator in value;
}

/** Whether a value is null, a plain array or a plain object, which needs no further tests. */
function isOrdinary(value: object | null): boolean {
  if (value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === Array.prototype;
  return isPlain && !(Symbol.toStringTag in value) && !("pipe" in value);
}

/** Levels that are looked at. Deeper values, circles among them, are not told to be plain. */
const MAX_LOOKED = 256;

/** Whether a value has nothing but plain objects and arrays, and texts, numbers, true, false, null and undefined in them. */
function isPlainJson(value: unknown, level: number): boolean {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return true;
  if (typeof value !== "object") return value === undefined;
  if (value === null) return true;
  if (level === MAX_LOOKED || !isOrdinary(value) || "toJSON" in value) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) if (!isPlainJson(value[at], level + 1)) return false;
    return true;
  }
  for (const key in value) if (!isPlainJson((value as Record<string, unknown>)[key], level + 1)) return false;
  return true;
}

const STREAM = "a stream: collect what it gives";

/** A value that JSON would write as an empty object, or as its internals. */
class NotJson extends TypeError {}

/** Turns a Map or a Set into an object or a list. Throws NotJson for promises and streams. */
function plain(value: unknown, made: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const tag = Object.prototype.toString.call(value);
  if (tag === "[object Promise]" && "then" in value) throw new NotJson("a promise: await it");
  if (isNodeStream(value)) throw new NotJson(STREAM);
  const isMap = tag === "[object Map]";
  if ((!isMap && tag !== "[object Set]") || !(Symbol.iterator in value)) return value;
  // The same object each time, so that JSON finds a cycle through it.
  if (!made.has(value)) made.set(value, toListValue(value as Iterable<unknown>, isMap));
  return made.get(value);
}

function toListValue(values: Iterable<unknown>, isMap: boolean): unknown {
  const list = [...values];
  const isKeyed = isMap && list.every((entry) => typeof (entry as readonly unknown[])[0] === "string");
  return isKeyed ? Object.fromEntries(list as [string, unknown][]) : list;
}

/**
 * The JSON text of a value without bytes.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of what is not JSON: a BigInt, a cycle, a function, a promise.
 */
export function toJson(value: unknown, replacer?: Replacer): string {
  let text: string | undefined;
  try {
    text = stringifyDeep(replacer === undefined ? plain(value, new Map()) : value, replacer);
  } catch (error) {
    const reason = readReason(error);
    const path = reason === undefined ? "" : findFault(value, replacer);
    const where = path === "" ? "" : ` at ${path}`;
    const sentence = `the value is not JSON${where}: ${reason ?? "it cannot be read"}`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, path === "" ? {} : { path }, { cause: error });
  }
  if (text === undefined) {
    throw new SluiceError("E_INVALID_ARGUMENT", `the value is not JSON: ${typeof value} has no JSON form`);
  }
  return text;
}

/**
 * Splits a value into JSON text and sources of bytes. Sources are found at any depth, in instances of classes and in results of
 * `toJSON`. A Map with string keys becomes an object; another Map and a Set become lists. The rest is as `JSON.stringify` writes it.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of what is not JSON: a BigInt, a cycle, a function, a promise.
 */
export function toPieces(value: unknown): readonly ValuePiece[] {
  let text: string | undefined;
  try {
    // A function that sees each value takes most of the time, and few results need it.
    if (isPlainJson(value, 0)) text = JSON.stringify(value);
  } catch {
    // What is wrong is told below.
  }
  if (text !== undefined) return [text];
  const sources: ByteSource[] = [];
  // Random, so that no string of the value can be taken for a placeholder.
  const name = crypto.randomUUID();
  const made = new Map<object, unknown>();
  const aside = function (this: unknown, key: string, said: unknown): unknown {
    const own = (this as Record<string, unknown>)[key];
    if (typeof own !== "object" && typeof said !== "object") return said;
    if (own === said && isOrdinary(said as object | null)) return said;
    const source = own !== said && isByteSource(own) ? own : said;
    if (!isByteSource(source)) return plain(said, made);
    const isOfObjects = isNodeStream(source) && source.readableObjectMode === true;
    return `${name}:${sources.push(isOfObjects ? bytesOrText(source, value) : source) - 1}`;
  };
  try {
    text = JSON.stringify(value, aside);
  } catch {
    // It is too deep for that, or not JSON.
  }
  text ??= toJson(value, aside);
  if (sources.length === 0) return [text];
  return text.split(new RegExp(`"${name}:(\\d+)"`)).map((part, at) => {
    return at % 2 === 0 ? part : (sources[Number(part)] as ByteSource);
  });
}

/** A stream that gives neither bytes nor text. Its message tells the place. */
export class NotBytes extends SluiceError {}

/**
 * What a stream in object mode gives, where that is bytes or text: `Readable.from` makes such streams of anything.
 *
 * @throws NotBytes with the place of the stream in `root` when it begins with something else.
 */
async function* bytesOrText(stream: AsyncIterable<unknown>, root: unknown): AsyncGenerator {
  let isFirst = true;
  for await (const chunk of stream) {
    if (isFirst && typeof chunk !== "string" && !(isByteSource(chunk) && "byteLength" in chunk)) {
      const path = findFault(root, (_, each) => {
        if (each === stream) throw new NotJson(STREAM);
        return isByteSource(each) ? null : plain(each, new Map());
      });
      const sentence = `the value is not JSON${path === "" ? "" : ` at ${path}`}: ${STREAM}`;
      throw new NotBytes("E_INVALID_ARGUMENT", sentence, path === "" ? {} : { path });
    }
    isFirst = false;
    yield chunk;
  }
}

/** The bytes of a source in chunks. Throws what the source throws. */
export async function* chunksIn(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (ArrayBuffer.isView(source)) {
    yield new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    return;
  }
  if (!isHeld(source)) {
    for await (const chunk of source) yield toChunk(chunk);
    return;
  }
  const stream = toStream(source);
  if (stream === undefined) {
    if ("byteLength" in source) yield new Uint8Array(source as ArrayBuffer);
    return;
  }
  // Not every browser can iterate over a stream.
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield toChunk(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function isHeld(source: ByteSource): source is Held {
  return !(Symbol.asyncIterator in source) || "getReader" in source;
}

function toStream(source: Exclude<Held, ArrayBufferView>): ReadableStream<unknown> | undefined {
  if ("getReader" in source) return source;
  if ("stream" in source) return source.stream();
  if ("body" in source) return source.body ?? undefined;
  return undefined;
}

/** A chunk as bytes. Streams may carry text or any view of a buffer. */
function toChunk(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (isByteSource(value) && "byteLength" in value) return new Uint8Array(value as ArrayBuffer);
  throw new SluiceError("E_INVALID_ARGUMENT", "a stream in the value gives chunks that are neither bytes nor strings");
}

/** The MIME type of a source, if it has one. */
export function getType(source: ByteSource): string | undefined {
  if (!isHeld(source)) return undefined;
  const said = "headers" in source ? source.headers.get("content-type") : "type" in source ? source.type : undefined;
  const type = said?.split(";", 1)[0]?.trim();
  return type === "" ? undefined : type;
}

/** The file name of a source, if it has one. */
export function getFilename(source: ByteSource): string | undefined {
  return isHeld(source) && "name" in source && typeof source.name === "string" && source.name !== ""
    ? source.name
    : undefined;
}

/** The reason why a value is not JSON, if this library or the engine gives it. Errors of the value's own code may hold anything. */
function readReason(error: unknown): string | undefined {
  const [line = ""] = error instanceof TypeError ? error.message.split("\n", 1) : [];
  if (error instanceof NotJson) return line;
  // The engines' own words differ.
  if (/circular/.test(line)) return "it contains itself: leave it out";
  return /BigInt/.test(line) ? "a BigInt: write it as a string" : undefined;
}

/** The path where a value stops being JSON, such as `rows[3].id`. Empty for the value itself. Writes the value again to find it. */
function findFault(root: unknown, replacer: Replacer = (_, value) => value): string {
  const open: { readonly value: unknown; readonly place: string }[] = [];
  let place = "";
  try {
    stringifyDeep(root, function (key, value) {
      while (open.length > 0 && open.at(-1)?.value !== this) open.pop();
      const holder = open.at(-1);
      place = holder === undefined ? "" : within(holder.place, key, Array.isArray(this));
      const said = replacer.call(this, key, value);
      if (typeof said === "object" && said !== null) open.push({ value: said, place });
      return said;
    });
    return "";
  } catch {
    // The last path that was visited is where it failed.
    return place;
  }
}

function within(holder: string, key: string, isList: boolean): string {
  const shown = key.slice(0, MAX_KEY);
  const isWord = /^[\w$-]+$/.test(shown);
  const step = isList ? `[${shown}]` : isWord ? `.${shown}` : `[${JSON.stringify(shown)}]`;
  return `${holder}${step}`.replace(/^\./, "").slice(0, MAX_PLACE);
}

/** A container whose members are being written. */
interface Frame {
  readonly holder: object;
  /** The keys of an object. Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  next: number;
  written: number;
}

/** As the second argument of `JSON.stringify`. */
type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/** The same as `JSON.stringify`, for values of any depth. Throws TypeError for cycles and BigInts, as it does. */
export function stringifyDeep(value: unknown, replacer?: Replacer): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return withoutRecursion(value, replacer);
  }
}

function withoutRecursion(root: unknown, replacer: Replacer | undefined): string | undefined {
  const showMember = (holder: object, key: string): unknown => {
    const value = asJson((holder as Record<string, unknown>)[key], key);
    return replacer === undefined ? value : replacer.call(holder, key, value);
  };
  const parts: string[] = [];
  const frames: Frame[] = [];
  const open = new Set<object>();
  const write = (value: unknown): void => {
    if (!isContainer(value)) return void parts.push(JSON.stringify(value));
    if (open.has(value)) throw new TypeError("Converting circular structure to JSON");
    open.add(value);
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    frames.push({ holder: value, keys, size: keys?.length ?? (value as unknown[]).length, next: 0, written: 0 });
    parts.push(keys === undefined ? "[" : "{");
  };
  const first = showMember({ "": root }, "");
  if (isLeftOut(first)) return undefined;
  write(first);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { holder, keys, size } = frame;
    if (frame.next === size) {
      parts.push(keys === undefined ? "]" : "}");
      open.delete(holder);
      frames.pop();
      continue;
    }
    const key = keys?.[frame.next] ?? String(frame.next);
    frame.next += 1;
    const value = showMember(holder, key);
    if (isLeftOut(value) && keys !== undefined) continue;
    if (frame.written++ > 0) parts.push(",");
    if (keys !== undefined) parts.push(JSON.stringify(key), ":");
    write(isLeftOut(value) ? null : value);
  }
  return parts.join("");
}

function asJson(value: unknown, key: string): unknown {
  const { toJSON } = Object(value ?? {}) as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, key) as unknown) : value;
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

/** Whether a value is an array or an object, but not a wrapped string, number or boolean. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !/^\[object (?:String|Number|Boolean|BigInt)\]$/.test(Object.prototype.toString.call(value));
}

const ALPHABET = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const PADDING = 0x3d;
/** Bytes that are encoded at a time. A multiple of three. */
const PIECE = 196_608;

/** Padded base64 in the standard alphabet, in pieces of bounded size. */
export async function* encodePieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of bytes) {
    let from = 0;
    if (rest.length > 0) {
      const missing = 3 - rest.length;
      const group = new Uint8Array([...rest, ...chunk.subarray(0, missing)]);
      from = Math.min(missing, chunk.length);
      rest = group;
      if (group.length < 3) continue;
      yield encodeBase64(group);
    }
    const end = chunk.length - ((chunk.length - from) % 3);
    for (let at = from; at < end; at += PIECE) yield encodeBase64(chunk.subarray(at, Math.min(end, at + PIECE)));
    // A copy, since the source may reuse the chunk.
    rest = chunk.slice(end);
  }
  if (rest.length > 0) yield encodeBase64(rest);
}

function encodeBase64(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  let to = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    const group = ((bytes[at] as number) << 16) | (second << 8) | third;
    out[to] = ALPHABET[group >> 18] as number;
    out[to + 1] = ALPHABET[(group >> 12) & 63] as number;
    if (at + 1 < bytes.length) out[to + 2] = ALPHABET[(group >> 6) & 63] as number;
    if (at + 2 < bytes.length) out[to + 3] = ALPHABET[group & 63] as number;
    to += 4;
  }
  return out;
}
