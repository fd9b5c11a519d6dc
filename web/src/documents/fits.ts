/**
 * FITS as rows (FITS Standard 4.0): the rows of its table, or of the one that is named; the values of an image; what it has, where that is more
 * than one.
 * @module
 */
import {
  createNumberReader,
  createTextReader,
  findStrides,
  type ItemReader,
  type NumberArray,
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
  type TextSink,
} from "./document.js";
import { findPart } from "./part.js";
import { describeTable, ROWS_PER_STEP, writeRow } from "./table-cells.js";

const NAME = "FITS file";

const BLOCK = 2880;
const CARD = 80;

/** Most parts, lines of a header, and columns of a table (TFIELDS). */
const MAX_PARTS = 1000;
const MAX_CARDS = 20_000;
const MAX_COLUMNS = 999;

type Header = ReadonlyMap<string, string>;

interface Part {
  readonly name: string;
  readonly header: Header;
  readonly kind: "image" | "table" | "text table";
  readonly shape: readonly number[];
  readonly start: number;
}

/** Converts a file, or the part of it that `sheet` names. Throws E_INVALID_ARGUMENT for another form than `rows`. */
export function convertFits(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, NAME, ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  // oxlint-disable-next-line require-await -- what takes it waits for steps
  return convertText(NAME, sink, options, async function* () {
    const parts = readParts(bytes).filter(({ shape }) => shape.length > 0);
    const { name, slice } = splitSlice(options.sheet ?? "");
    const only = parts.length === 1 ? parts[0] : undefined;
    if (only === undefined && name === "") {
      listParts(sink, facts, parts);
      yield;
      return;
    }
    const part = name === "" ? (only as Part) : findPart(parts, name, "table or image");
    yield* part.kind === "image"
      ? writeArray(sink, facts, bytes, toArray(part), slice)
      : writeTable(sink, facts, bytes, part);
  });
}

function listParts(sink: TextSink, facts: FactsBuilder, parts: readonly Part[]): void {
  facts.part = "section";
  facts.notice(
    `It has ${parts.length} parts: one of them is read with sheet, by its name or number, such as sheet "1".`,
  );
  sink.add(writeRow(["part", "name", "kind", "size", "columns"]));
  parts.forEach((part, at) => {
    const { name, kind, shape, header } = part;
    const size = kind === "image" ? shape.join(" × ") : `${shape[0]} rows`;
    const names =
      kind === "image"
        ? ""
        : readColumns(part)
            .map((column) => column.name)
            .join(", ");
    sink.add(writeRow([at + 1, header.has("EXTNAME") ? name : "", kind, size, names]));
  });
}

/** Where the parts are: a header of lines, then what it says. */
function readParts(bytes: Uint8Array): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at + BLOCK <= bytes.length && parts.length < MAX_PARTS;) {
    const { header, end } = readHeader(bytes, at);
    const axes = readInt(header, "NAXIS") ?? 0;
    if (axes < 0 || axes > MAX_COLUMNS) throw toDamagedError(NAME);
    const sizes = Array.from({ length: axes }, (_, axis) => readInt(header, `NAXIS${axis + 1}`) ?? 0);
    if (sizes.some((size) => size < 0)) throw toDamagedError(NAME);
    const items = sizes.length === 0 ? 0 : sizes.reduce((product, size) => product * size, 1);
    const behind = readInt(header, "PCOUNT") ?? 0;
    const length = (Math.abs(readInt(header, "BITPIX") ?? 8) / 8) * (readInt(header, "GCOUNT") ?? 1) * (items + behind);
    if (!Number.isSafeInteger(length) || length < 0) throw toDamagedError(NAME);
    const extension = header.get("XTENSION") ?? "IMAGE";
    const kind =
      extension === "BINTABLE" || extension === "A3DTABLE" ? "table" : extension === "TABLE" ? "text table" : "image";
    // Axes stand with the one that varies fastest first.
    const shape = kind === "image" ? sizes.toReversed() : sizes.length < 2 ? [] : [sizes[1] as number];
    parts.push({
      name: header.get("EXTNAME") ?? String(parts.length),
      header,
      kind,
      shape: items === 0 && kind === "image" ? [] : shape,
      start: end,
    });
    at = end + Math.ceil(length / BLOCK) * BLOCK;
  }
  return parts;
}

function readHeader(bytes: Uint8Array, start: number): { readonly header: Header; readonly end: number } {
  const header = new Map<string, string>();
  for (let card = 0; card < MAX_CARDS; card++) {
    const at = start + card * CARD;
    if (at + CARD > bytes.length) break;
    const line = String.fromCharCode(...bytes.subarray(at, at + CARD));
    const key = line.slice(0, 8).trimEnd();
    if (key === "END") return { header, end: start + Math.ceil(((card + 1) * CARD) / BLOCK) * BLOCK };
    if (line.slice(8, 10) !== "= ") continue;
    const text = /^\s*'((?:[^']|'')*)'/.exec(line.slice(10))?.[1];
    header.set(
      key,
      text === undefined ? (line.slice(10).split("/", 1)[0] ?? "").trim() : text.replaceAll("''", "'").trimEnd(),
    );
  }
  throw toDamagedError(NAME);
}

function readInt(header: Header, key: string): number | undefined {
  const value = header.get(key);
  if (value === undefined || !/^[-+]?\d{1,15}$/.test(value)) return undefined;
  return Number(value);
}

/** A number, whose exponent may be one of Fortran. */
function readFloat(header: Header, key: string, otherwise: number): number {
  const value = Number(header.get(key)?.replace(/d/i, "e") ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
}

function toArray({ header, shape, start }: Part): NumberArray {
  const bits = readInt(header, "BITPIX") ?? 8;
  const itemBytes = Math.abs(bits) / 8;
  const plain = createNumberReader(bits < 0 ? "f" : bits === 8 ? "u" : "i", itemBytes, false);
  if (plain === undefined) throw toDamagedError(NAME);
  const scale = {
    factor: readFloat(header, "BSCALE", 1),
    offset: readFloat(header, "BZERO", 0),
    missing: readInt(header, "BLANK"),
  };
  const strides = findStrides(shape, itemBytes);
  const dimensions = shape.map((length, at) => ({
    name: `axis${shape.length - at}`,
    length,
    stride: strides[at] as number,
  }));
  const type = bits < 0 ? `float${-bits}` : `int${bits}`;
  return { name: "value", type, dimensions, start, itemBytes, read: scaleReader(plain, scale) };
}

interface Scale {
  readonly factor: number;
  readonly offset: number;
  readonly missing: number | undefined;
}

function scaleReader(read: ItemReader, { factor, offset, missing }: Scale): ItemReader {
  if (factor === 1 && offset === 0 && missing === undefined) return read;
  return (view, at) => {
    const value = read(view, at);
    if (missing !== undefined && Number(value) === missing) return null;
    if (factor === 1 && offset === 0) return value;
    // Unsigned numbers of 64 bits are signed ones that are moved.
    if (typeof value === "bigint" && factor === 1) return value + BigInt(offset);
    return Number((Number(value) * factor + offset).toPrecision(15));
  };
}

interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly at: number;
  readonly bytes: number;
  readonly read: ItemReader;
}

function readColumns(part: Part): readonly TableColumn[] {
  const count = readInt(part.header, "TFIELDS") ?? 0;
  if (count < 0 || count > MAX_COLUMNS) throw toDamagedError(NAME);
  let at = 0;
  return Array.from({ length: count }, (_, index) => {
    const column = readColumn(part, index + 1, at);
    at += column.bytes;
    return column;
  });
}

/** Forms of a binary table: what they are called, and the bytes of an item. */
const FORMS: Readonly<Record<string, readonly [type: string, kind: "i" | "u" | "f" | "c", bytes: number]>> = {
  B: ["uint8", "u", 1],
  I: ["int16", "i", 2],
  J: ["int32", "i", 4],
  K: ["int64", "i", 8],
  E: ["float32", "f", 4],
  D: ["float64", "f", 8],
  C: ["complex64", "c", 8],
  M: ["complex128", "c", 16],
};

function readColumn({ header, kind }: Part, number: number, at: number): TableColumn {
  const name = header.get(`TTYPE${number}`) ?? `column${number}`;
  const form = header.get(`TFORM${number}`) ?? "";
  const scale = {
    factor: readFloat(header, `TSCAL${number}`, 1),
    offset: readFloat(header, `TZERO${number}`, 0),
    missing: readInt(header, `TNULL${number}`),
  };
  if (kind === "text table") {
    const [, letter = "A", width = "1"] = /^([AIFED])(\d+)/.exec(form) ?? [];
    const bytes = Number(width);
    const text = createTextReader(bytes);
    const start = (readInt(header, `TBCOL${number}`) ?? 1) - 1;
    const read: ItemReader = letter === "A" ? text : (view, place) => parseNumber(String(text(view, place)), scale);
    return { name, type: letter === "A" ? "text" : "number", at: start, bytes, read };
  }
  const [, repeat = "", letter = ""] = /^(\d*)([LXBIJKAEDCMPQ])/.exec(form) ?? [];
  const count = repeat === "" ? 1 : Number(repeat);
  if (letter === "A") return { name, type: "text", at, bytes: count, read: createTextReader(count) };
  if (letter === "X") {
    const bytes = Math.ceil(count / 8);
    return {
      name,
      type: "bits",
      at,
      bytes,
      read: (view, place) =>
        new Uint8Array(view.buffer.slice(view.byteOffset + place, view.byteOffset + place + bytes)),
    };
  }
  if (letter === "P" || letter === "Q") {
    const isWide = letter === "Q";
    // Where the list stands is told apart from the rows.
    const read: ItemReader = (view, place) => `${isWide ? view.getBigInt64(place) : view.getInt32(place)} items`;
    return { name, type: "list", at, bytes: count * (isWide ? 16 : 8), read };
  }
  if (letter === "L") return { name, type: "bool", at, bytes: count, read: repeatReader(readLogical, count, 1) };
  const [type, numberKind, bytes] = FORMS[letter] ?? [];
  const plain =
    numberKind === undefined || bytes === undefined ? undefined : createNumberReader(numberKind, bytes, false);
  if (plain === undefined || type === undefined || bytes === undefined) throw toDamagedError(NAME);
  const read = numberKind === "c" ? plain : scaleReader(plain, scale);
  return { name, type, at, bytes: count * bytes, read: repeatReader(read, count, bytes) };
}

/** `T`, `F`, or nothing known. */
function readLogical(view: DataView, at: number): boolean | null {
  const byte = view.getUint8(at);
  return byte === 0x54 || byte === 0x46 ? byte === 0x54 : null;
}

/** Most items of one cell. */
const MAX_REPEATS = 10_000;

function repeatReader(read: ItemReader, count: number, bytes: number): ItemReader {
  if (count === 1) return read;
  const shown = Math.min(count, MAX_REPEATS);
  return (view, at) => Array.from({ length: shown }, (_, index) => read(view, at + index * bytes));
}

function parseNumber(text: string, { factor, offset }: Scale): number | null {
  const plain = text.trim().replace(/d/i, "e");
  if (plain === "" || !Number.isFinite(Number(plain))) return null;
  return factor === 1 && offset === 0 ? Number(plain) : Number((Number(plain) * factor + offset).toPrecision(15));
}

function* writeTable(sink: TextSink, facts: FactsBuilder, bytes: Uint8Array, part: Part): Generator<void> {
  const { header, start, shape } = part;
  const columns = readColumns(part);
  const rowBytes = readInt(header, "NAXIS1") ?? 0;
  if (columns.some(({ at, bytes: width }) => at < 0 || at + width > rowBytes)) throw toDamagedError(NAME);
  const count = Math.min(shape[0] as number, rowBytes === 0 ? 0 : Math.floor((bytes.length - start) / rowBytes));
  describeTable(facts, count, columns);
  sink.add(writeRow(columns.map(({ name }) => name)));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < count; row++) {
    sink.add(writeRow(columns.map(({ read, at }) => read(view, start + row * rowBytes + at))));
    if (row % ROWS_PER_STEP === 0) yield;
  }
}
