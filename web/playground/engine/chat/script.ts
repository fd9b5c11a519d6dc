/**
 * The offline model: it picks tools by the words of the question and repeats what their results say.
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

const TOPICS: readonly Topic[] = [
  { words: /\breport|\bpdf\b/i, tool: "sales_report", args: (query) => ({ quarter: quarterIn(query) }) },
  {
    words: /\bchart|\bpicture|\bdraw/i,
    tool: "sales_chart",
    args: (query) => ({ kind: /\bline/i.test(query) ? "line" : "bar" }),
  },
  { words: /\bcsv\b|\bexport/i, tool: "export_csv" },
  { words: /^(?!.*\b(?:export|csv|import)).*\b(?:orders|table)\b/i, tool: "sales_table" },
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

/** Answers a question in turns: the calls, a read of an artifact if asked for, the answer. */
export const script: Script = (turn) => {
  const asked = turn.messages.findLast(({ role }) => role === "user")?.content ?? "";
  const [query = ""] = asked.split(FILES, 1);
  const files = asked.slice(query.length).matchAll(/^- (.+?) \(/gm);
  const results = turn.messages.filter(({ role }) => role === "tool");
  if (results.length === 0)
    return begun(
      query,
      turn,
      [...files].map(([, name = ""]) => name),
    );
  const readsOn = READS.test(query) && turn.messages.filter(({ role }) => role === "assistant").length === 1;
  const reading = readsOn ? readingOf(results, turn.tools) : undefined;
  return reading === undefined ? { text: told(results) } : { text: "I look inside. ", calls: [reading] };
};

function begun(query: string, { tools }: ScriptedTurn, files: readonly string[]): ScriptedAnswer {
  if (tools.length === 0) return { text: UNABLE };
  // File names must not select a tool.
  const words = files.reduce((text, name) => text.replaceAll(name, ""), query);
  const about = TOPICS.filter((topic) => topic.words.test(words));
  const calls = [...named(query, tools), ...about.flatMap((topic) => callOf(topic, query, tools, files))];
  const [first] = calls;
  if (first === undefined) return { text: UNABLE };
  const once = calls.filter(({ name }, at) => calls.findIndex((call) => call.name === name) === at);
  return { text: once.length === 1 ? "I call a tool. " : `I call ${once.length} tools at once. `, calls: once };
}

/** Tools that the question names. An object in braces is their arguments. */
function named(query: string, tools: readonly string[]): readonly ScriptedCall[] {
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

function callOf(
  { tool, args }: Topic,
  query: string,
  tools: readonly string[],
  files: readonly string[],
): readonly ScriptedCall[] {
  const name = tools.find((each) => each === tool || each === `demo_${tool}`);
  return name === undefined ? [] : [{ name, args: args?.(query, files) ?? {} }];
}

function readingOf(results: readonly ScriptedMessage[], tools: readonly string[]): ScriptedCall | undefined {
  const id = results
    .map(({ content }) => /"artifact":\{"id":"([^"]+)"/.exec(content)?.[1])
    .find((each) => each !== undefined);
  const name = tools.find((tool) => tool === `${id?.slice(0, id.indexOf("_")) ?? ""}_artifact_read`);
  return id === undefined || name === undefined ? undefined : { name, args: { uri: `artifact://${id}`, lines: "1-5" } };
}

function told(results: readonly ScriptedMessage[]): string {
  const characters = results.reduce((sum, { content }) => sum + content.length, 0);
  const sentences = results.map(({ content }) => sentenceOf(content));
  return `${sentences.join("\n")}\n\nThat is all I saw: ${characters.toLocaleString("en")} characters. What was stored is above, with the calls.`;
}

/** The summaries in a result, or else the start of its text. */
function sentenceOf(content: string): string {
  const summaries = [...content.matchAll(/"summary":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '""']) => JSON.parse(text) as string,
  );
  if (summaries.length > 0) return summaries.map((text) => `• ${text}`).join("\n");
  return `• ${content.length > 240 ? `${content.slice(0, 240)}…` : content}`;
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
