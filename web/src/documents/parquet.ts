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
import { type Column, describeTable, writeRow } from "./table-cells.js";

/** What programs compress with, beside Snappy, which hyparquet has. Brotli's dictionary alone would be 80 KB. */
const CODECS: Compressors = {
  GZIP: decompressGzip,
  ZSTD: (input, size) => decompressZstd(input, new Uint8Array(size)),
  LZ4_RAW: decompressLz4Raw,
};
const KNOWN: ReadonlySet<string> = new Set(["UNCOMPRESSED", "SNAPPY", ...Object.keys(CODECS)]);

/** Rows that are decoded together. */
const BATCH = 20_000;

/** Converts a Parquet file (Apache Parquet format 2). Throws E_INVALID_ARGUMENT for another form than `rows`. */
export async function convertParquet(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, "Parquet file", ["rows"]);
  const facts = new FactsBuilder("column");
  const sink = createSink(facts, options);
  return convertText("Parquet file", sink, options, async function* () {
    const file = toAsyncBuffer(bytes);
    const metadata = await parquetMetadataAsync(file);
    checkCodecs(metadata);
    const columns = readColumns(metadata);
    describeTable(facts, metadata.num_rows, columns);
    sink.add(writeRow(columns.map(({ name }) => name)));
    const total = Number(metadata.num_rows);
    for (let rowStart = 0; rowStart < total; rowStart += BATCH) {
      const rowEnd = Math.min(total, rowStart + BATCH);
      const rows = await parquetReadObjects({ file, metadata, compressors: CODECS, rowStart, rowEnd });
      for (const row of rows) sink.add(writeRow(columns.map((column) => readValue(row, column))));
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

function readColumns(metadata: FileMetaData): readonly Column[] {
  return parquetSchema(metadata).children.map(({ element }) => {
    const { name, logical_type: logical, converted_type: legacy, type } = element;
    return { name, type: (logical?.type ?? legacy ?? type ?? "group").toLowerCase() };
  });
}

/** What hyparquet reads from. */
function toAsyncBuffer(bytes: Uint8Array): { byteLength: number; slice(start: number, end?: number): ArrayBuffer } {
  return {
    byteLength: bytes.length,
    slice: (start, end) => Uint8Array.from(bytes.subarray(start, end)).buffer,
  };
}

/** A value: a date is a day, not a moment. */
function readValue(row: Readonly<Record<string, unknown>>, { name, type }: Column): unknown {
  const value = row[name];
  const isDay = type === "date" && value instanceof Date && !Number.isNaN(value.getTime());
  return isDay ? value.toISOString().replace(/T.*$/, "") : value;
}
