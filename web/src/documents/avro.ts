/**
 * Avro as rows of CSV, with its columns and their types told: object container files (Apache Avro 1.12).
 *
 * Libraries compile a function of the schema that stands in the file, which pages and workers with a content security policy refuse.
 * @module
 */
import { Decompress } from "fzstd";
import { snappyUncompress } from "hyparquet";
import { type AvroLogical, type AvroType, nameAvroType, readAvroSchema } from "./avro-schema.js";
import {
  checkForm,
  convertText,
  type Converted,
  type ConvertOptions,
  createSink,
  FactsBuilder,
  MAX_DOCUMENT_BYTES,
  toDamagedError,
  tooLarge,
  unreadable,
} from "./document.js";
import {
  describeTable,
  ROWS_PER_STEP,
  shortenFloat,
  writeDay,
  writeDecimal,
  writeInstant,
  writeRow,
  writeTime,
} from "./table-cells.js";

/** Bytes of the mark that ends the header and each block. */
const SYNC_BYTES = 16;

/** Deepest value. */
const MAX_DEPTH = 200;

/** Converts an Avro file. Throws E_INVALID_ARGUMENT for another form than `rows`. */
export function convertAvro(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, "Avro file", ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  return convertText("Avro file", sink, options, async function* () {
    const { type, codec, blocks } = readHeader(bytes);
    // Values that are not records have one column.
    const fields = type.kind === "record" ? type.fields : [{ name: "value", type }];
    const columns = fields.map((field) => ({ name: field.name, type: nameAvroType(field.type) }));
    const rows = blocks.reduce((sum, { count }) => sum + count, 0);
    describeTable(facts, rows, columns);
    sink.add(writeRow(columns.map(({ name }) => name)));
    const most = options.maxBytes ?? MAX_DOCUMENT_BYTES;
    let left = most;
    for (const { count, start, end } of blocks) {
      const block = await inflate(codec, bytes.subarray(start, end), left);
      left -= block.length;
      if (left < 0) throw tooLarge(most);
      const reader = new ValueReader(block);
      for (let row = 0; row < count; row++) {
        sink.add(writeRow(fields.map((field) => reader.read(field.type, 0))));
        if (row % ROWS_PER_STEP === 0) yield;
      }
    }
  });
}

interface Header {
  readonly type: AvroType;
  readonly codec: string;
  readonly blocks: readonly { readonly count: number; readonly start: number; readonly end: number }[];
}

/** The header, and where the blocks are. A block that is cut off is left out. */
function readHeader(bytes: Uint8Array): Header {
  const reader = new ValueReader(bytes);
  reader.skip(4);
  const meta = reader.read({ kind: "map", items: { kind: "bytes" } }, 0) as Record<string, Uint8Array>;
  const text = (key: string): string => new TextDecoder().decode(meta[key]);
  const type = readAvroSchema(text("avro.schema"));
  reader.skip(SYNC_BYTES);
  const blocks: Header["blocks"][number][] = [];
  while (reader.left > 0) {
    const count = reader.readCount();
    const size = reader.readCount();
    if (size + SYNC_BYTES > reader.left) break;
    blocks.push({ count, start: reader.at, end: reader.at + size });
    reader.skip(size + SYNC_BYTES);
  }
  return { type, codec: text("avro.codec") || "null", blocks };
}

/** Bytes behind a block of Snappy: its sum. */
const SUM_BYTES = 4;

/** What a block holds. Throws E_DOCUMENT for a codec that is not read, E_TOO_LARGE beyond `most` bytes. */
async function inflate(codec: string, block: Uint8Array, most: number): Promise<Uint8Array> {
  switch (codec) {
    case "null":
      return block;
    case "deflate":
      return inflateDeflate(block, most);
    case "snappy": {
      const input = block.subarray(0, -SUM_BYTES);
      const size = new ValueReader(input).readSize();
      if (size > most) throw tooLarge(most);
      const output = new Uint8Array(size);
      snappyUncompress(input, output);
      return output;
    }
    case "zstandard":
      return inflateZstd(block, most);
    default:
      throw unreadable("The Avro file is compressed in a way that is not read: write it with deflate or zstandard.");
  }
}

async function inflateDeflate(block: Uint8Array, most: number): Promise<Uint8Array> {
  const pieces = new Pieces(most);
  const stream = new Blob([Uint8Array.from(block)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces.join();
    pieces.push(value);
  }
}

function inflateZstd(block: Uint8Array, most: number): Uint8Array {
  const pieces = new Pieces(most);
  new Decompress((piece) => pieces.push(piece)).push(block, true);
  return pieces.join();
}

/** Bytes in pieces, up to a bound. */
class Pieces {
  readonly #most: number;
  readonly #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  push(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > this.#most) throw tooLarge(this.#most);
    this.#pieces.push(piece.slice());
  }

  join(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }
}

/** Reads values in Avro's binary encoding. Throws E_DOCUMENT where they go on behind the end. */
class ValueReader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  skip(count: number): void {
    if (count > this.left) throw toDamagedError("Avro file");
    this.at += count;
  }

  read(type: AvroType, depth: number): unknown {
    if (depth > MAX_DEPTH) throw toDamagedError("Avro file");
    const { kind } = type;
    switch (kind) {
      case "null":
        return null;
      case "boolean":
        return this.#take(1)[0] !== 0;
      case "int":
      case "long":
        return convertNumber(this.readLong(), type.logical);
      case "float":
        return shortenFloat(this.#view.getFloat32(this.#move(4), true));
      case "double":
        return this.#view.getFloat64(this.#move(8), true);
      case "bytes":
        return convertBytes(this.#take(this.readCount()), type.logical);
      case "fixed":
        return convertBytes(this.#take(type.size), type.logical);
      case "string":
        return this.#decoder.decode(this.#take(this.readCount()));
      case "enum":
        return type.symbols[this.readCount()] ?? null;
      case "union": {
        const branch = type.branches[this.readCount()];
        if (branch === undefined) throw toDamagedError("Avro file");
        return this.read(branch, depth + 1);
      }
      case "record":
        return Object.fromEntries(type.fields.map((field) => [field.name, this.read(field.type, depth + 1)]));
      case "array": {
        const values: unknown[] = [];
        this.#readItems(() => values.push(this.read(type.items, depth + 1)));
        return values;
      }
      default: {
        const entries: [string, unknown][] = [];
        this.#readItems(() => {
          const key = this.#decoder.decode(this.#take(this.readCount()));
          entries.push([key, this.read(type.items, depth + 1)]);
        });
        return Object.fromEntries(entries);
      }
    }
  }

  /** Items come in blocks, of which the last is empty. A negative count has the block's bytes behind it. */
  #readItems(readItem: () => void): void {
    for (;;) {
      const count = Number(this.readLong());
      if (count === 0) return;
      if (count < 0) this.readLong();
      // Items of no bytes are of no use, and could be as many as a file claims.
      if (Math.abs(count) > this.left) throw toDamagedError("Avro file");
      for (let item = Math.abs(count); item > 0; item--) readItem();
    }
  }

  /** A number that counts. */
  readCount(): number {
    const count = Number(this.readLong());
    if (count < 0 || !Number.isSafeInteger(count)) throw toDamagedError("Avro file");
    return count;
  }

  /** A number of 64 bits: variable length, zig-zag. */
  readLong(): number | bigint {
    const [low, shift] = this.#readBits();
    if (shift === 0) return (low >>> 1) ^ -(low & 1);
    let bits = BigInt(low);
    for (let at = BigInt(shift); ; at += 7n) {
      const byte = this.#take(1)[0] as number;
      bits |= BigInt(byte & 0x7f) << at;
      if (byte < 0x80) break;
      if (at > 63n) throw toDamagedError("Avro file");
    }
    return BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
  }

  /** A size of variable length, as Snappy has it. */
  readSize(): number {
    const [low, shift] = this.#readBits();
    return shift === 0 ? low : low + (this.#take(1)[0] as number) * 2 ** shift;
  }

  /** The first 28 bits of a number of variable length, and where those begin that follow: 0 if none do. */
  #readBits(): readonly [bits: number, shift: number] {
    let bits = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#take(1)[0] as number;
      bits |= (byte & 0x7f) << shift;
      if (byte < 0x80) return [bits, 0];
    }
    return [bits, 28];
  }

  #take(count: number): Uint8Array {
    const start = this.#move(count);
    return this.#bytes.subarray(start, start + count);
  }

  #move(count: number): number {
    const start = this.at;
    this.skip(count);
    return start;
  }
}

/** Units that a second has, by how the names of times end. */
const PER_SECOND: Readonly<Record<string, bigint>> = {
  millis: 1000n,
  micros: 1_000_000n,
  nanos: 1_000_000_000n,
};

/** A whole number, or the day, time or moment that it stands for. */
function convertNumber(value: number | bigint, logical: AvroLogical | undefined): string | number | bigint {
  if (logical === undefined) return value;
  const { name } = logical;
  if (name === "date") return writeDay(value);
  const [, what, unit = ""] = /^(time|timestamp|local-timestamp)-(\w+)$/.exec(name) ?? [];
  const perSecond = PER_SECOND[unit];
  if (what === undefined || perSecond === undefined) return value;
  return what === "time"
    ? writeTime(BigInt(value), perSecond)
    : writeInstant(BigInt(value), perSecond, what === "timestamp");
}

/** Most bytes of a decimal number. */
const MAX_DECIMAL_BYTES = 256;

/** Bytes, or the number that they stand for. */
function convertBytes(bytes: Uint8Array, logical: AvroLogical | undefined): string | Uint8Array {
  if (logical?.name !== "decimal" || bytes.length > MAX_DECIMAL_BYTES) return bytes;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return writeDecimal(BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex || "0"}`)), logical.scale);
}
