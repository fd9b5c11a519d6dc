/**
 * Tables that are drawn with characters, as rows: those of Markdown, of `psql`, and of `mysql` and others in boxes. A rule, a line of
 * dashes, stands below the header of each.
 *
 * ```text
 * | id | name |        id | name        +----+------+
 * |----|------|       ----+------       | id | name |
 * |  1 | Ann  |         1 | Ann         +----+------+
 *                     (1 row)          |  1 | Ann  |
 *                                      +----+------+
 * ```
 * @module
 */

/** What stands between cells; what rules are made of; what each has of it; and where columns meet in it. */
const BORDER = /[|│║┃]/;
const RULE = /^[-+|:=\u2500-\u257f\s]+$/;
const DASHES = /[-=─━═]{2}|-:|:-/;
const JOINT = /[+|]|(?![─━═])[\u2500-\u257f]/;

/** Most columns of a table, lines of its header and of another row, and characters of a row. */
const MAX_COLUMNS = 1000;
const MAX_HEADER_LINES = 20;
const MAX_ROW_LINES = 1000;
const MAX_ROW_CHARS = 1024 * 1024;

/** A box has three rules. Where it has more, rows stand between them, of so many lines at most, on the average. */
const BOX_RULES = 3;
const LINES_BETWEEN_RULES = 4;

/** Whether a text has such a table: a rule below a line of cells. */
export function hasDrawnTable(text: string): boolean {
  let above = "";
  return text.split("\n").some((line) => {
    const isHeader = isRule(line) && BORDER.test(above) && !isRule(above);
    above = line;
    return isHeader;
  });
}

function isRule(line: string): boolean {
  return RULE.test(line) && DASHES.test(line) && JOINT.test(line);
}

/** Which table of a text is meant. */
export interface DrawnTable {
  /** Its number, from 0, and of how many. */
  readonly at: number;
  readonly count: number;
  /** Whether rules stand between its rows. */
  readonly isRuled: boolean;
}

/** Finds the table with the most rows. Undefined where none has any. */
export async function findDrawnTable(chunks: AsyncIterable<Uint8Array>): Promise<DrawnTable | undefined> {
  let most: TableSize = { at: -1, rows: 0, rules: 0 };
  let open: TableSize = { at: -1, rows: 0, rules: 0 };
  const reader = new DrawnTableReader((at, part) => {
    // The first part of a table is its header.
    if (at !== open.at) open = { at, rows: -1, rules: 0 };
    if (part === "rule") open.rules += 1;
    else open.rows += 1;
    if (open.rows > most.rows) most = open;
  });
  for await (const lines of splitLines(chunks)) for (const line of lines) reader.push(line);
  reader.end();
  const { at, rows, rules } = most;
  const isRuled = rules > BOX_RULES && rows < (rules - BOX_RULES + 1) * LINES_BETWEEN_RULES;
  return at < 0 ? undefined : { at, count: open.at + 1, isRuled };
}

/** What is counted of a table. */
interface TableSize {
  readonly at: number;
  rows: number;
  rules: number;
}

/** The rows of a table, its header first, as many at a time as a chunk ends. */
export async function* readDrawnRows(
  chunks: AsyncIterable<Uint8Array>,
  { at, isRuled }: DrawnTable,
): AsyncGenerator<readonly (readonly string[])[]> {
  let rows: (readonly string[])[] = [];
  let open: readonly string[] | undefined;
  const end = (): void => {
    if (open !== undefined) rows.push(open);
    open = undefined;
  };
  const reader = new DrawnTableReader((table, part) => {
    if (table !== at) return;
    if (part === "rule") return end();
    if (!isRuled) end();
    open = open === undefined ? part : joinCells(open, part, " ");
  });
  for await (const lines of splitLines(chunks)) {
    for (const line of lines) reader.push(line);
    yield rows;
    rows = [];
  }
  reader.end();
  end();
  yield rows;
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let open = "";
  for await (const chunk of chunks) {
    const lines = (open + decoder.decode(chunk, { stream: true })).split("\n");
    open = lines.pop() ?? "";
    // So long a line is no row.
    if (open.length > MAX_ROW_CHARS) open = " ";
    yield lines;
  }
  yield [open + decoder.decode()];
}

function joinCells(first: readonly string[], second: readonly string[], between: string): readonly string[] {
  return first.map((cell, at) => [cell, second[at] ?? ""].filter(Boolean).join(between));
}

/** Hands on the rows of all tables and the rules between them, with the number of each table. The first row is the header. */
class DrawnTableReader {
  readonly #onPart: (table: number, part: readonly string[] | "rule") => void;
  #table = -1;
  /** Of the table that is open: its number of columns, and the places of its joints. */
  #columns: number | undefined;
  #joints: readonly number[] = [];
  /** Whether a rule stands above the header, so that the table ends with one. */
  #isBoxed = false;
  /** Whether its lines begin with a border. */
  #hasEdges = false;
  /** Lines that may be a header, or of which a row is that is not whole, and the borders in them. */
  #lines: string[] = [];
  #borders = 0;
  #chars = 0;
  /** The last row, which may go on in the next line. */
  #row: readonly string[] | undefined;
  #rowLines = 1;

  constructor(onPart: (table: number, part: readonly string[] | "rule") => void) {
    this.#onPart = onPart;
  }

  push(text: string): void {
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    if (isRule(line)) this.#readRule(line);
    else if (this.#columns !== undefined && this.#isBoxed && this.#lines.length > 0) this.#readBoxed(line);
    else if (!BORDER.test(line)) this.end();
    else if (this.#columns === undefined) this.#readHeader(line);
    else if (this.#isBoxed) this.#readBoxed(line);
    else this.#readRow(line);
  }

  /** Ends the table that is open. */
  end(): void {
    this.#endRow();
    this.#columns = undefined;
    this.#isBoxed = false;
    this.#forget();
  }

  #forget(): void {
    this.#lines = [];
    this.#borders = 0;
    this.#chars = 0;
  }

  #readHeader(line: string): void {
    if (!this.#isBoxed) this.#lines = [line];
    else if (this.#lines.push(line) > MAX_HEADER_LINES) this.end();
  }

  #readRule(line: string): void {
    if (this.#columns !== undefined) {
      this.#endRow();
      this.#onPart(this.#table, "rule");
    } else if (this.#lines.length > 0) this.#beginTable(line);
    else this.#isBoxed = true;
  }

  #beginTable(rule: string): void {
    const joints = Array.from(rule.matchAll(new RegExp(JOINT, "gu")), ({ index }) => index);
    this.#joints = joints.length > MAX_COLUMNS + 1 ? [] : joints;
    this.#hasEdges = this.#lines.every((line) => BORDER.test(line.trimStart().charAt(0)));
    const header = this.#lines.map((line) => splitCells(line, this.#hasEdges));
    this.#lines = [];
    this.#columns = Math.min(MAX_COLUMNS, Math.max(...header.map((cells) => cells.length)));
    this.#table += 1;
    this.#onPart(
      this.#table,
      header.reduce((cells, more) => joinCells(cells, more, " ")),
    );
    if (this.#isBoxed) this.#onPart(this.#table, "rule");
    this.#onPart(this.#table, "rule");
  }

  /** A row in a box ends where its last border is: a cell may have line ends in it. */
  #readBoxed(line: string): void {
    this.#lines.push(line);
    this.#chars += line.length;
    this.#borders += line.split(BORDER).length - 1;
    const isWhole = BORDER.test(line.trimEnd().at(-1) ?? "") && this.#borders > (this.#columns ?? 0);
    if (isWhole) {
      const whole = this.#lines.join("\n");
      this.#forget();
      this.#readRow(whole);
    } else if (this.#lines.length === MAX_ROW_LINES || this.#chars > MAX_ROW_CHARS) this.end();
  }

  #readRow(line: string): void {
    const cells = this.#fit(line);
    const last = this.#row;
    // psql ends a line within a cell with a plus sign.
    const goesOn =
      !this.#isBoxed && last?.some((cell) => cell.endsWith("+")) === true && this.#rowLines < MAX_ROW_LINES;
    if (goesOn && cells.every((cell, at) => cell === "" || last[at]?.endsWith("+") === true)) {
      this.#rowLines += 1;
      this.#row = last.map((cell, at) =>
        cell.endsWith("+") ? `${cell.slice(0, -1).trimEnd()}\n${cells[at] ?? ""}` : cell,
      );
      return;
    }
    this.#endRow();
    this.#row = cells;
  }

  /** As many cells as there are columns. A border within a cell is none where the rule has no joint. */
  #fit(line: string): readonly string[] {
    const columns = this.#columns ?? 0;
    const cells = splitCells(line, this.#hasEdges);
    if (cells.length > columns) {
      const places = this.#joints.filter((at) => at > 0 && at < line.trimEnd().length - 1);
      if (places.length === columns - 1 && places.every((at) => BORDER.test(line.charAt(at)))) {
        return [0, ...places.map((at) => at + 1)].map((start, at) =>
          line
            .slice(start, places[at])
            .replace(/^\s*[|│║┃]|[|│║┃]\s*$/g, "")
            .trim(),
        );
      }
      return [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(" | ")];
    }
    return Array.from({ length: columns }, (_, at) => cells[at] ?? "");
  }

  #endRow(): void {
    if (this.#row !== undefined) this.#onPart(this.#table, this.#row);
    this.#row = undefined;
    this.#rowLines = 1;
  }
}

/** The cells of a line. A border behind a backslash is a character of its cell, as in Markdown. */
function splitCells(line: string, hasEdges: boolean): readonly string[] {
  const bare = hasEdges ? line.trim().replace(/^[|│║┃]/, "") : line.trimEnd();
  const inner = bare.replace(/(?<!\\)[|│║┃]$/, "");
  return inner.split(/(?<!\\)[|│║┃]/, MAX_COLUMNS).map((cell) => cell.replaceAll("\\|", "|").trim());
}
