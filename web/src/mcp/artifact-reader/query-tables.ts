/**
 * The tables beside `rows` that a query can name: arrays of a JSON object by their keys, sheets of a workbook by their names, and other
 * artifacts by their URIs.
 * @module
 */
import { isPlainId } from "../../artifacts/reference.js";
import { SluiceError } from "../../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../json/value-scanner.js";
import type { NamedTables, QueryTable, TableBytes } from "../../query/types.js";
import { isTableOfMembers } from "../../query/row-place.js";
import { sheetTable } from "./cells.js";
import { artifactUri } from "./definition.js";
import { readChunks, formFor } from "./forms.js";
import { documentKind, type Inspection, readHead } from "./inspection.js";
import { readFacts, readSpan, type Readable } from "./source.js";

/** Bytes of a document that show what its objects are. */
const BEGINNING_BYTES = 1024 * 1024;

/** Most tables of one document. */
const MOST = 1000;

/** Another artifact, as what its rows are read of. */
export interface OtherTable {
  readonly form: Readable;
  readonly inspection: Inspection;
  /** What the reader of the answer should know. */
  readonly notes: readonly string[];
}

/** Opens the artifact of an id. Throws E_NOT_FOUND, E_EXPIRED, E_INVALID_ARGUMENT, E_DOCUMENT, E_STORE_…. */
export type OpenOther = (id: string) => Promise<OtherTable>;

/** An artifact by its URI, or by its id: `JOIN "artifact://docs_8530f1d67e0c"`. Any other name is one of the tables beside. */
export class ArtifactTables implements NamedTables {
  readonly #own: NamedTables | undefined;
  readonly #open: OpenOther;
  readonly #toTable: (other: OtherTable) => Promise<QueryTable>;

  constructor(own: NamedTables | undefined, open: OpenOther, toTable: (other: OtherTable) => Promise<QueryTable>) {
    this.#own = own;
    this.#open = open;
    this.#toTable = toTable;
  }

  async open(name: string): Promise<QueryTable | undefined> {
    const id = readId(name);
    if (id === undefined) return this.#own?.open(name);
    try {
      return await this.#toTable(await this.#open(id));
    } catch (error) {
      // It could be about the artifact of uri as well.
      if (!(error instanceof SluiceError) || error.message.includes(id)) throw error;
      throw new SluiceError(error.code, `Of ${artifactUri(id)}: ${error.message}`, { path: "query" }, { cause: error });
    }
  }

  async names(): Promise<readonly string[]> {
    return (await this.#own?.names()) ?? [];
  }
}

function readId(name: string): string | undefined {
  const [, scheme, id] = /^(artifact:\/\/)?([^?#]*)/.exec(name) ?? [];
  return isPlainId(id) && (scheme !== undefined || ID.test(id)) ? id : undefined;
}

/** How ids end that are written without `artifact://`: no key and no sheet is called so. */
const ID = /_[0-9a-f]{12}$/;

/** The tables of what an artifact is read as. Undefined if it has one. */
export function nameTables(
  from: Readable,
  { form, bytes }: QueryTable,
  isJson: boolean,
  header: number | undefined,
): NamedTables | undefined {
  if (isJson) return new JsonTables(from, bytes, form.kind === "rows" ? form.keys : []);
  const isSheet = readFacts(from)?.part === "sheet" && from.origin !== undefined;
  return isSheet ? new SheetTables(from, from.origin, header) : undefined;
}

/** Finds the key or name that is meant: the exact one, else the first that differs in case alone. */
function meantBy(name: string, names: readonly string[]): string | undefined {
  return names.includes(name) ? name : names.find((each) => each.toLowerCase() === name.toLowerCase());
}

class JsonTables implements NamedTables {
  readonly #from: Readable;
  readonly #bytes: TableBytes;
  readonly #rows: readonly string[];
  #keys: Promise<readonly string[]> | undefined;

  constructor(from: Readable, bytes: TableBytes, rows: readonly string[]) {
    this.#from = from;
    this.#bytes = bytes;
    this.#rows = rows;
  }

  async open(name: string): Promise<QueryTable | undefined> {
    // The array that is meant may stand in an object of that name, as in the answers of Elasticsearch.
    const [first, ...more] = this.#rows;
    const isLast = more.at(-1) === name && !(await this.names()).includes(name);
    const isRows = more.length > 0 && (isLast || (first === name && !(await this.#isTable(name))));
    return { form: { kind: "rows", keys: isRows ? this.#rows : [name] }, bytes: this.#bytes };
  }

  async names(): Promise<readonly string[]> {
    return (this.#keys ??= this.#find());
  }

  async #isTable(name: string): Promise<boolean> {
    const end = Math.min(this.#from.ref.size_bytes, BEGINNING_BYTES);
    return isTableOfMembers(await readSpan(this.#from, { start: 0, end }), name);
  }

  async #find(): Promise<readonly string[]> {
    const keys = new ArrayKeys();
    const scanner = new JsonScanner(keys, 0);
    let isFirst = true;
    for await (const chunk of readChunks(this.#from)) {
      const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
      isFirst = false;
      scanner.push(hasMark ? chunk.subarray(3) : chunk);
    }
    return keys.found;
  }
}

/** Collects the keys of the arrays of an object. */
class ArrayKeys implements JsonVisitor {
  readonly found: string[] = [];
  #isObject = false;

  wantsKey(depth: number): boolean {
    return depth <= 1;
  }

  beginValue(kind: JsonKind, _at: number, depth: number, name: string | number | undefined): void {
    if (depth === 0) this.#isObject = kind === "object";
    if (depth === 1 && kind === "array" && this.#isObject && typeof name === "string") this.found.push(name);
  }

  endValue(): boolean {
    return this.found.length < MOST;
  }
}

class SheetTables implements NamedTables {
  readonly #from: Readable;
  readonly #workbook: Readable;
  readonly #header: number | undefined;

  constructor(from: Readable, workbook: NonNullable<Readable["origin"]>, header: number | undefined) {
    this.#header = header;
    const { origin: _, ...rest } = from;
    this.#from = from;
    this.#workbook = { ...rest, ref: workbook };
  }

  async open(name: string): Promise<QueryTable | undefined> {
    const sheet = meantBy(name, await this.names()) ?? name;
    const kind = documentKind(this.#workbook, await readHead(this.#workbook));
    try {
      const wanted = { mode: "query", sql: "", tokens: undefined } as const;
      return await sheetTable(await formFor(this.#workbook, kind, wanted, { sheet }), undefined, [], this.#header);
    } catch (error) {
      // Ranges and tables have names, too.
      if (sheet !== name || !(error instanceof SluiceError) || error.path !== "sheet") throw error;
      return undefined;
    }
  }

  async names(): Promise<readonly string[]> {
    return readFacts(this.#from)?.names ?? [];
  }
}
