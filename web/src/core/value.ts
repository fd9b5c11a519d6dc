/**
 * Values as JSON text, and the bytes that stand in them: JSON has none, so they go through the gate as bytes.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** What holds bytes: any view of a buffer, a buffer, a file, an answer over HTTP, a stream. */
type Held = ArrayBufferView | ArrayBufferLike | Blob | Response | ReadableStream<Uint8Array>;

/** What holds bytes, or gives them one after the other: a stream of Node's, an async generator. */
export type ByteSource = Held | AsyncIterable<unknown>;

/** A value as JSON text in pieces, with what holds bytes between them, in the order of the document. */
export type ValuePiece = string | ByteSource;

/**
 * What holds bytes, by what `Object.prototype.toString` says, since values come from other realms too and some platforms lack a
 * class; each with a member that only the real one has.
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

/** Characters of a key, and of a whole place, that an error repeats. */
const [MAX_KEY, MAX_PLACE] = [64, 256];

/** Whether a value is bytes, or gives some. */
export function isByteSource(value: unknown): value is ByteSource {
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value)) return true;
  const member = BYTE_SOURCES[Object.prototype.toString.call(value)];
  if (member !== undefined) return member in value;
  return isNodeStream(value) && value.readableObjectMode !== true;
}

interface NodeStream extends AsyncIterable<unknown> {
  readonly readableObjectMode?: unknown;
}

function isNodeStream(value: object): value is NodeStream {
  return typeof (value as { readonly pipe?: unknown }).pipe === "function" && Symbol.asyncIterator in value;
}

/** Whether a value is a list or an object of members, as JSON itself has it: nothing else is to be found out about it. */
function isOrdinary(value: object | null): boolean {
  if (value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === Array.prototype;
  return isPlain && !(Symbol.toStringTag in value) && !("pipe" in value);
}

/** What JSON would write as an empty object, or as what it is made of inside. */
class NotJson extends TypeError {}

/** A value as JSON has it: a Map or a Set as an object or a list. Throws NotJson for what has to be waited for. */
function plain(value: unknown, made: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const tag = Object.prototype.toString.call(value);
  if (tag === "[object Promise]" && "then" in value) throw new NotJson("a promise: await it");
  if (isNodeStream(value)) throw new NotJson("a stream: collect what it gives");
  const isMap = tag === "[object Map]";
  if ((!isMap && tag !== "[object Set]") || !(Symbol.iterator in value)) return value;
  // The same each time, or what is inside itself would never be found to be.
  if (!made.has(value)) made.set(value, listOf(value as Iterable<unknown>, isMap));
  return made.get(value);
}

function listOf(values: Iterable<unknown>, isMap: boolean): unknown {
  const list = [...values];
  const isKeyed = isMap && list.every((entry) => typeof (entry as readonly unknown[])[0] === "string");
  return isKeyed ? Object.fromEntries(list as [string, unknown][]) : list;
}

/**
 * JSON text of a value that holds no bytes.
 *
 * @throws SluiceError E_INVALID_ARGUMENT, with its place, for what JSON cannot say: a BigInt, a cycle, a function, a promise.
 */
export function jsonOf(value: unknown, replacer?: Replacer): string {
  let text: string | undefined;
  try {
    text = stringifyDeep(replacer === undefined ? plain(value, new Map()) : value, replacer);
  } catch (error) {
    const reason = reasonOf(error);
    const path = reason === undefined ? "" : placeOf(value, replacer);
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
 * A value in pieces: what holds bytes stands in the place of a JSON value, at any depth, inside instances of classes, and in
 * what `toJSON` gives. A Map whose keys are texts is an object, another one and a Set are lists. All else is what
 * `JSON.stringify` makes of it.
 *
 * @throws SluiceError E_INVALID_ARGUMENT, with its place, for what JSON cannot say: a BigInt, a cycle, a function, a promise.
 */
export function piecesOf(value: unknown): readonly ValuePiece[] {
  const sources: ByteSource[] = [];
  // Nobody can guess it, so no string of the value can be taken for one of ours.
  const name = crypto.randomUUID();
  const made = new Map<object, unknown>();
  const text = jsonOf(value, function (this: unknown, key: string, said: unknown): unknown {
    const own = (this as Record<string, unknown>)[key];
    if (typeof own !== "object" && typeof said !== "object") return said;
    if (own === said && isOrdinary(said as object | null)) return said;
    const source = own !== said && isByteSource(own) ? own : said;
    if (!isByteSource(source)) return plain(said, made);
    return `${name}:${sources.push(source) - 1}`;
  });
  if (sources.length === 0) return [text];
  return text.split(new RegExp(`"${name}:(\\d+)"`)).map((part, at) => {
    return at % 2 === 0 ? part : (sources[Number(part)] as ByteSource);
  });
}

/** The bytes of a source, in chunks. What fails throws what the source throws. */
export async function* chunksIn(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (ArrayBuffer.isView(source)) {
    yield new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    return;
  }
  if (!isHeld(source)) {
    for await (const chunk of source) yield chunkOf(chunk);
    return;
  }
  const stream = streamOf(source);
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
      yield chunkOf(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function isHeld(source: ByteSource): source is Held {
  return !(Symbol.asyncIterator in source) || "getReader" in source;
}

function streamOf(source: Exclude<Held, ArrayBufferView>): ReadableStream<unknown> | undefined {
  if ("getReader" in source) return source;
  if ("stream" in source) return source.stream();
  if ("body" in source) return source.body ?? undefined;
  return undefined;
}

/** Streams may carry text, or any view of bytes. */
function chunkOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (isByteSource(value) && "byteLength" in value) return new Uint8Array(value as ArrayBuffer);
  throw new SluiceError("E_INVALID_ARGUMENT", "a stream in the value gives chunks that are neither bytes nor text");
}

/** The MIME type that a source says it has, where it says one. */
export function typeOf(source: ByteSource): string | undefined {
  if (!isHeld(source)) return undefined;
  const said = "headers" in source ? source.headers.get("content-type") : "type" in source ? source.type : undefined;
  const type = said?.split(";", 1)[0]?.trim();
  return type === "" ? undefined : type;
}

/** Names the file that a source is, where it has a name. */
export function filenameOf(source: ByteSource): string | undefined {
  return isHeld(source) && "name" in source && typeof source.name === "string" && source.name !== ""
    ? source.name
    : undefined;
}

/** What JSON says itself of a value, or we; what a getter or `toJSON` of the value's own throws may hold anything. */
function reasonOf(error: unknown): string | undefined {
  const [line = ""] = error instanceof TypeError ? error.message.split("\n", 1) : [];
  return error instanceof NotJson || (/circular|BigInt/.test(line) && line.length <= 200) ? line : undefined;
}

/** Where a value stops being JSON, such as `rows[3].id`, bounded; "" for the value itself. Writes it once more to find out. */
function placeOf(root: unknown, replacer: Replacer = (_, value) => value): string {
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
    // It stands at the last place that was looked at.
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
  /** Of an object; the indexes of an array are its length. */
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  next: number;
  written: number;
}

/** As the second argument of `JSON.stringify`. */
type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/** What `JSON.stringify` gives, for values of any depth. Throws TypeError for cycles and BigInts, as it does. */
export function stringifyDeep(value: unknown, replacer?: Replacer): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return withoutRecursion(value, replacer);
  }
}

function withoutRecursion(root: unknown, replacer: Replacer | undefined): string | undefined {
  const seen = (holder: object, key: string): unknown => {
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
  const first = seen({ "": root }, "");
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
    const value = seen(holder, key);
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

/** An array or an object, but none that stands for a string, a number or a boolean. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !/^\[object (?:String|Number|Boolean|BigInt)\]$/.test(Object.prototype.toString.call(value));
}

const ALPHABET = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const PADDING = 0x3d;
/** Bytes that are encoded at a time: a multiple of three. */
const PIECE = 196_608;

/** Padded base64, standard alphabet, in pieces of bounded size whatever comes. */
export async function* base64Of(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of bytes) {
    let from = 0;
    if (rest.length > 0) {
      const missing = 3 - rest.length;
      const group = new Uint8Array([...rest, ...chunk.subarray(0, missing)]);
      from = Math.min(missing, chunk.length);
      rest = group;
      if (group.length < 3) continue;
      yield encoded(group);
    }
    const end = chunk.length - ((chunk.length - from) % 3);
    for (let at = from; at < end; at += PIECE) yield encoded(chunk.subarray(at, Math.min(end, at + PIECE)));
    // The chunk may be used again by whoever gave it.
    rest = chunk.slice(end);
  }
  if (rest.length > 0) yield encoded(rest);
}

function encoded(bytes: Uint8Array): Uint8Array {
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
