/**
 * Arrow as rows of CSV, with its columns and their types told: files, streams and Feather of version 2.
 * @module
 */
import {
  type Batch,
  type Column,
  CompressionType,
  type DataType,
  Precision,
  setCompressionCodec,
  type Table,
  tableFromIPC,
  TimeUnit,
  Type,
} from "@uwdata/flechette";
import { decompressZstd } from "hyparquet-compressors";
import { checkArrow } from "./arrow-message.js";
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
import { decodeLz4Frame } from "./lz4.js";
import {
  describeTable,
  ROWS_PER_STEP,
  writeCell,
  shortenFloat,
  writeDay,
  writeDecimal,
  writeInstant,
  writeRow,
  writeTime,
} from "./table-cells.js";

/**
 * Converts an Arrow file or stream (Arrow Columnar Format, IPC). Throws E_INVALID_ARGUMENT for another form than `rows`.
 */
export function convertArrow(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, "Arrow table", ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  return convertText("Arrow table", sink, options, async function* () {
    if (bytes[0] === 0x46)
      throw unreadable("The file is Feather of version 1, which is not read: write it with version 2.");
    const { schema, children, numRows } = readTable(bytes, options.maxBytes ?? MAX_DOCUMENT_BYTES);
    const columns = schema.fields.map(({ name, type }) => ({ name, type: nameType(type) }));
    describeTable(facts, numRows, columns);
    sink.add(writeRow(columns.map(({ name }) => name)));
    const parts = children[0]?.data ?? [];
    for (let part = 0; part < parts.length; part++) {
      const batches = children.map(({ data }): AnyBatch => data[part] as Batch<unknown>);
      const { length } = parts[part] as Batch<unknown>;
      batches.forEach(checkRoom);
      for (let row = 0; row < length; row++) {
        sink.add(writeRow(batches.map((batch) => readValue(batch, row))));
        if (row % ROWS_PER_STEP === 0) yield;
      }
    }
  });
}

/** Reads all batches: at once, so that no other call counts on the same budget. */
function readTable(bytes: Uint8Array, most: number): Table {
  checkArrow(bytes);
  let left = most;
  const inflate = (decode: (input: Uint8Array, size: number) => Uint8Array) => ({
    decode(input: Uint8Array, size: number): Uint8Array {
      left -= size;
      if (size < 0 || left < 0) throw tooLarge(most);
      return decode(input, size);
    },
    encode(): Uint8Array {
      throw unreadable("Nothing is written.");
    },
  });
  setCompressionCodec(CompressionType.LZ4_FRAME, inflate(decodeLz4Frame));
  setCompressionCodec(
    CompressionType.ZSTD,
    inflate((input, size) => decompressZstd(input, new Uint8Array(size))),
  );
  return tableFromIPC(bytes, { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true });
}

/** A batch of any type: what its type does not have is undefined. */
type AnyBatch = Pick<Batch<unknown>, "length" | "nullCount" | "type" | "isValid" | "value"> &
  Partial<Pick<Batch<unknown>, "validity" | "values" | "offsets" | "sizes">> & {
    readonly children?: readonly AnyBatch[];
    readonly dictionary?: Column<unknown>;
    readonly typeIds?: Int8Array;
  };

/** Throws E_DOCUMENT for a batch that claims more values than its bytes have room for. */
function checkRoom(batch: AnyBatch): void {
  const { length, type, values, offsets, children = [] } = batch;
  const held = values ?? offsets;
  const isShort = type.typeId === Type.Struct && children.some((child) => child.length < length);
  if (isShort || (held !== undefined && held.byteLength * 8 < length)) throw toDamagedError("Arrow table");
  children.forEach(checkRoom);
}

const PER_SECOND: Readonly<Record<number, bigint>> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};

/** The value at a place of a batch. What is in it is read of its own batches, so that no list is longer than those. */
function readValue(batch: AnyBatch, at: number): unknown {
  const { type } = batch;
  if (batch.nullCount > 0 && (batch.validity?.length ?? 0) > 0 && !batch.isValid(at)) return null;
  switch (type.typeId) {
    case Type.Float: {
      const value = batch.value(at) as number;
      return type.precision === Precision.SINGLE ? shortenFloat(value) : value;
    }
    case Type.Date:
      return writeDay(Math.floor(Number(batch.value(at)) / 86_400_000));
    case Type.Time:
      return writeTime(BigInt(batch.value(at) as number | bigint), PER_SECOND[type.unit] as bigint);
    case Type.Timestamp:
      return writeInstant(batch.value(at) as bigint, PER_SECOND[type.unit] as bigint, type.timezone !== null);
    case Type.Decimal:
      return writeDecimal(BigInt(batch.value(at) as number | bigint), type.scale);
    case Type.Interval: {
      const value = batch.value(at);
      return typeof value === "number" ? value : Array.from(value as Iterable<number>);
    }
    case Type.Dictionary:
      return readInColumn(batch.dictionary, Number(batch.values?.[at]));
    case Type.RunEndEncoded: {
      const [ends, values] = requireChildren(batch);
      return ends === undefined || values === undefined ? null : readValue(values, findRun(ends, at));
    }
    case Type.Union: {
      const child = requireChildren(batch)[type.typeMap[batch.typeIds?.[at] as number] as number];
      return child === undefined ? null : readValue(child, Number(batch.offsets?.[at] ?? at));
    }
    case Type.List:
    case Type.LargeList:
      return readItems(batch, Number(batch.offsets?.[at]), Number(batch.offsets?.[at + 1]));
    case Type.ListView:
    case Type.LargeListView: {
      const start = Number(batch.offsets?.[at]);
      return readItems(batch, start, start + Number(batch.sizes?.[at]));
    }
    case Type.FixedSizeList:
      return readItems(batch, at * type.stride, (at + 1) * type.stride);
    case Type.Map: {
      const pairs = readItems(batch, Number(batch.offsets?.[at]), Number(batch.offsets?.[at + 1])) as readonly object[];
      return Object.fromEntries(
        pairs.map((pair) => Object.values(pair)).map(([key, value]) => [writeCell(key), value]),
      );
    }
    case Type.Struct: {
      const children = requireChildren(batch);
      return Object.fromEntries(
        type.children.map(({ name }, child) => [name, readValue(children[child] as AnyBatch, at)]),
      );
    }
    default:
      return batch.value(at);
  }
}

/** Values of the only child. */
function readItems(batch: AnyBatch, start: number, end: number): readonly unknown[] {
  const [items] = requireChildren(batch);
  if (items === undefined || !(start >= 0 && end >= start && end <= items.length)) throw toDamagedError("Arrow table");
  return Array.from({ length: end - start }, (_, at) => readValue(items, start + at));
}

function requireChildren({ children }: AnyBatch): readonly AnyBatch[] {
  if (children === undefined) throw toDamagedError("Arrow table");
  return children;
}

/** The run that a place is in: ends are in order. */
function findRun({ length, values }: AnyBatch, at: number): number {
  let [low, high] = [0, length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Number(values?.[middle]) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

function readInColumn(column: Column<unknown> | undefined, key: number): unknown {
  let at = key;
  for (const batch of column?.data ?? []) {
    if (at < batch.length) return readValue(batch, at);
    at -= batch.length;
  }
  return null;
}

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(Type).map(([name, id]) => [id, name.toLowerCase()]));

/** A type as other programs name it: `int64`, `timestamp`, `list`. */
function nameType(type: DataType): string {
  switch (type.typeId) {
    case Type.Int:
      return `${type.signed ? "" : "u"}int${type.bitWidth}`;
    case Type.Float:
      return (
        ({ [Precision.HALF]: "float16", [Precision.SINGLE]: "float32" } as Record<number, string>)[type.precision] ??
        "float64"
      );
    case Type.Dictionary:
      return nameType(type.dictionary);
    case Type.RunEndEncoded:
      return nameType(type.children[1].type);
    default:
      return NAMES.get(type.typeId) ?? "unknown";
  }
}
