/**
 * The offline model: it picks tools by the words of the question, asks a stored table where the question is about its figures, and
 * tells what the results say.
 * @module
 */
import type { Script } from "mcp-sluice/planner";

type ScriptedTurn = Parameters<Script>[0];
type ScriptedMessage = ScriptedTurn["messages"][number];
type ScriptedAnswer = Awaited<ReturnType<Script>>;
type ScriptedCall = NonNullable<ScriptedAnswer["calls"]>[number];

/** Words of a question and the demo tool that they stand for. */
interface Topic {
  readonly words: RegExp;
  readonly tool: string;
  readonly args?: (query: string, files: readonly string[]) => Readonly<Record<string, unknown>>;
}

/** Words for what can be asked of the orders. */
const FIGURES =
  /\b(?:which|what|how (?:many|much)|best|most|top|worst|least)\b.*\b(?:regions?|products?|months?|orders?|revenue|sales|sold|sell)\b/i;

const TOPICS: readonly Topic[] = [
  { words: /\breport|\bpdf\b/i, tool: "sales_report", args: (query) => ({ quarter: quarterIn(query) }) },
  {
    words: /\bchart|\bpicture|\bdraw/i,
    tool: "sales_chart",
    args: (query) => ({ kind: /\bline/i.test(query) ? "line" : "bar" }),
  },
  { words: /\bcsv\b|\bexport/i, tool: "export_csv" },
  // Figures are asked of the table that the tool stores.
  { words: FIGURES, tool: "export_csv", args: () => ({ rows: 12_000 }) },
  { words: /^(?!.*\b(?:export|csv|import|how many|how much|which|what)).*\b(?:orders|table)\b/i, tool: "sales_table" },
  { words: /\bjingle|\btune\b|\bsound\b/i, tool: "jingle" },
  { words: /\bweb ?page|\bhtml\b/i, tool: "web_page" },
  { words: /\bimport/i, tool: "slow_import", args: (query) => ({ seconds: Math.min(60, numberIn(query) ?? 12) }) },
  {
    words: /\bsummari[sz]e\b/i,
    tool: "files_summarize_file",
    args: (query, files) => ({ filename: files.find((name) => query.includes(name)) ?? files[0] ?? "" }),
  },
  { words: /\bbeside\b/i, tool: "files_make_report" },
  {
    words: /\bsilent\b/i,
    tool: "files_stay_silent",
    args: (query) => ({ seconds: Math.min(300, numberIn(query) ?? 40) }),
  },
  { words: /\bask me\b/i, tool: "asks", args: () => ({ question: "Which region do you mean?" }) },
];

/** The text before the file names that follow a question. */
const FILES = "\n\n[SYSTEM: Available files";

/** Words that ask to read a stored artifact. */
const READS = /\bread\b|\bfirst rows\b|\blook inside\b/i;

const UNABLE =
  "I am a script, not a model: I call tools that a question names, and repeat what I am told of their results. Ask for " +
  "a report, a chart or the orders, or name a tool of a server. Choose a model of your own for anything else.";

/** Answers a question in turns: the calls, a look into what was stored if the question needs one, the answer. */
export const script: Script = (turn) => {
  const asked = turn.messages.findLast(({ role }) => role === "user")?.content ?? "";
  const [query = ""] = asked.split(FILES, 1);
  const files = asked.slice(query.length).matchAll(/^- (.+?) \(/gm);
  const results = turn.messages.filter(({ role }) => role === "tool");
  if (results.length === 0)
    return beginAnswer(
      query,
      turn,
      [...files].map(([, name = ""]) => name),
    );
  const isFirst = turn.messages.filter(({ role }) => role === "assistant").length === 1;
  const reading = isFirst ? planReading(query, results, turn.tools) : undefined;
  return reading === undefined ? { text: tellResults(results) } : { text: "I look inside. ", calls: [reading] };
};

function beginAnswer(query: string, { tools }: ScriptedTurn, files: readonly string[]): ScriptedAnswer {
  if (tools.length === 0) return { text: UNABLE };
  // File names must not select a tool.
  const words = files.reduce((text, name) => text.replaceAll(name, ""), query);
  const about = TOPICS.filter((topic) => topic.words.test(words));
  const calls = [...findNamedTools(query, tools), ...about.flatMap((topic) => toCall(topic, query, tools, files))];
  const [first] = calls;
  if (first === undefined) return { text: UNABLE };
  const once = calls.filter(({ name }, at) => calls.findIndex((call) => call.name === name) === at);
  return { text: once.length === 1 ? "I call a tool. " : `I call ${once.length} tools at once. `, calls: once };
}

/** Tools that the question names. An object in braces is their arguments. */
function findNamedTools(query: string, tools: readonly string[]): readonly ScriptedCall[] {
  const words = new Set(query.match(/[\w-]+/g));
  const args = objectIn(query);
  return tools.filter((tool) => bareNames(tool).some((name) => words.has(name))).map((name) => ({ name, args }));
}

/** `docs_who_am_i` may be named `docs_who_am_i` or `who_am_i`: the length of the server's name is not known. */
function bareNames(tool: string): readonly string[] {
  const parts = tool.split("_");
  return parts
    .slice(0, 2)
    .map((_, at) => parts.slice(at).join("_"))
    .filter((name) => name.length > 3);
}

function toCall(
  { tool, args }: Topic,
  query: string,
  tools: readonly string[],
  files: readonly string[],
): readonly ScriptedCall[] {
  const name = tools.find((each) => each === tool || each === `demo_${tool}`);
  return name === undefined ? [] : [{ name, args: args?.(query, files) ?? {} }];
}

/** A call that reads what was stored, if the question wants that: rows of a query, or the first lines. */
function planReading(
  question: string,
  results: readonly ScriptedMessage[],
  tools: readonly string[],
): ScriptedCall | undefined {
  const part = FIGURES.test(question)
    ? { query: writeSql(question) }
    : READS.test(question)
      ? { lines: "1-5" }
      : undefined;
  const id = results
    .map(({ content }) => /"artifact":\{"id":"([^"]+)"/.exec(content)?.[1])
    .find((each) => each !== undefined);
  const name = tools.find((tool) => tool === `${id?.slice(0, id.indexOf("_")) ?? ""}_artifact_read`);
  if (part === undefined || id === undefined || name === undefined) return undefined;
  return { name, args: { uri: `artifact://${id}`, ...part } };
}

/** What a question means in SQL over the orders. */
function writeSql(question: string): string {
  const [, by] = /\b(region|product|month)s?\b/i.exec(question) ?? [];
  if (by === undefined) return "SELECT COUNT(*) AS orders, ROUND(SUM(total), 2) AS revenue FROM rows";
  const column = by.toLowerCase() === "month" ? "SUBSTR(date, 1, 7)" : by.toLowerCase();
  const order = /\b(?:worst|least|lowest|fewest)\b/i.test(question) ? "ASC" : "DESC";
  return `SELECT ${column} AS ${by.toLowerCase()}, COUNT(*) AS orders, ROUND(SUM(total), 2) AS revenue FROM rows GROUP BY ${column} ORDER BY revenue ${order} LIMIT 5`;
}

/** An answer in Markdown: rows as a table, files by name, texts as they are; and how little of it all was read. */
function tellResults(results: readonly ScriptedMessage[]): string {
  const characters = results.reduce((sum, { content }) => sum + content.length, 0);
  const texts = results.map(({ content }) => unquote(content));
  const rows = texts.map(writeTable).find((table) => table !== undefined);
  const said = rows === undefined ? texts.map(describeContent) : [rows];
  const stored = rows === undefined ? "" : " The table itself is stored above; I only asked it.";
  return `${said.join("\n")}\n\nThat is all I saw: ${characters.toLocaleString("en")} characters.${stored}`;
}

/** A result without the quotes of JSON, if it is a string. */
function unquote(content: string): string {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "string" ? value : content;
  } catch {
    return content;
  }
}

/** The rows between the marks of an answer to a query, as a table. */
function writeTable(content: string): string | undefined {
  const [, text] = /answer to the query: .*\n--- data \w+ ---\n([^]*?)\n--- end/.exec(content) ?? [];
  if (text === undefined) return undefined;
  const [head = [], ...rows] = text.split("\n").map((line) => line.split(","));
  const [first = []] = rows;
  const lead = rows.length > 1 ? `**${first[0] ?? ""}** comes first.\n\n` : "";
  return `${lead}${[head, head.map(() => "---"), ...rows.map((cells) => cells.map(groupDigits))].map(writeRow).join("\n")}`;
}

function writeRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A number with separators between its thousands; any other text as it is. */
function groupDigits(cell: string): string {
  return /^\d{4,}(?:\.\d+)?$/.test(cell) ? Number(cell).toLocaleString("en") : cell;
}

/** The files in a result with what they are, or else the start of its text. */
function describeContent(content: string): string {
  const files = [...content.matchAll(/"artifact":(\{[^{}]*\}),"summary":("(?:[^"\\]|\\.)*")/g)].map(
    ([, artifact = "{}", summary = '""']) => {
      const { filename } = JSON.parse(artifact) as { readonly filename?: string };
      const what = JSON.parse(summary) as string;
      return filename === undefined ? `- ${what}` : `- **${filename}**: ${what}`;
    },
  );
  if (files.length > 0) return files.join("\n");
  const start = content.length > 240 ? `${content.slice(0, 240)}…` : content;
  return start.replaceAll(/^/gm, "> ");
}

function quarterIn(query: string): string {
  return /\bq([1-4])\b/i.exec(query)?.[0].toUpperCase() ?? "Q3";
}

function numberIn(query: string): number | undefined {
  const [digits] = /\b\d{1,3}\b/.exec(query) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function objectIn(query: string): Readonly<Record<string, unknown>> {
  try {
    const [begin, end] = [query.indexOf("{"), query.lastIndexOf("}")];
    return begin < 0 ? {} : (JSON.parse(query.slice(begin, end + 1)) as Record<string, unknown>);
  } catch {
    return {};
  }
}
