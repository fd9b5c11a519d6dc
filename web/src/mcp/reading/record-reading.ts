/**
 * Lines of a text, and rows of a table, a list of documents or a JSON array.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { counted, grouped, humanSize } from "../../core/amounts.js";
import type { Told } from "./answer.js";
import {
  CsvSplitter,
  ElementSplitter,
  LineSplitter,
  RecordCollector,
  type KeepLimits,
  type Kept,
  type Splitter,
} from "./records.js";
import { artifactUri } from "./definition.js";
import { COUNTED_BYTES, MAX_RECORD_CHARS, MAX_RESOURCE_PART } from "./limits.js";
import type { Look } from "./look.js";
import type { RecordSpec } from "./request.js";
import { pour, type Readable } from "./source.js";

type RecordMode = "lines" | "rows";

interface Found {
  readonly header: Kept | undefined;
  readonly kept: readonly Kept[];
  /** How many there are; undefined where not all were read. */
  readonly total: number | undefined;
  /** A quote that was opened never closed, so that the rows behind it look like one. */
  readonly isUnclosed: boolean;
}

const CUTS_NAMED = 3;

/** Tells of lines or rows in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…. */
export async function tellRecords(
  from: Readable,
  look: Look,
  mode: RecordMode,
  range: RecordSpec,
  most: number,
): Promise<Told> {
  const limits: KeepLimits = { each: Math.min(MAX_RECORD_CHARS, most), all: most, excess: "cut" };
  const { header, kept, total, isUnclosed } = await readRecords(from, look, mode, range, limits);
  const first = kept[0] as Kept;
  const last = kept.at(-1) as Kept;
  const which = first === last ? `${nounOf(mode)} ${first.index}` : `${mode} ${first.index}-${last.index}`;
  const shown = header === undefined ? kept : [header, ...kept];
  return {
    head: `${artifactUri(from.ref.id)}, ${which}${total === undefined ? "" : ` of ${grouped(total)}`}${aboutRows(mode, look)}`,
    data: shown.map((record) => (record.isCut ? `${record.text}…` : record.text)).join("\n"),
    notes: [
      ...moreNotes(last.index, range, total, mode),
      ...(isUnclosed ? ["A quote is never closed, so the last row takes all that follows it."] : []),
      ...cutNotes(shown, mode),
    ],
  };
}

/** The same records whole, without a word of ours: for a resource. Throws the same. */
export async function textOfRecords(from: Readable, look: Look, mode: RecordMode, range: RecordSpec): Promise<string> {
  const limits: KeepLimits = { each: MAX_RESOURCE_PART, all: MAX_RESOURCE_PART, excess: "refuse" };
  const { header, kept } = await readRecords(from, look, mode, range, limits);
  return (header === undefined ? kept : [header, ...kept]).map(({ text }) => text).join("\n");
}

async function readRecords(
  from: Readable,
  look: Look,
  mode: RecordMode,
  range: RecordSpec,
  limits: KeepLimits,
): Promise<Found> {
  const { size_bytes: size } = from.ref;
  const countsAll = size <= COUNTED_BYTES;
  // A header and the rows below it may take half of the room each.
  const hasHeader = mode === "rows" && look.layout.kind === "csv";
  const share = hasHeader ? { ...limits, all: Math.floor(limits.all / 2) } : limits;
  const header = new RecordCollector({ first: 1, last: 1 }, share);
  const records = new RecordCollector(range, share);
  const splitter = splitterFor(look, mode, header, records, !countsAll);
  const start = mode === "rows" ? look.markBytes : 0;
  const end = Math.min(size, from.maxScanned);
  await pour(from, { start, end }, (chunk) => {
    splitter.push(chunk);
    return countsAll || !records.isFull;
  });
  const isToEnd = end === size && (countsAll || !records.isFull);
  if (isToEnd) splitter.end();
  if (records.kept.length === 0) throw outside(mode, range, records.count, isToEnd, end, look);
  return {
    header: header.kept[0],
    kept: records.kept,
    total: isToEnd ? records.count : undefined,
    isUnclosed: isToEnd && splitter instanceof CsvSplitter && splitter.isOpen,
  };
}

function splitterFor(
  { layout, markBytes }: Look,
  mode: RecordMode,
  header: RecordCollector,
  records: RecordCollector,
  stopsEarly: boolean,
): Splitter {
  if (mode === "lines") return new LineSplitter(records, 0);
  if (layout.kind === "csv") return new CsvSplitter(header, records, layout.delimiter, markBytes);
  if (layout.kind === "ndjson") return new LineSplitter(records, markBytes, true);
  if (layout.kind === "array") return new ElementSplitter(records, markBytes, stopsEarly);
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    "The artifact has no rows: it is neither CSV, TSV, NDJSON nor a JSON array. Use lines, or pointer for JSON.",
    { path: "rows" },
  );
}

function outside(
  mode: RecordMode,
  { first }: RecordSpec,
  count: number,
  isToEnd: boolean,
  read: number,
  look: Look,
): SluiceError {
  if (!isToEnd) {
    return new SluiceError(
      "E_TOO_LARGE",
      `${mode} ${first} is not within the first ${humanSize(read)}, which have ${grouped(count)}: use bytes or search.`,
      { path: mode },
    );
  }
  const behind = mode === "rows" && look.layout.kind === "csv" ? " behind its header" : "";
  const there =
    count === 0 ? `has no ${mode}${behind}` : `has ${counted(count, nounOf(mode))}${behind}: ask for "1-${count}"`;
  return new SluiceError("E_INVALID_ARGUMENT", `The range is outside: the artifact ${there}.`, { path: mode });
}

function nounOf(mode: RecordMode): string {
  return mode === "lines" ? "line" : "row";
}

function aboutRows(mode: RecordMode, { layout }: Look): string {
  if (mode === "lines") return "";
  if (layout.kind === "csv") return ", below the header";
  return layout.kind === "array" ? ", where row 1 is pointer /0" : "";
}

/** Where the rest of what was cut stands. */
function cutNotes(records: readonly Kept[], mode: RecordMode): readonly string[] {
  const cut = records.filter(({ isCut }) => isCut);
  if (cut.length === 0) return [];
  const named = cut
    .slice(0, CUTS_NAMED)
    .map(({ start, size }) => `bytes "${start}-${start + size - 1}" (${humanSize(size)})`);
  const more = cut.length > CUTS_NAMED ? ` and ${grouped(cut.length - CUTS_NAMED)} more` : "";
  return [`Cut at "…", whole they are: ${named.join(", ")}${more} (${counted(cut.length, `long ${nounOf(mode)}`)}).`];
}

function moreNotes(last: number, range: RecordSpec, total: number | undefined, mode: RecordMode): readonly string[] {
  const wanted = Math.min(range.last, total ?? Infinity);
  if (last >= wanted) return [];
  const rest = wanted === Infinity ? `${last + 1}-` : `${last + 1}-${wanted}`;
  return [`The answer is full: read on with ${mode} "${rest}".`];
}
