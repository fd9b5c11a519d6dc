/**
 * Parquet as rows of CSV, with its columns and their types told.
 * @module
 */
import {
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from "hyparquet";
import { decompressGzip, decompressLz4Raw, decompressZstd } from "hyparquet-compressors";
import {
  checkForm,
  convertText,
  type Converted,
  type ConvertOptions,
  FactsBuilder,
  createSink,
  unreadable,
} from "./document.js";
import { csvCell } from "../query/csv-cells.js";

/** What programs compress with, beside Snappy, which hyparquet has. Brotli's dictionary alone would be 80 KB. */
const CODECS: Compressors = {
  GZIP: decompressGzip,
  ZSTD: (input, size) => decompressZstd(input, new Uint8Array(size)),
  LZ4_RAW: decompressLz4Raw,
};
const KNOWN: ReadonlySet<string> = new Set(["UNCOMPRESSED", "SNAPPY", ...Object.keys(CODECS)]);

/** Rows that are decoded together. */
const BATCH = 20_000;

/** Most columns whose types are told. */
const MAX_TOLD = 50;

/** Converts a Parquet file (Apache Parquet format 2). Throws E_INVALID_ARGUMENT for another form than `rows`. */
export async function convertParquet(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, "Parquet file", ["rows"]);
  const facts = new FactsBuilder("section");
  const sink = createSink(facts, options);
  return convertText("Parquet file", sink, options, async function* () {
    const file = toAsyncBuffer(bytes);
    const metadata = await parquetMetadataAsync(file);
    checkCodecs(metadata);
    const columns = readColumns(metadata);
    facts.notice(describeTable(metadata, columns));
    sink.add(`${columns.map(({ name }) => csvCell(name)).join(",")}\n`);
    const total = Number(metadata.num_rows);
    for (let rowStart = 0; rowStart < total; rowStart += BATCH) {
      const rowEnd = Math.min(total, rowStart + BATCH);
      const rows = await parquetReadObjects({ file, metadata, compressors: CODECS, rowStart, rowEnd });
      for (const row of rows) {
        sink.add(`${columns.map(({ name }) => csvCell(toCell(row[name]))).join(",")}\n`);
      }
      yield;
    }
  });
}

function checkCodecs({ row_groups: groups }: FileMetaData): void {
  for (const { columns } of groups) {
    const codec = columns.find((column) => !KNOWN.has(column.meta_data?.codec ?? "UNCOMPRESSED"))?.meta_data?.codec;
    if (codec !== undefined)
      throw unreadable(`The Parquet file is compressed with ${codec}, which is not read: write it with ZSTD.`);
  }
}

interface Column {
  readonly name: string;
  readonly type: string;
}

function readColumns(metadata: FileMetaData): readonly Column[] {
  return parquetSchema(metadata).children.map(({ element }) => {
    const { name, logical_type: logical, converted_type: legacy, type } = element;
    return { name, type: (logical?.type ?? legacy ?? type ?? "group").toLowerCase() };
  });
}

function describeTable({ num_rows: rows }: FileMetaData, columns: readonly Column[]): string {
  const told = columns.slice(0, MAX_TOLD).map(({ name, type }) => `${JSON.stringify(name.slice(0, 60))} ${type}`);
  const more = columns.length > MAX_TOLD ? ` and ${columns.length - MAX_TOLD} more` : "";
  return `It has ${rows} rows, with the columns ${told.join(", ")}${more}.`;
}

/** What hyparquet reads from. */
function toAsyncBuffer(bytes: Uint8Array): { byteLength: number; slice(start: number, end?: number): ArrayBuffer } {
  return {
    byteLength: bytes.length,
    slice: (start, end) => Uint8Array.from(bytes.subarray(start, end)).buffer,
  };
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (value instanceof Uint8Array)
    return `0x${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)).replace(
    /^"(-?\d+)"$/,
    "$1",
  );
}
