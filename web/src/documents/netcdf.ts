/**
 * NetCDF 3 as rows (NetCDF Classic Format Specification, with 64-bit offsets and data): its variables, and with the name of one its values, each
 * with the coordinates that it stands at.
 * @module
 */
import { countNoun } from "../core/amounts.js";
import {
  checkExtent,
  createNumberReader,
  createTextReader,
  type Dimension,
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
} from "./document.js";
import { findPart } from "./part.js";
import { writeRow } from "./table-cells.js";

const NAME = "NetCDF file";

/** Bytes of a header that are read for one entry of a list, at least. */
const MIN_ENTRY = 8;

/** Types by their number, with the bytes that an item has. */
const TYPES: Readonly<Record<number, readonly [name: string, kind: "i" | "u" | "f" | "text", bytes: number]>> = {
  1: ["int8", "i", 1],
  2: ["text", "text", 1],
  3: ["int16", "i", 2],
  4: ["int32", "i", 4],
  5: ["float32", "f", 4],
  6: ["float64", "f", 8],
  7: ["uint8", "u", 1],
  8: ["uint16", "u", 2],
  9: ["uint32", "u", 4],
  10: ["int64", "i", 8],
  11: ["uint64", "u", 8],
};

interface Variable {
  readonly name: string;
  readonly notes: ReadonlyMap<string, unknown>;
  readonly type: number;
  readonly axes: readonly { readonly name: string; readonly length: number }[];
  readonly start: number;
  readonly isRecord: boolean;
}

/** Converts a file, or the variable that `sheet` names. Throws E_INVALID_ARGUMENT for another form than `rows`. */
export function convertNetcdf(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, NAME, ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  // oxlint-disable-next-line require-await -- what takes it waits for steps
  return convertText(NAME, sink, options, async function* () {
    const { variables, recordBytes } = new HeaderReader(bytes).read();
    if (options.sheet === undefined) {
      const columns = ["variable", "type", "dimensions", "units", "long_name"];
      facts.part = "section";
      facts.notice(`It has ${countNoun(variables.length, "variable")}.`);
      sink.add(writeRow(columns));
      for (const { name, type, axes, notes } of variables) {
        const shape = axes.map((axis) => `${axis.name} ${axis.length}`).join(" × ");
        sink.add(writeRow([name, TYPES[type]?.[0], shape, notes.get("units"), notes.get("long_name")]));
      }
      yield;
      return;
    }
    const { name, slice } = splitSlice(options.sheet);
    const chosen = findPart(variables, name, "variable");
    const arrays = new Map(variables.map((variable) => [variable.name, toArray(variable, recordBytes)]));
    const array = arrays.get(chosen.name) as NumberArray;
    const { dimensions } = array;
    const labelled = dimensions.map((dimension) => labelDimension(dimension, arrays.get(dimension.name), array, bytes));
    if (isPacked(chosen)) facts.notice("Its values are unpacked by its scale_factor and add_offset.");
    yield* writeArray(sink, facts, bytes, { ...array, dimensions: labelled }, slice);
  });
}

/** A dimension with the values of the variable that is called like it. */
function labelDimension(
  dimension: Dimension,
  axis: NumberArray | undefined,
  array: NumberArray,
  bytes: Uint8Array,
): Dimension {
  if (
    axis === undefined ||
    axis === array ||
    axis.dimensions.length !== 1 ||
    axis.dimensions[0]?.name !== dimension.name
  )
    return dimension;
  checkExtent(axis, bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [{ stride }] = axis.dimensions as [Dimension];
  return { ...dimension, label: (place) => axis.read(view, axis.start + place * stride) };
}

function toArray(variable: Variable, recordBytes: number): NumberArray {
  const { name, axes, start, isRecord } = variable;
  const [type, kind, itemBytes] = TYPES[variable.type] as (typeof TYPES)[number];
  // Characters along the last dimension are a text.
  const isText = kind === "text" && axes.length > 0 && !(isRecord && axes.length === 1);
  const shape = axes.map(({ length }) => length);
  const textBytes = isText ? (shape.at(-1) as number) : 1;
  const strides = findStrides(isRecord ? [1, ...shape.slice(1)] : shape, itemBytes);
  const dimensions = axes.map((axis, at) => ({
    ...axis,
    stride: isRecord && at === 0 ? recordBytes : (strides[at] as number),
  }));
  return {
    name,
    type,
    dimensions: isText ? dimensions.slice(0, -1) : dimensions,
    start,
    itemBytes: kind === "text" ? textBytes : itemBytes,
    read:
      kind === "text"
        ? createTextReader(textBytes)
        : unpack(createNumberReader(kind, itemBytes, false) as ItemReader, variable),
  };
}

function isPacked({ notes }: Variable): boolean {
  return typeof notes.get("scale_factor") === "number" || typeof notes.get("add_offset") === "number";
}

/** Values as they are meant: what is missing is an empty cell, what is packed is scaled (NetCDF Users Guide, Attribute Conventions). */
function unpack(read: ItemReader, variable: Variable): ItemReader {
  const { notes } = variable;
  const missing = [notes.get("_FillValue"), notes.get("missing_value")].flat();
  const [scale, offset] = [notes.get("scale_factor") ?? 1, notes.get("add_offset") ?? 0];
  return (view, at) => {
    const value = read(view, at);
    if (missing.includes(value)) return null;
    if (!isPacked(variable) || typeof scale !== "number" || typeof offset !== "number") return value;
    // Sums of decimal fractions have digits that nothing measured.
    return typeof value === "number" ? Number((value * scale + offset).toPrecision(12)) : value;
  };
}

/** Reads the header, whose lists are no longer than its bytes. */
class HeaderReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #version: number;
  #at = 4;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#version = this.#view.getUint8(3);
  }

  read(): { readonly variables: readonly Variable[]; readonly recordBytes: number } {
    const stated = this.#size();
    const dimensions = this.#list(() => ({ name: this.#name(), length: this.#size() }));
    this.#list(() => this.#note());
    const raw = this.#list(() => this.#variable(dimensions));
    const records = raw.filter(({ isRecord }) => isRecord);
    const sizes = records.map(({ type, axes }) =>
      axes.slice(1).reduce((product, { length }) => product * length, TYPES[type]?.[2] ?? 1),
    );
    // The only one has no bytes between its records.
    const recordBytes =
      sizes.length === 1 ? (sizes[0] as number) : sizes.reduce((sum, size) => sum + Math.ceil(size / 4) * 4, 0);
    const first = Math.min(...records.map(({ start }) => start));
    const room = recordBytes === 0 ? 0 : Math.floor((this.#bytes.length - first) / recordBytes);
    // A program that still writes says that it does not know yet.
    const count = stated >= 2 ** 32 - 1 ? room : Math.min(stated, Math.max(0, room));
    const variables = raw.map((variable) => ({
      ...variable,
      axes: variable.axes.map((axis, at) => (variable.isRecord && at === 0 ? { ...axis, length: count } : axis)),
    }));
    return { variables, recordBytes };
  }

  #variable(dimensions: readonly { readonly name: string; readonly length: number }[]): Variable {
    const name = this.#name();
    const rank = this.#readCount(4);
    const axes = Array.from({ length: rank }, () => {
      const axis = dimensions[this.#size()];
      if (axis === undefined) throw toDamagedError(NAME);
      return axis;
    });
    const notes = new Map(this.#list(() => this.#note()));
    const type = this.#int();
    if (TYPES[type] === undefined) throw toDamagedError(NAME);
    this.#size();
    const start = this.#version === 1 ? this.#int() : this.#long();
    return { name, notes, type, axes, start, isRecord: axes[0]?.length === 0 };
  }

  #note(): readonly [name: string, value: unknown] {
    const name = this.#name();
    const [, kind, size] = TYPES[this.#int()] ?? [];
    if (kind === undefined || size === undefined) throw toDamagedError(NAME);
    const count = this.#readCount(size);
    const start = this.#take(count * size);
    if (kind === "text") return [name, createTextReader(count)(this.#view, start)];
    const read = createNumberReader(kind, size, false) as ItemReader;
    const values = Array.from({ length: Math.min(count, 4) }, (_, at) => read(this.#view, start + at * size));
    return [name, values.length === 1 ? values[0] : values];
  }

  #list<Item>(readItem: () => Item): Item[] {
    this.#int();
    const count = this.#readCount(MIN_ENTRY);
    return Array.from({ length: count }, readItem);
  }

  /** A count of things that have at least so many bytes each. */
  #readCount(bytes: number): number {
    const count = this.#size();
    if (count * bytes > this.#bytes.length - this.#at) throw toDamagedError(NAME);
    return count;
  }

  #name(): string {
    const length = this.#readCount(1);
    return new TextDecoder().decode(this.#bytes.subarray(this.#take(length), this.#at).subarray(0, length));
  }

  /** Where some bytes are, which are filled up to four. */
  #take(length: number): number {
    const start = this.#at;
    this.#at += Math.ceil(length / 4) * 4;
    return start;
  }

  #size(): number {
    return this.#version === 5 ? this.#long() : this.#int();
  }

  #int(): number {
    const value = this.#view.getUint32(this.#at);
    this.#at += 4;
    return value;
  }

  #long(): number {
    const value = Number(this.#view.getBigUint64(this.#at));
    this.#at += 8;
    return value;
  }
}
