/**
 * Answers a question in SQL over the rows of an artifact. An answer that is long becomes an artifact of its own.
 * @module
 */
import type { ArtifactRef, ArtifactWriter } from "../../artifacts/store.js";
import { counted, grouped, humanSize } from "../../core/amounts.js";
import { csvCell } from "../../documents/rows.js";
import { SluiceError } from "../../errors/error.js";
import { pointerOf } from "../../json/pointer.js";
import { type Cells, query, type QueryAnswer, type QueryTable } from "../../query/query.js";
import { csvTable, jsonTable, ndjsonTable } from "../../query/table.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { artifactUri } from "./definition.js";
import { chunksOf } from "./forms.js";
import type { Inspection } from "./inspection.js";
import type { Wanted } from "./request.js";
import { type Readable, subjectOf } from "./source.js";

/** Most bytes of an answer that is stored. */
const MAX_STORED = 64 * 1024 * 1024;

/** Characters of lines that are written together. */
const PIECE = 64 * 1024;

/** Answers in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_…. */
export async function tellQuery(
  from: Readable,
  inspection: Inspection,
  { sql, tokens }: Extract<Wanted, { mode: "query" }>,
  most: number,
): Promise<AnswerParts> {
  const { signal } = from;
  const answer = await query(sql, await tableOf(from, inspection, tokens), signal === undefined ? {} : { signal });
  const { shown, shownRows, rows, stored } = await writtenOf(from, answer, most);
  const head = `${subjectOf(from)}, answer to the query: ${counted(rows, "row")} below the header`;
  const part =
    shownRows < rows && stored === undefined ? ` The first ${grouped(shownRows)} are shown: use LIMIT and OFFSET.` : "";
  const whole =
    stored === undefined
      ? []
      : [
          `The first ${grouped(shownRows)} are shown. All are ${artifactUri(stored.id)} (CSV, ${humanSize(stored.size_bytes)}): ` +
            "read on there, or pass that URI as a tool argument.",
        ];
  return { head: `${head}${part}`, data: shown, notes: [...answer.notes, ...whole] };
}

async function tableOf(
  from: Readable,
  { layout, isJson }: Inspection,
  tokens: readonly string[] | undefined,
): Promise<QueryTable> {
  const bytes = chunksOf(from);
  if (tokens === undefined && layout.kind === "csv") {
    return csvTable(bytes, { delimiter: String.fromCharCode(layout.delimiter) });
  }
  if (tokens === undefined && layout.kind === "ndjson") return ndjsonTable(bytes);
  if (isJson) return jsonTable(bytes, tokens === undefined ? {} : { pointer: pointerOf(tokens) });
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    "The artifact has no rows to query: it is neither CSV, TSV, NDJSON, JSON nor a sheet. Use search or lines.",
    { path: "query" },
  );
}

interface Written {
  /** The header and the first rows, as CSV. */
  readonly shown: string;
  readonly shownRows: number;
  readonly rows: number;
  /** The whole answer, if it is not shown whole. */
  readonly stored: ArtifactRef | undefined;
}

async function writtenOf(from: Readable, { columns, rows }: QueryAnswer, most: number): Promise<Written> {
  const header = lineOf(columns);
  let shown = header;
  let shownRows = 0;
  let count = 0;
  await using answer = new StoredAnswer(from);
  for await (const row of rows) {
    count += 1;
    const line = `\n${lineOf(row)}`;
    if (!answer.isOpen) {
      if (prefixWithin(shown + line, most).text.length === shown.length + line.length) {
        shown += line;
        shownRows += 1;
        continue;
      }
      await answer.begin(shown);
    }
    await answer.add(line);
  }
  return { shown, shownRows, rows: count, stored: await answer.finish() };
}

/** The whole of an answer that is too long to be shown. Disposing without `finish` leaves nothing behind. */
class StoredAnswer implements AsyncDisposable {
  readonly #from: Readable;
  #writer: ArtifactWriter | undefined;
  #pending = "";
  #size = 0;

  constructor(from: Readable) {
    this.#from = from;
  }

  get isOpen(): boolean {
    return this.#writer !== undefined;
  }

  async begin(text: string): Promise<void> {
    const { source, origin, ref } = this.#from;
    if (source.openWriter === undefined) throw tooLong("there is no store to keep it");
    this.#writer = await source.openWriter(origin ?? ref, { mime_type: "text/csv", filename: "answer.csv" });
    await this.add(text);
  }

  async add(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= PIECE) await this.#flush();
  }

  async finish(): Promise<ArtifactRef | undefined> {
    if (this.#writer === undefined) return undefined;
    this.#pending += "\n";
    await this.#flush();
    const ref = await this.#writer.close();
    if (ref.source.truncated === true) throw tooLong("the store did not keep it");
    return ref;
  }

  async #flush(): Promise<void> {
    const bytes = new TextEncoder().encode(this.#pending);
    this.#pending = "";
    this.#size += bytes.length;
    if (this.#size > MAX_STORED) throw tooLong(`it has more than ${humanSize(MAX_STORED)}`);
    await this.#writer?.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
  }
}

function tooLong(why: string): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `The answer is too long, and ${why}: ask for fewer rows or columns, or use LIMIT.`,
    {
      path: "query",
    },
  );
}

function lineOf(cells: Cells): string {
  return cells.map((cell) => csvCell(textOfCell(cell))).join(",");
}

function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
