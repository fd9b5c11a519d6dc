/**
 * Arrays of NumPy as rows (NEP 1): one array a file, of numbers, texts, moments, or records of these.
 * @module
 */
import {
  createMomentReader,
  createNumberReader,
  createTextReader,
  findStrides,
  type ItemReader,
  type NumberArray,
  type NumberKind,
  splitSlice,
  writeArray,
} from "./array.js";
import {
  checkForm,
  convertText,
  type Converted,
  type ConvertOptions,
  createSink,
  FactsBuilder,
  toDamagedError,
  unreadable,
} from "./document.js";

const NAME = "NumPy array";

/** Longest header. */
const MAX_HEADER: number = 1024 * 1024;

/** Converts an array. Throws E_INVALID_ARGUMENT for another form than `rows`. */
export function convertNumpy(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, NAME, ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  // oxlint-disable-next-line require-await -- what takes it waits for steps
  return convertText(NAME, sink, options, async function* () {
    yield* writeArray(sink, facts, bytes, readArray(bytes), splitSlice(options.sheet ?? "").slice);
  });
}

function readArray(bytes: Uint8Array): NumberArray {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isFirst = view.getUint8(6) === 1;
  const begin = isFirst ? 10 : 12;
  const length = isFirst ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER || begin + length > bytes.length) throw toDamagedError(NAME);
  const header = readLiteral(new TextDecoder().decode(bytes.subarray(begin, begin + length)));
  const { descr, fortran_order: isFirstFastest, shape } = header as Record<string, unknown>;
  if (!Array.isArray(shape) || !shape.every(Number.isSafeInteger)) throw toDamagedError(NAME);
  const { read, bytes: itemBytes, type, fields } = readType(descr);
  const strides = findStrides(shape as number[], itemBytes, isFirstFastest === true);
  const dimensions = shape.map((size: number, at) => ({ name: `d${at}`, length: size, stride: strides[at] as number }));
  const start = begin + length;
  return { name: "", type, dimensions, start, itemBytes, read, ...(fields !== undefined && { fields }) };
}

/** A literal of Python as JSON has it: tuples are lists. Its texts have no quotes in them. */
function readLiteral(text: string): unknown {
  const json = text
    .trim()
    .replaceAll(
      /'([^'"\\]*)'|([()])|\b(True|False|None)\b/g,
      (all, inner: string | undefined, bracket: string | undefined) => {
        if (inner !== undefined) return JSON.stringify(inner);
        if (bracket !== undefined) return bracket === "(" ? "[" : "]";
        return { True: "true", False: "false" }[all] ?? "null";
      },
    )
    .replaceAll(/,\s*(?=[}\]])/g, "");
  return JSON.parse(json);
}

interface ItemType {
  readonly type: string;
  readonly bytes: number;
  readonly read: ItemReader;
  readonly fields?: readonly string[];
}

/** Most fields of a record. */
const MAX_FIELDS = 1000;

function readType(description: unknown): ItemType {
  if (typeof description === "string") return readPlainType(description);
  if (!Array.isArray(description) || description.length > MAX_FIELDS) throw toDamagedError(NAME);
  let bytes = 0;
  const fields: { readonly name: string; readonly at: number; readonly read: ItemReader }[] = [];
  for (const entry of description as readonly unknown[]) {
    const [name, inner, shape = []] = entry as readonly [unknown, unknown, (readonly number[])?];
    const item = readType(inner);
    const count = shape.reduce((product, size) => product * size, 1);
    const read = shape.length === 0 ? item.read : repeatItem(item, count);
    // A list of a name and a title has its name last.
    fields.push({ name: String(Array.isArray(name) ? name.at(-1) : name), at: bytes, read });
    bytes += item.bytes * count;
  }
  // Fields without a name fill up.
  const named = fields.filter(({ name }) => name !== "");
  const read: ItemReader = (view, at) => named.map((field) => field.read(view, at + field.at));
  return { type: "record", bytes, read, fields: named.map(({ name }) => name) };
}

/** Most items of a field. */
const MAX_REPEATS = 10_000;

function repeatItem({ read, bytes }: ItemType, count: number): ItemReader {
  if (!(count >= 0 && count <= MAX_REPEATS && (bytes > 0 || count <= 1))) throw toDamagedError(NAME);
  return (view, at) => Array.from({ length: count }, (_, index) => read(view, at + index * bytes));
}

const NAMES: Readonly<Record<string, string>> = { b: "bool", i: "int", u: "uint", f: "float", c: "complex" };

function readPlainType(description: string): ItemType {
  const [, order, kind = "", digits, unit = ""] =
    /^([<>|=]?)([a-zA-Z])(\d*)(?:\[(?:1)?(\w+)\])?$/.exec(description) ?? [];
  const size = Number(digits);
  const isLittle = order !== ">";
  if (kind === "S") return { type: "text", bytes: size, read: createTextReader(size) };
  if (kind === "U") return { type: "text", bytes: size * 4, read: createWideReader(size, isLittle) };
  if (kind === "M") return { type: `datetime64[${unit}]`, bytes: 8, read: createMomentReader(unit, isLittle) };
  if (kind === "m")
    return { type: `timedelta64[${unit}]`, bytes: 8, read: createNumberReader("i", 8, isLittle) as ItemReader };
  if (kind === "V")
    return {
      type: "void",
      bytes: size,
      read: (view, at) => new Uint8Array(view.buffer.slice(view.byteOffset + at, view.byteOffset + at + size)),
    };
  if (kind === "O")
    throw unreadable("The array has objects of Python, which are not read: save it with numbers or texts.");
  const read = createNumberReader(kind as NumberKind, size, isLittle);
  if (read === undefined) throw toDamagedError(NAME);
  return { type: kind === "b" ? "bool" : `${NAMES[kind]}${size * 8}`, bytes: size, read };
}

/** Reads text of four bytes a character. */
function createWideReader(length: number, isLittle: boolean): ItemReader {
  return (view, at) => {
    let text = "";
    for (let index = 0; index < length; index++) {
      const point = view.getUint32(at + index * 4, isLittle);
      if (point === 0) break;
      text += point > 0x10_ff_ff ? "\u{fffd}" : String.fromCodePoint(point);
    }
    return text;
  };
}
