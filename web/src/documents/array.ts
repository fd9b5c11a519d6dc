/**
 * Arrays of numbers as rows: of NumPy, NetCDF and FITS. A part is chosen as in Python: `temp[0, :, 10:20]`.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { toDamagedError, type FactsBuilder, type TextSink } from "./document.js";
import { describeTable, ROWS_PER_STEP, shortenFloat, writeDay, writeInstant, writeRow } from "./table-cells.js";

/** Reads an item at an offset. */
export type ItemReader = (view: DataView, at: number) => unknown;

/** A dimension of an array. */
export interface Dimension {
  readonly name: string;
  readonly length: number;
  /** Bytes from one item to the next along it. */
  readonly stride: number;
  /** What stands for a place along it, where the file says so. */
  readonly label?: (place: number) => unknown;
}

/** An array in the bytes of a file. */
export interface NumberArray {
  readonly name: string;
  /** What its format calls its type. */
  readonly type: string;
  readonly dimensions: readonly Dimension[];
  /** Where its first item is, and how many bytes an item has. */
  readonly start: number;
  readonly itemBytes: number;
  readonly read: ItemReader;
  /** Names of what an item has, where it has several. Its reader gives a list then. */
  readonly fields?: readonly string[];
}

/** Columns that a row of a table of two dimensions may have. Others have a row for each item. */
const MAX_WIDE = 200;

/** Most dimensions. */
const MAX_DIMENSIONS = 32;

/** Throws E_DOCUMENT unless all items are in the file, have bytes, and there are few dimensions. */
export function checkExtent({ dimensions, start, itemBytes }: NumberArray, size: number): void {
  const isEmpty = dimensions.some(({ length }) => length === 0);
  const last = dimensions.reduce((sum, { length, stride }) => sum + (length - 1) * stride, start);
  const isSane = dimensions.every(({ length, stride }) => Number.isSafeInteger(length) && length >= 0 && stride >= 0);
  // Items without bytes could be as many as a file claims.
  const isWithin = isEmpty || (itemBytes > 0 && last + itemBytes <= size);
  if (!isSane || dimensions.length > MAX_DIMENSIONS || start < 0 || !isWithin) throw toDamagedError("file of arrays");
}

/** Strides of items that lie one after the other, the last dimension first unless it is said otherwise. */
export function findStrides(shape: readonly number[], itemBytes: number, isFirstFastest = false): readonly number[] {
  const strides = shape.map(() => 0);
  let stride = itemBytes;
  const order = isFirstFastest ? shape.keys() : [...shape.keys()].toReversed();
  for (const at of order) {
    strides[at] = stride;
    stride *= shape[at] as number;
  }
  return strides;
}

/** What is taken along a dimension. */
interface Span {
  readonly first: number;
  readonly step: number;
  readonly count: number;
  /** Whether it is one place alone, which is no column then. */
  readonly isOne: boolean;
}

/**
 * Splits `temp[0, :, 10:20]` into a name and what is taken of each dimension.
 *
 * @returns no spans where all is taken
 */
export function splitSlice(sheet: string): { readonly name: string; readonly slice: string | undefined } {
  const { name = sheet, slice } = /^(?<name>[^]*?)\s*\[(?<slice>[-\d:,\s]*)\]$/.exec(sheet)?.groups ?? {};
  return { name: name.trim(), slice };
}

/** Reads the slice of an array. Throws E_INVALID_ARGUMENT for one that it does not have. */
function readSlice(slice: string, dimensions: readonly Dimension[]): readonly Span[] {
  const parts = slice.trim() === "" ? [] : slice.split(",").map((part) => part.trim());
  if (parts.length > dimensions.length) throw wrongSlice(dimensions);
  return dimensions.map(({ length }, at) => {
    const part = parts[at] ?? ":";
    const numbers = part.split(":").map((number) => number.trim());
    if (!numbers.every((number) => /^(?:-?\d{1,15})?$/.test(number)) || numbers.length > 3 || part === "")
      throw wrongSlice(dimensions);
    const [start = "", stop = "", step = ""] = numbers;
    const place = (number: string, otherwise: number): number => {
      if (number === "") return otherwise;
      return Math.min(length, Math.max(0, Number(number) < 0 ? length + Number(number) : Number(number)));
    };
    if (numbers.length === 1) {
      const first = Number(start) < 0 ? length + Number(start) : Number(start);
      if (first < 0 || first >= length) throw wrongSlice(dimensions);
      return { first, step: 1, count: 1, isOne: true };
    }
    const by = step === "" ? 1 : Number(step);
    if (by < 1) throw wrongSlice(dimensions);
    const first = place(start, 0);
    return { first, step: by, count: Math.max(0, Math.ceil((place(stop, length) - first) / by)), isOne: false };
  });
}

function wrongSlice(dimensions: readonly Dimension[]): SluiceError {
  const sentence = `The array has ${writeShape(dimensions) || "one"} items: give a part such as ${writeExample(dimensions)}.`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "sheet" });
}

function writeShape(dimensions: readonly Dimension[]): string {
  return dimensions.map(({ length }) => length).join(" × ");
}

function writeExample(dimensions: readonly Dimension[]): string {
  return `[${dimensions.map((_, at) => (at === 0 ? "0:10" : ":")).join(", ")}]`;
}

/** Writes an array, or a slice of it, as rows. Throws E_INVALID_ARGUMENT for a slice that it does not have. */
export function* writeArray(
  sink: TextSink,
  facts: FactsBuilder,
  bytes: Uint8Array,
  array: NumberArray,
  slice: string | undefined,
): Generator<void> {
  checkExtent(array, bytes.length);
  const { dimensions, name, type, read, fields } = array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const spans = readSlice(slice ?? "", dimensions);
  const kept = dimensions
    .map((dimension, at) => ({ ...dimension, span: spans[at] as Span }))
    .filter(({ span }) => !span.isOne);
  const start = dimensions.reduce((sum, { stride }, at) => sum + stride * (spans[at] as Span).first, array.start);
  const wide =
    kept.length === 2 && fields === undefined && kept.every(({ label }) => label === undefined) ? kept[1] : undefined;
  const isWide = wide !== undefined && wide.span.count <= MAX_WIDE;
  const walked = isWide ? kept.slice(0, 1) : kept;
  // The only dimension of a plain list of numbers would be the number of the row.
  const labelled = isWide || (kept.length === 1 && kept[0]?.label === undefined) ? [] : walked;
  const values = isWide
    ? Array.from({ length: wide.span.count }, (_, at) => `c${wide.span.first + at * wide.span.step}`)
    : (fields ?? [name === "" ? "value" : name]);
  const columns = [...labelled.map((dimension) => dimension.name), ...values];
  const isEmpty = walked.some(({ span }) => span.count === 0);
  const count = isEmpty ? 0 : walked.reduce((product, { span }) => product * span.count, 1);
  describeTable(
    facts,
    count,
    columns.map((column, at) => ({ name: column, type: at < labelled.length ? "index" : type })),
  );
  if (dimensions.length > 1)
    facts.notice(
      `The array has ${writeShape(dimensions)} items: ${writeExample(dimensions)} in sheet reads a part of it.`,
    );
  sink.add(writeRow(columns));
  const place = walked.map(() => 0);
  for (let row = 0; row < count; row++) {
    const at = place.reduce((sum, index, dimension) => {
      const { span, stride } = walked[dimension] as (typeof walked)[number];
      return sum + index * span.step * stride;
    }, start);
    const labels = labelled.map(({ span, label }, dimension) => {
      const index = span.first + (place[dimension] as number) * span.step;
      return label === undefined ? index : label(index);
    });
    const items = isWide
      ? Array.from({ length: wide.span.count }, (_, column) => read(view, at + column * wide.span.step * wide.stride))
      : fields === undefined
        ? [read(view, at)]
        : (read(view, at) as readonly unknown[]);
    sink.add(writeRow([...labels, ...items]));
    for (let dimension = place.length - 1; dimension >= 0; dimension--) {
      place[dimension] = (place[dimension] as number) + 1;
      if ((place[dimension] as number) < (walked[dimension]?.span.count ?? 0)) break;
      place[dimension] = 0;
    }
    if (row % ROWS_PER_STEP === 0) yield;
  }
}

/** Kinds of items: whole numbers with and without a sign, floating and complex numbers, truth values. */
export type NumberKind = "i" | "u" | "f" | "c" | "b";

/** Reads numbers of a kind and size. Undefined if there are none such. */
export function createNumberReader(kind: NumberKind, bytes: number, isLittle: boolean): ItemReader | undefined {
  switch (`${kind}${bytes}`) {
    case "b1":
      return (view, at) => view.getUint8(at) !== 0;
    case "i1":
      return (view, at) => view.getInt8(at);
    case "u1":
      return (view, at) => view.getUint8(at);
    case "i2":
      return (view, at) => view.getInt16(at, isLittle);
    case "u2":
      return (view, at) => view.getUint16(at, isLittle);
    case "i4":
      return (view, at) => view.getInt32(at, isLittle);
    case "u4":
      return (view, at) => view.getUint32(at, isLittle);
    case "i8":
      return (view, at) => view.getBigInt64(at, isLittle);
    case "u8":
      return (view, at) => view.getBigUint64(at, isLittle);
    case "f2":
      return (view, at) => readHalf(view.getUint16(at, isLittle));
    case "f4":
      return (view, at) => toNumber(shortenFloat(view.getFloat32(at, isLittle)));
    case "f8":
      return (view, at) => toNumber(view.getFloat64(at, isLittle));
    case "c8":
    case "c16": {
      const part = createNumberReader("f", bytes / 2, isLittle) as ItemReader;
      return (view, at) => `${String(part(view, at))}+${String(part(view, at + bytes / 2))}i`.replace("+-", "-");
    }
    default:
      return undefined;
  }
}

/** A missing number (NaN) is an empty cell, infinity a word. */
function toNumber(value: number): number | string | null {
  if (Number.isNaN(value)) return null;
  return Number.isFinite(value) ? value : value > 0 ? "inf" : "-inf";
}

/** A number of 16 bits (IEEE 754). */
function readHalf(bits: number): number | string | null {
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 0x1f
        ? fraction === 0
          ? Infinity
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return toNumber(shortenFloat(bits & 0x8000 ? -size : size));
}

/** Units that a second has. */
const PER_SECOND: Readonly<Record<string, bigint>> = { s: 1n, ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n };

/** Seconds that a unit has. */
const SECONDS: Readonly<Record<string, bigint>> = { m: 60n, h: 3600n };

const NO_TIME = -(2n ** 63n);

/** Reads moments by their unit, such as `ns` or `D`. */
export function createMomentReader(unit: string, isLittle: boolean): ItemReader {
  return (view, at) => {
    const count = view.getBigInt64(at, isLittle);
    if (count === NO_TIME) return null;
    if (unit === "D") return writeDay(count);
    const seconds = SECONDS[unit];
    if (seconds !== undefined) return writeInstant(count * seconds, 1n, false);
    const perSecond = PER_SECOND[unit];
    return perSecond === undefined ? count : writeInstant(count, perSecond, false);
  };
}

/** Reads text of a fixed length, up to the first NUL. */
export function createTextReader(bytes: number): ItemReader {
  const decoder = new TextDecoder();
  return (view, at) =>
    decoder
      .decode(new Uint8Array(view.buffer, view.byteOffset + at, bytes))
      .replace(/\0[^]*$/, "")
      .trimEnd();
}
