/**
 * What an artifact is read as: the text of a document, a sheet's rows, an archive's entries. Each is made once, and stored as an
 * artifact of its own that is found again.
 * @module
 */
import { sha256 } from "#hash";
import { withoutTimes } from "../../artifacts/reference.js";
import type { ArtifactPatch, ArtifactWriter, StoredArtifact } from "../../artifacts/store.js";
import type { ArchiveSource } from "../../documents/archive.js";
import type { ConversionFacts, ConversionRequest } from "../../documents/conversion.js";
import type { DocumentForm } from "../../documents/document.js";
import { type DocumentKind, isArchive, findTraits } from "../../documents/kind.js";
import { inTurn, MAX_INPUT } from "../../documents/sandbox.js";
import { SluiceError } from "../../errors/error.js";
import { joinPointer } from "../../json/pointer.js";
import { csvRecord } from "../../query/csv-cells.js";
import { findDrawnTable, readDrawnRows } from "../../query/drawn-table.js";
import type { TableBytes } from "../../query/types.js";
import { humanSize } from "../../core/amounts.js";
import { SingleFlight } from "../../core/keyed-work.js";
import { quote } from "./definition.js";
import { chooseForm, documentKind, readHead, type TextEncoding } from "./inspection.js";
import { refuseRows } from "./records.js";
import type { Selection, Wanted } from "./request.js";
import { findNoted, noteDerived, findRecord } from "./derived-record.js";
import { readFacts, loadPart, pause, readSpan, type Readable, type ReadSource } from "./source.js";

/**
 * The form of an artifact in which something is read of it: the artifact itself, or what it becomes. Throws E_DOCUMENT,
 * E_INVALID_ARGUMENT, E_TOO_LARGE, E_STORE_….
 */
export async function formFor(
  from: Readable,
  kind: DocumentKind | undefined,
  wanted: Wanted,
  selection: Selection,
): Promise<Readable> {
  const { as, sheet } = selection;
  const form = chooseForm(kind, wanted.mode, selection);
  if (kind === undefined || form === undefined) {
    if (as === undefined && sheet === undefined) return from;
    const what = sheet === undefined ? `as ${quote(as ?? "")}` : "with a sheet";
    throw wrong(
      sheet === undefined ? "as" : "sheet",
      `The artifact is not a document that is read ${what}: leave ${sheet === undefined ? "as" : "sheet"} out.`,
    );
  }
  const { forms, name, part } = findTraits(kind);
  if (!forms.includes(form)) throw wrong(as === undefined ? wanted.mode : "as", noForm(name, form, forms));
  if (sheet !== undefined && !forms.includes("cells") && part === undefined)
    throw wrong("sheet", `The ${name} has no sheets: leave sheet out.`);
  if (kind === "archive") return listEntries(from);
  const isSheet = form === "cells" || form === "values";
  const chosen = isSheet ? (sheet ?? (await sheetNamed(from, kind, wanted))) : sheet;
  return documentForm(from, kind, form, chosen);
}

/** The sheet that a query names as its table. */
async function sheetNamed(from: Readable, kind: DocumentKind, wanted: Wanted): Promise<string | undefined> {
  const name = wanted.mode === "query" ? tableNameIn(wanted.sql) : undefined;
  if (name === undefined) return undefined;
  const { names = [] } = readFacts(await documentForm(from, kind, "text", undefined)) ?? {};
  return names.find((sheet) => sheet.toLowerCase() === name.toLowerCase());
}

/** The first table of a query, if it has another name than `rows`. */
function tableNameIn(sql: string): string | undefined {
  const [, quoted, plain] = /\bfrom\s+(?:"([^"]+)"|([\p{L}_][\p{L}\p{N}_]*))/iu.exec(sql) ?? [];
  const name = quoted ?? plain;
  return name?.toLowerCase() === "rows" ? undefined : name;
}

function noForm(name: string, form: DocumentForm, forms: readonly DocumentForm[]): string {
  if (forms.length === 0) return `The ${name} has no ${form}: read it as an image, or its bytes.`;
  const others = forms.includes("cells") ? ["text", "rows"] : forms;
  return `The ${name} has no ${form}: read its ${others.join(" or ")}.`;
}

async function documentForm(
  from: Readable,
  kind: DocumentKind,
  form: DocumentForm,
  sheet: string | undefined,
): Promise<Readable> {
  const how = sheet === undefined ? form : `${form}:${sheet}`;
  const { name } = findTraits(kind);
  const isRows = form !== "text" && form !== "links";
  const info: ArtifactPatch = {
    mime_type: isRows ? "text/csv" : "text/plain",
    filename: `${from.ref.filename ?? from.ref.id}${sheet === undefined ? "" : `.${sheet}`}.${isRows ? "csv" : "txt"}`,
  };
  return deriveArtifact(from, how, info, async (source, writer) => {
    const request: ConversionRequest = { kind, form, ...(sheet !== undefined && { sheet }) };
    const facts = await convertArtifact(source, name, request, (chunk) => writer.write(chunk));
    return { document: facts };
  });
}

/** Converts an artifact, apart from the main thread. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE. */
export async function convertArtifact(
  from: Readable,
  name: string,
  request: ConversionRequest,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<ConversionFacts> {
  const { size_bytes: size } = from.ref;
  if (size > MAX_INPUT) {
    throw new SluiceError(
      "E_TOO_LARGE",
      `The ${name} has ${humanSize(size)}, and at most ${humanSize(MAX_INPUT)} are read. Pass the URI as a tool argument instead.`,
    );
  }
  const { convertInWorker } = await loadPart(() => import("#sandbox"));
  const { signal, sluice } = from;
  const modules = sluice?.documents;
  return inTurn(() => convertInWorker({ request, input: readChunks(from), write, modules, signal }), signal);
}

/** The bytes of an artifact from an offset on, up to another, piece by piece. */
export async function* readChunks(from: Readable, start = 0, end = from.ref.size_bytes): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += PIECE) yield readSpan(from, { start: at, end: Math.min(end, at + PIECE) });
}

/** The bytes of an artifact for a query, or those between two offsets. */
export function holdBytes(from: Readable, first = 0, end?: number): TableBytes {
  return { open: (start) => readChunks(from, first + start, end) };
}

const PIECE = 1024 * 1024;

/** Entries of an archive that are read without a pause. */
const PAUSE_ENTRIES = 500;

/** An archive as a table of its entries. */
async function listEntries(from: Readable): Promise<Readable> {
  const info = { mime_type: "text/csv", filename: `${from.ref.filename ?? from.ref.id}.entries.csv` };
  return deriveArtifact(from, "entries", info, async (source, writer) => {
    const { entryLines } = await loadPart(() => import("../../documents/archive.js"));
    let lines = "";
    let count = 0;
    for await (const line of entryLines(openArchive(source), source.signal)) {
      lines += line;
      count += 1;
      // A directory is in memory, and would be read to its end before anything else runs.
      if (count % PAUSE_ENTRIES === 0) await pause();
      if (lines.length < PIECE) continue;
      await writer.write(new TextEncoder().encode(lines));
      lines = "";
    }
    await writer.write(new TextEncoder().encode(lines));
    return {};
  });
}

/**
 * A text as what is read of it: in UTF-8, where wrong bytes become U+FFFD, and without the sequences that colour a terminal.
 * Throws E_STORE_….
 */
export async function decodeText(from: Readable, encoding: TextEncoding): Promise<Readable> {
  const { filename, id } = from.ref;
  const { EncodingDecoder, nameEncoding } = await loadPart(() => import("../../core/text-encoding.js"));
  const isPlain = encoding === "escapes";
  const how = isPlain ? "plain" : `utf-8 from ${encoding}`;
  return deriveArtifact(from, how, { filename: filename ?? `${id}.txt` }, async (source, writer, look) => {
    const decoder = new EncodingDecoder(isPlain ? "utf-8" : encoding);
    const [encoder, plain] = [new TextEncoder(), new PlainText()];
    const write = async (text: string): Promise<void> => {
      const bytes = encoder.encode(text);
      look?.push(bytes);
      await writer.write(bytes);
    };
    for await (const chunk of readChunks(source)) await write(plain.push(decoder.push(chunk)));
    await write(plain.push(decoder.end()));
    // A label that a caller gave may be one that is never told by bytes.
    const name = isPlain ? undefined : ((nameEncoding(encoding) as string | undefined) ?? encoding);
    return name === undefined ? {} : { encoding: name };
  });
}

/**
 * The rows of a table that is drawn in a text, as CSV: of the one with the most rows. Throws E_INVALID_ARGUMENT where there is none,
 * E_STORE_….
 */
export async function readDrawnTable(from: Readable): Promise<Readable> {
  const info = { mime_type: "text/csv", filename: `${from.ref.filename ?? from.ref.id}.csv` };
  return deriveArtifact(from, "table", info, async (source, writer) => {
    const table = await findDrawnTable(readChunks(source));
    if (table === undefined) throw refuseRows();
    for await (const rows of readDrawnRows(readChunks(source), table)) {
      await writer.write(new TextEncoder().encode(rows.map((row) => `${csvRecord(row)}\n`).join("")));
      await pause();
    }
    const several = table.count > 1 ? `, the one of ${table.count} that has the most rows` : "";
    return { note: `These are the rows of table ${table.at + 1}${several}: lines tells what stands around it.` };
  });
}

/** JSON of which the end is missing as what is whole of it. Throws E_INVALID_ARGUMENT where nothing is, E_STORE_…. */
export async function completeJson(from: Readable): Promise<Readable> {
  const { filename, id } = from.ref;
  const info = { mime_type: "application/json", filename: filename ?? `${id}.json` };
  return deriveArtifact(from, "whole", info, async (source, writer) => {
    const { findWholeJson } = await loadPart(() => import("../../json/cut-json.js"));
    const whole = await findWholeJson(readChunks(source));
    if (whole === undefined) throw refuseRows();
    for await (const chunk of readChunks(source, 0, whole.end)) await writer.write(chunk);
    await writer.write(new TextEncoder().encode(whole.closers));
    const left = source.ref.size_bytes - whole.end;
    return { note: `The JSON is cut off: this is what is whole of it. bytes "-${left}" tells how it ends.` };
  });
}

/**
 * Control sequences of terminals (ECMA-48 §5.4, §5.6): colours and places of the cursor, titles and links up to their end, and what is short.
 * Each is bounded, so that one without an end does not take the text with it.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- they begin with a control character
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]?|\u001b[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)?|\u001b[ -/]{0,8}[0-~]?/g;

/** Takes control sequences out of a text in pieces that may be cut anywhere. */
class PlainText {
  #held = "";

  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = "";
    return text.replace(SEQUENCES, (sequence, at: number) => {
      // It may go on in the next piece.
      if (at + sequence.length === text.length) this.#held = sequence;
      return "";
    });
  }
}

/**
 * The one file of a gzip, as an artifact of its own; the gzip itself where a tar is in it. Throws E_DOCUMENT, E_TOO_LARGE, E_STORE_….
 */
export async function unpackFile(from: Readable): Promise<Readable> {
  if (from.source.openWriter === undefined) return from;
  const { findGzippedFile } = await loadPart(() => import("../../documents/archive.js"));
  const name = await findGzippedFile(openArchive(from));
  return name === undefined ? from : takeEntry(from, name);
}

/** Bytes of a string of JSON that is read as JSON itself. */
const MAX_JSON_TEXT = 64 * 1024 * 1024;

/** A string in a JSON document as what its text is: JSON, too. Throws E_TOO_LARGE, E_STORE_…. */
export async function unwrapJson(
  from: Readable,
  tokens: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Readable> {
  if (end - start > MAX_JSON_TEXT) {
    throw new SluiceError(
      "E_TOO_LARGE",
      `The text at ${joinPointer(tokens)} is larger than 64 MB: read it with bytes.`,
      {
        path: "pointer",
      },
    );
  }
  const { filename, id } = from.ref;
  const info = { mime_type: "application/json", filename: filename ?? `${id}.json` };
  const inner = await deriveArtifact(from, `json:${joinPointer(tokens)}`, info, async (source, writer) => {
    const text: unknown = JSON.parse(new TextDecoder().decode(await readSpan(source, { start, end })));
    await writer.write(new TextEncoder().encode(String(text)));
    return {};
  });
  return { ...inner, origin: from.origin ?? from.ref };
}

/** One file of an archive, as an artifact of its own. Throws E_DOCUMENT, E_INVALID_ARGUMENT if there is none, E_TOO_LARGE, E_STORE_…. */
export async function takeEntry(from: Readable, path: string): Promise<Readable> {
  const head = await readHead(from);
  if (documentKind(from, head) === "mail") return takeAttachment(from, path);
  if (!isArchive(head)) throw wrong("entry", "The artifact is not an archive: leave entry out.");
  const archive = await loadPart(() => import("../../documents/archive.js"));
  const taken = await deriveArtifact(
    from,
    `entry:${path}`,
    { filename: archive.toBaseName(path) },
    async (source, writer, look) => {
      const { entry, near } = await archive.extractEntry(
        openArchive(source),
        path,
        async (chunk) => {
          look?.push(chunk);
          await writer.write(chunk);
        },
        { signal: source.signal },
      );
      if (entry !== undefined) return {};
      const outer = near.find((name) => path.startsWith(`${name}/`));
      const hint =
        outer !== undefined
          ? `take ${quote(outer)} out first, and read its artifact with entry ${quote(path.slice(outer.length + 1))}`
          : near.length === 0
            ? "read its rows for the paths"
            : `there is ${near.map(quote).join(", ")}`;
      throw wrong("entry", `The archive has no entry ${quote(path)}: ${hint}.`);
    },
  );
  from.onStored?.(withoutTimes(taken.ref));
  return taken;
}

/** A file that is attached to mail, as an artifact of its own. Throws E_DOCUMENT, E_INVALID_ARGUMENT if there is none, E_STORE_…. */
async function takeAttachment(from: Readable, name: string): Promise<Readable> {
  const { toBaseName } = await loadPart(() => import("../../documents/archive.js"));
  const request: ConversionRequest = { kind: "mail", form: "entry", entry: name };
  const taken = await deriveArtifact(
    from,
    `entry:${name}`,
    { filename: toBaseName(name) },
    async (source, writer, look) => {
      await convertArtifact(source, "mail", request, async (chunk) => {
        look?.push(chunk);
        await writer.write(chunk);
      });
      return {};
    },
  );
  from.onStored?.(withoutTimes(taken.ref));
  return taken;
}

function openArchive(from: Readable): ArchiveSource {
  const { ref, source } = from;
  return {
    size: ref.size_bytes,
    filename: ref.filename ?? "",
    read: (start, end) => readSpan(from, { start, end }),
    stream: async (start, end) => {
      const stream = await source.openReader(ref.id, { start, end });
      if (stream === null) throw new SluiceError("E_NOT_FOUND", "The archive is gone: call the tool that made it.");
      return stream;
    },
  };
}

type Look = Awaited<ReturnType<NonNullable<Readable["sluice"]>["look"]>>;

/** Writes what an artifact becomes, and gives what is to be noted with it. */
type Make = (
  from: Readable,
  writer: Pick<ArtifactWriter, "write">,
  look: Look | undefined,
) => Promise<Readonly<Record<string, unknown>>>;

/** What is being made, by where it is kept. Calls for the same form at the same time share the work. */
const making = new WeakMap<ReadSource, SingleFlight<StoredArtifact>>();

/**
 * What was made of an artifact, found or made now. Bytes that are an artifact already leave its record as it is: what is read has the
 * name and the origin that it has here.
 */
async function deriveArtifact(from: Readable, how: string, info: ArtifactPatch, make: Make): Promise<Readable> {
  const { ref, source, signal } = from;
  const known = (await findNoted(source, ref, how)) ?? (await source.findDerived?.(ref, info.filename ?? "", how));
  if (known) return { ...from, ref: known, origin: ref };
  const flights = making.get(source) ?? new SingleFlight<StoredArtifact>();
  making.set(source, flights);
  const key = JSON.stringify([ref.id, how]);
  const stored = await flights.join(key, signal, (over) => makeArtifact({ ...from, signal: over }, how, info, make));
  return { ...from, ref: stored, origin: ref };
}

async function makeArtifact(from: Readable, how: string, info: ArtifactPatch, make: Make): Promise<StoredArtifact> {
  const { ref, source } = from;
  const filename = info.filename ?? "";
  if (source.openWriter === undefined) {
    throw new SluiceError(
      "E_STORE_WRITE",
      "Documents and archives cannot be read here: there is no store to keep what they become.",
    );
  }
  const writer = await source.openWriter(ref, info);
  try {
    using look = info.mime_type === undefined ? await from.sluice?.look({ filename }) : undefined;
    const hash = await sha256.stream();
    const hashed = {
      write: async (chunk: Uint8Array): Promise<void> => {
        hash.update(chunk);
        await writer.write(chunk);
      },
    };
    const told = await make(from, hashed, look);
    const found = await look?.finish();
    const record = {
      mime_type: null,
      filename,
      ...info,
      ...(found !== undefined && { mime_type: found.mime_type }),
      source: {
        derived_from: ref.id,
        form: how,
        ...(found !== undefined && { description: found.description }),
        ...told,
      },
    };
    const same = await findRecord(source, ref, hash.digest());
    const stored = await writer.close(same ?? record);
    const made = await source.stat(stored.id);
    if (made !== null) {
      if (same !== undefined) await noteDerived(source, ref, { form: how, id: made.id, record });
      return { ...made, ...record };
    }
  } finally {
    await writer[Symbol.asyncDispose]();
  }
  throw new SluiceError("E_STORE_WRITE", "What the artifact becomes could not be stored, so it cannot be read.");
}

function wrong(path: string, sentence: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
