/**
 * The model of the harness: calls the tool of each case once, and keeps what the host then shows of the result.
 * @module
 */
import type { ModelRequest, Turn } from "../fake-model.js";
import { listTools, type OfferedTool, type Part, readAfter } from "../requests.js";
import type { HostCase } from "./cases.js";
import { readReport, writeScript } from "./script.js";
import { measureParts, noteFailure, readWords, type Seen } from "./seen.js";

/** A call under way. */
interface Call {
  readonly entry: HostCase;
  readonly callId: string;
  /** The definition that the host offered, as JSON text. */
  readonly definition: string;
  /** What was seen of the result, while it is read on. */
  readonly seen?: Seen;
}

/** Most searches for one tool. */
const MAX_SEARCHES = 2;

/** Follows the cases through the requests of a host; what was seen is in `seen`, by name of the case. */
export class Driver {
  readonly seen = new Map<string, Seen>();
  /** Bodies of requests with tools, for those who want to look. */
  readonly prompts: string[] = [];
  readonly #left: HostCase[];
  #call: Call | undefined;
  #searches = 0;
  #hasGrown = false;

  constructor(cases: readonly HostCase[]) {
    this.#left = [...cases];
  }

  /** The case whose result is waited for. */
  get pending(): HostCase | undefined {
    return this.#call?.entry;
  }

  /** The model's answer to a request. */
  answer(request: ModelRequest): Turn {
    const tools = listTools(request.prompt);
    // Titles, summaries and the like are asked for without tools.
    if (tools.length === 0) return { say: "Samples" };
    this.prompts.push(request.prompt);
    this.#noteGrown(request.prompt);
    return this.#finish(request, tools) ?? this.#begin(request, tools);
  }

  /** Looks at the result of the last call. @returns the next turn, if it is to be read on */
  #finish({ api, prompt, callId }: ModelRequest, tools: readonly OfferedTool[]): Turn | undefined {
    const call = this.#call;
    this.#call = undefined;
    if (call === undefined) return undefined;
    const { entry } = call;
    const parts = readAfter(prompt, call.callId);
    if (parts === undefined) {
      this.seen.set(entry.name, noteFailure("the call is not in the next request"));
      return undefined;
    }
    if (call.seen !== undefined) {
      this.seen.set(entry.name, { ...call.seen, read: readAnswer(entry, parts) });
      return undefined;
    }
    const seen = measureCall(call, parts, api);
    this.seen.set(entry.name, seen);
    if (entry.read === undefined || seen.uri === undefined) return undefined;
    const reader = { name: "read", title: "", kind: "small", facts: { read: entry.read.fact ?? "" } } as const;
    const turn = this.#write("artifact_read", { uri: seen.uri, ...entry.read.args }, reader, tools);
    if (turn === undefined) return undefined;
    this.#call = { ...call, callId, seen };
    return turn;
  }

  /** Calls the tool of the next case, or looks for it. */
  #begin(request: ModelRequest, tools: readonly OfferedTool[]): Turn {
    for (let entry = this.#left[0]; entry !== undefined; entry = this.#left[0]) {
      if (entry.tool === null) {
        this.#left.shift();
        this.seen.set(entry.name, measureParts(request.api, entry, [{ kind: "text", text: request.prompt }]));
        continue;
      }
      const tool = entry.tool ?? entry.name;
      const turn = this.#write(tool, entry.args ?? {}, entry, tools);
      if (turn !== undefined) {
        this.#left.shift();
        this.#searches = 0;
        this.#call = { entry, callId: request.callId, definition: findTool(tools, tool)?.definition ?? "" };
        return turn;
      }
      this.#searches += 1;
      const search = this.#searches > MAX_SEARCHES ? undefined : writeSearch(tool, request.prompt, tools);
      if (search !== undefined) return search;
      this.#left.shift();
      this.#searches = 0;
      this.seen.set(entry.name, noteFailure("the tool is not offered"));
    }
    return { say: "Done." };
  }

  /** The turn that calls a tool; undefined if it is not on offer. */
  #write(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    entry: HostCase,
    tools: readonly OfferedTool[],
  ): Turn | undefined {
    const offered = findTool(tools, tool);
    if (offered !== undefined) {
      const { name, namespace } = offered;
      return { call: name, args, ...(namespace !== undefined && { namespace }) };
    }
    const code = tools.find(({ name, definition }) => name === "exec" && definition.includes('"custom"'));
    return code === undefined ? undefined : { call: code.name, input: writeScript(tool, args, entry) };
  }

  /** Heeds whether the tool that appears later is known at last. */
  #noteGrown(prompt: string): void {
    const seen = this.seen.get("list_changed");
    if (seen === undefined || this.#hasGrown || !prompt.includes("grown_tool")) return;
    this.#hasGrown = true;
    this.seen.set("list_changed", { ...seen, facts: ["tool"] });
  }
}

function measureCall({ entry, definition }: Call, parts: readonly Part[], api: ModelRequest["api"]): Seen {
  const seen = measureParts(api, entry, parts);
  const report = readReport(parts);
  if (report !== undefined) {
    const { marks, ...told } = report;
    return { ...seen, ...told, share: entry.marks === undefined ? 1 : marks / entry.marks.count };
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
const BEGINNING = 24;

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

/** The turn that looks for a tool where the host defers tools. */
function writeSearch(tool: string, prompt: string, tools: readonly OfferedTool[]): Turn | undefined {
  const has = (name: string): boolean => tools.some((offered) => offered.name === name);
  if (has("ToolSearch")) {
    const names = [...new Set(prompt.match(/\bmcp__[\w-]+/g))].filter((name) => name.includes("fix"));
    const found = findTool(
      names.map((name) => ({ name, definition: "" })),
      tool,
    );
    const query = found === undefined ? tool : `select:${names.join(",")}`;
    return { call: "ToolSearch", args: { query, max_results: 100 } };
  }
  if (has("tool_search")) {
    const own = tools.find(({ name }) => name === "tool_search");
    if (own?.definition.includes('"execution"') === true) return { find: `${tool} sample artifact` };
    return { call: "tool_search", args: { query: tool, max_results: 100 } };
  }
  return undefined;
}
