/**
 * The model of the harness: calls the tool of each case once, and keeps what the host then shows of the result.
 * @module
 */
import type { ModelRequest, Turn } from "../fake-model.js";
import { fillSchema, listTools, type OfferedTool, type Part, readAfter, readSchema } from "../requests.js";
import type { HostCase } from "./cases.js";
import { readReport, writeCodexScript, writeOpenCodeScript } from "./script.js";
import { measureParts, noteFailure, readWords, type Seen } from "./seen.js";

/** A call under way. */
interface Call {
  readonly entry: HostCase;
  readonly callId: string;
  /** The definition that the host offered, as JSON text. */
  readonly definition: string;
  readonly step: Step["step"];
  /** What was seen before this step. */
  readonly seen?: Seen;
}

/** The call of a case, then the opening of a file, then `artifact_read`. */
interface Step {
  readonly step: "call" | "open" | "read";
  readonly turn: Turn;
}

/** The case for what sentences call `artifact_read`. */
const READER = "reader";

/** Most searches for one tool. */
const MAX_SEARCHES = 2;

/** Follows the cases through the requests of a host; what was seen is in `seen`, by name of the case. */
export class Driver {
  readonly seen = new Map<string, Seen>();
  /** Bodies of requests with tools, for those who want to look. */
  readonly prompts: string[] = [];
  readonly #left: HostCase[];
  #call: Call | undefined;
  /** Calls that looked for the tool of the next case. */
  #searches: string[] = [];
  #hasGrown = false;

  constructor(cases: readonly HostCase[]) {
    this.#left = [...cases];
  }

  /** The case whose result is waited for. */
  get pending(): HostCase | undefined {
    return this.#call?.entry;
  }

  /** Whether nothing is left to call or to see. */
  get isDone(): boolean {
    return this.#call === undefined && this.#left.length === 0;
  }

  /** The model's answer to a request. */
  answer(request: ModelRequest): Turn {
    const tools = listTools(request.prompt);
    // Titles, summaries, and whether the model goes round in circles are asked for without tools.
    if (tools.length === 0) {
      const schema = readSchema(request.prompt);
      return { say: schema === undefined ? "Samples" : JSON.stringify(fillSchema(schema)) };
    }
    this.prompts.push(request.prompt);
    this.#noteGrown(request.prompt);
    return this.#finish(request, tools) ?? this.#begin(request, tools);
  }

  /** Looks at the result of the last call. @returns the next turn, if it is to be read on */
  #finish(request: ModelRequest, tools: readonly OfferedTool[]): Turn | undefined {
    const { api, prompt, callId } = request;
    const call = this.#call;
    this.#call = undefined;
    if (call === undefined) return undefined;
    const { entry } = call;
    const parts = readAfter(prompt, call.callId);
    if (parts === undefined) {
      this.seen.set(entry.name, noteFailure("the call is not in the next request"));
      return undefined;
    }
    const seen = READERS[call.step](call, parts, api);
    this.seen.set(entry.name, seen);
    if (call.step === "call") this.#checkName(readWords(parts), tools);
    const opened = call.step === "call" ? this.#openFile(seen, tools) : undefined;
    const next = opened ?? (call.step === "read" ? undefined : this.#readOn(seen, call, request, tools));
    if (next === undefined) return undefined;
    this.#call = { ...call, callId, seen, step: next.step };
    return next.turn;
  }

  /** Opens the file that a host made of a document, with the host's own tool. */
  #openFile({ excerpt }: Seen, tools: readonly OfferedTool[]): Step | undefined {
    const [path] = /\/[^\s"'`()[\]]+\.pdf\b/.exec(excerpt.replace("file:///report.pdf", "")) ?? [];
    if (path === undefined || !hasTool(tools, "Read")) return undefined;
    return { step: "open", turn: { call: "Read", args: { file_path: path } } };
  }

  /** Reads on what Sluice stored. */
  #readOn(
    { uri }: Seen,
    { entry }: Pick<Call, "entry">,
    request: ModelRequest,
    tools: readonly OfferedTool[],
  ): Step | undefined {
    if (entry.read === undefined || uri === undefined) return undefined;
    const reader = { name: "read", title: "", kind: "small", facts: { read: entry.read.fact ?? "" } } as const;
    const turn = this.#write("artifact_read", { uri, ...entry.read.args }, reader, request, tools);
    return turn === undefined ? undefined : { step: "read", turn };
  }

  /** Calls the tool of the next case, or looks for it. */
  #begin(request: ModelRequest, tools: readonly OfferedTool[]): Turn {
    for (let entry = this.#left[0]; entry !== undefined; entry = this.#left[0]) {
      if (entry.tool === null) {
        this.#left.shift();
        const text = entry.name === READER ? "" : request.prompt;
        this.seen.set(entry.name, measureParts(request.api, entry, [{ kind: "text", text }]));
        continue;
      }
      const tool = entry.tool ?? entry.name;
      const definition = findTool(tools, tool)?.definition ?? this.#readSearch(request.prompt);
      // A hidden tool is called when its definition was read.
      const isUnread = definition === undefined && hasTool(tools, "tool_call");
      const turn = isUnread ? undefined : this.#write(tool, entry.args ?? {}, entry, request, tools);
      if (turn !== undefined) {
        this.#left.shift();
        this.#searches = [];
        this.#call = { entry, callId: request.callId, definition: definition ?? "", step: "call" };
        return turn;
      }
      const search = this.#searches.length >= MAX_SEARCHES ? undefined : writeSearch(tool, request.prompt, tools);
      if (search !== undefined) {
        this.#searches.push(request.callId);
        return search;
      }
      this.#left.shift();
      this.#searches = [];
      this.seen.set(entry.name, noteFailure("the tool is not offered"));
    }
    return { say: "Done." };
  }

  /** What the last search told, where tools stay hidden. */
  #readSearch(prompt: string): string | undefined {
    const last = this.#searches.at(-1);
    const parts = last === undefined ? undefined : readAfter(prompt, last);
    return parts === undefined ? undefined : readWords(parts);
  }

  /** The turn that calls a tool; undefined if there is no way. */
  #write(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    entry: HostCase,
    { prompt }: ModelRequest,
    tools: readonly OfferedTool[],
  ): Turn | undefined {
    const offered = findTool(tools, tool);
    if (offered !== undefined) {
      const { name, namespace } = offered;
      return { call: name, args, ...(namespace !== undefined && { namespace }) };
    }
    if (hasTool(tools, "tool_call")) {
      const hidden = findTool(listHidden(prompt), tool);
      return hidden === undefined ? undefined : { call: "tool_call", args: { name: hidden.name, arguments: args } };
    }
    const call = { tool, args, entry };
    const codex = tools.find(({ name, definition }) => name === "exec" && definition.includes('"custom"'));
    if (codex !== undefined) return { call: codex.name, input: writeCodexScript(call) };
    const openCode = tools.find(({ name, definition }) => name === "execute" && definition.includes("tools.fix"));
    const path = openCode === undefined ? undefined : findPath(openCode.definition, tool);
    return path === undefined ? undefined : { call: "execute", args: { code: writeOpenCodeScript(path, call) } };
  }

  /** Whether a sentence names the reader as the host does, whatever the host puts before the name. */
  #checkName(words: string, tools: readonly OfferedTool[]): void {
    const named = /[Rr]ead it with ([\w.-]+)/.exec(words)?.[1];
    const offered = findTool(tools, "artifact_read")?.name;
    const seen = this.seen.get(READER);
    if (seen === undefined || named === undefined || offered === undefined || offered.endsWith(named)) return;
    this.seen.set(READER, { ...seen, misnamed: [named, offered] });
  }

  /** Heeds whether the tool that appears later is known at last. */
  #noteGrown(prompt: string): void {
    const seen = this.seen.get("list_changed");
    if (seen === undefined || this.#hasGrown || !prompt.includes("grown_tool")) return;
    this.#hasGrown = true;
    this.seen.set("list_changed", { ...seen, facts: ["tool"] });
  }
}

/** What each step adds to what was seen. */
const READERS: Readonly<Record<Step["step"], (call: Call, parts: readonly Part[], api: ModelRequest["api"]) => Seen>> =
  {
    call: measureCall,
    open: ({ entry, seen = noteFailure("") }, parts, api) => ({
      ...seen,
      opened: measureParts(api, entry, parts).documents,
    }),
    read: ({ entry, seen = noteFailure("") }, parts) => ({ ...seen, read: readAnswer(entry, parts) }),
  };

function measureCall({ entry, definition }: Call, parts: readonly Part[], api: ModelRequest["api"]): Seen {
  const seen = measureParts(api, entry, parts);
  const report = readReport(parts);
  if (report !== undefined) {
    const { marks, ...told } = report;
    return { ...seen, ...told, isScript: true, share: entry.marks === undefined ? 1 : marks / entry.marks.count };
  }
  if (entry.isDefinition !== true) return seen;
  const { facts } = measureParts(api, entry, [{ kind: "text", text: definition }]);
  return { ...seen, facts };
}

function readAnswer({ read }: HostCase, parts: readonly Part[]): NonNullable<Seen["read"]> {
  const report = readReport(parts);
  const words = report === undefined ? readWords(parts) : report.excerpt;
  const isFound = report === undefined ? words.includes(read?.fact ?? "") : report.facts.includes("read");
  const isShown = read?.picture !== true || parts.some(({ kind }) => kind === "image");
  return { isFound: isFound && isShown, chars: report?.chars ?? words.length, excerpt: words.slice(0, 300) };
}

const simplify = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");

/** Characters of a long name that every host leaves at its beginning. */
const BEGINNING = 20;

/** The tool of the server under the name that a host gave it: with a prefix, other marks, a hash at the end, or cut. */
export function findTool(tools: readonly OfferedTool[], tool: string): OfferedTool | undefined {
  const wanted = simplify(tool);
  const begins = new RegExp(
    `(?:^|_)${wanted.slice(0, BEGINNING)}${wanted.length > BEGINNING ? "" : "(?:_[a-z0-9]{7,8})?$"}`,
  );
  return tools.find(({ name, namespace }) => {
    const whole = simplify(namespace === undefined ? name : `${namespace}_${name}`);
    return whole === wanted || (whole.includes("fix") && (whole.endsWith(`_${wanted}`) || begins.test(whole)));
  });
}

/** How a script of OpenCode's calls a tool: `tools.fix.img`, `tools.fix["a-b"]`. */
function findPath(definition: string, tool: string): string | undefined {
  const paths = definition.replaceAll("\\", "").match(/tools\.fix(?:\.\w+|\["[^"]+"\])(?=\(input)/g) ?? [];
  return paths.find(
    (path) => findTool([{ name: path.replaceAll(/tools\.|["\]]/g, ""), definition: "" }], tool) !== undefined,
  );
}

const hasTool = (tools: readonly OfferedTool[], wanted: string): boolean => tools.some(({ name }) => name === wanted);

/** Tools whose names alone a host tells, in words. */
function listHidden(prompt: string): readonly OfferedTool[] {
  const names = [...new Set(prompt.match(/\bmcp__[\w-]+/g))];
  return names.filter((name) => name.includes("fix")).map((name) => ({ name, definition: "" }));
}

/** The turn that looks for a tool where the host defers tools. */
function writeSearch(tool: string, prompt: string, tools: readonly OfferedTool[]): Turn | undefined {
  const hidden = listHidden(prompt);
  const found = findTool(hidden, tool);
  if (hasTool(tools, "ToolSearch")) {
    const query = found === undefined ? tool : `select:${hidden.map(({ name }) => name).join(",")}`;
    return { call: "ToolSearch", args: { query, max_results: 100 } };
  }
  if (!hasTool(tools, "tool_search")) return undefined;
  // Codex has a search of its own; Qwen Code's is a tool like others.
  if (!hasTool(tools, "tool_call")) return { find: `${tool} sample artifact` };
  return { call: "tool_search", args: { query: found === undefined ? tool : `select:${found.name}` } };
}
