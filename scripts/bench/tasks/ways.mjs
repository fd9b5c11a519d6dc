/**
 * The three ways in which a model gets a result: (a) all of it in its context, (b) its head and tail, and a file to grep, (c) Sluice.
 * Each counts the calls and the tokens of what is asked and answered, once, as they enter a context.
 * @module
 */
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { plain, proxied } from "./client.mjs";
import { fileOf } from "./files.mjs";
import { POLICIES, uriIn } from "./policies.mjs";

/** More fits into no model's context, and more no model writes in one turn: in tokens. */
const MAX_CONTEXT = 1_000_000;
const MAX_WRITTEN = 128_000;

/** Texts above this many characters are counted by a sample: ten thousand characters of each hundred thousand. */
const COUNTED_WHOLE = 4_000_000;
const STRIDE = 100_000;
const SAMPLE = 10_000;

/** Characters that (b) shows of a result: half of them its head, half its tail. */
const SHOWN = 10_000;

/** What (b)'s file tools give: lines and characters of one read, characters of one line, lines of one grep. */
const READ_LINES = 2000;
const READ_CHARACTERS = 100_000;
const LINE_CHARACTERS = 2000;
const GREP_LINES = 1000;

/** Tokens of o200k_base. */
export function tokensOf(text) {
  if (text.length <= COUNTED_WHOLE) return countTokens(text);
  let tokens = 0;
  let characters = 0;
  for (let at = 0; at < text.length; at += STRIDE) {
    const sample = text.slice(at, at + SAMPLE);
    tokens += countTokens(sample);
    characters += sample.length;
  }
  return Math.round((tokens * text.length) / characters);
}

const counted = new Map();

/** The same result is counted once, whatever number of tasks asks about it. */
function tokensOfResult(key, text) {
  let tokens = counted.get(key);
  if (tokens === undefined) counted.set(key, (tokens = tokensOf(text)));
  return tokens;
}

/** Counts calls and tokens, those apart that the model writes. */
class Meter {
  calls = 0;
  tokens = 0;
  longest = 0;

  async call(name, given, answer, key) {
    const written = tokensOf(`${name} ${JSON.stringify(given)}`);
    const text = await answer();
    this.calls += 1;
    this.tokens += written + (key === undefined ? tokensOf(text) : tokensOfResult(key, text));
    this.longest = Math.max(this.longest, written);
    return text;
  }
}

/** Lines of text in a file, as a host's tools for files read it. Patterns are regular expressions. */
class ResultFile {
  #lines;
  #meter;

  constructor(text, meter) {
    this.#lines = text.split("\n");
    this.#meter = meter;
  }

  /** How many lines there are, as the note under a result says it. */
  get length() {
    return this.#lines.length;
  }

  /** Lines from 1, the last one included; fewer where they are long. */
  async read(from, to) {
    let taken = [];
    await this.#meter.call("read", { file: "result.txt", offset: from, limit: to - from + 1 }, () => {
      taken = this.#some(from, to);
      return taken.map((line, at) => `${from + at}\t${line}`).join("\n");
    });
    return taken;
  }

  #some(from, to) {
    const taken = [];
    let characters = 0;
    for (const line of this.#lines.slice(from - 1, Math.min(to, from - 1 + READ_LINES))) {
      const shown = line.slice(0, LINE_CHARACTERS);
      characters += shown.length + 1;
      if (characters > READ_CHARACTERS) break;
      taken.push(shown);
    }
    return taken;
  }

  /** All of it, by as many reads as it takes. */
  async readAll() {
    const all = [];
    while (all.length < this.length) {
      const taken = await this.read(all.length + 1, this.length);
      for (const line of taken) all.push(line);
      if (this.#meter.tokens > MAX_CONTEXT) break;
    }
    return all.join("\n");
  }

  /** `grep`, with the options `only` (-o), `invert` (-v), `count` (-c), `before` (-B) and `first` (-m). */
  grep(pattern, options = {}) {
    const { only, invert, count, before = 0, first = GREP_LINES } = options;
    return this.#meter.call("grep", { pattern, file: "result.txt", ...options }, () => {
      const found = [];
      for (const [at, line] of this.#lines.entries()) {
        const parts = line.match(new RegExp(pattern, "g"));
        if ((parts === null) !== (invert === true)) continue;
        if (only === true) found.push(...parts);
        else
          for (let from = Math.max(0, at - before); from <= at; from += 1)
            found.push(`${from + 1}:${this.#lines[from].slice(0, LINE_CHARACTERS)}`);
        if (count !== true && found.length >= first * (before + 1)) break;
      }
      return count === true ? `${found.length}` : found.slice(0, Math.max(first * (before + 1), 1)).join("\n");
    });
  }
}

/** (b)'s first sight of a result. */
function headAndTail(text) {
  if (text.length <= SHOWN) return text;
  const half = SHOWN / 2;
  const lines = text.split("\n").length;
  const note = `… ${text.length - SHOWN} characters left out. All ${lines} lines are in result.txt: read or grep it. …`;
  return `${text.slice(0, half)}\n${note}\n${text.slice(-half)}`;
}

/** The names of the three ways, in the order of the letters. */
export const WAYS = ["context", "grep", "sluice"];

/** Servers over a folder, each as it is and behind Sluice, started when they are first asked for. */
export class Bench {
  #folder;
  #store;
  #command;
  #open = new Map();
  #raw = { key: "", text: "" };
  #ways = {
    context: (of) => this.#context(of),
    grep: (of) => this.#grep(of),
    sluice: (of) => this.#sluice(of),
  };

  constructor(folder, store, command) {
    this.#folder = folder;
    this.#store = store;
    this.#command = command;
  }

  /** A server, as it is or behind Sluice. */
  server(name, behind) {
    const key = `${name} ${behind}`;
    let server = this.#open.get(key);
    if (server === undefined) {
      server = behind ? proxied(name, this.#folder, this.#store, this.#command) : plain(name, this.#folder);
      this.#open.set(key, server);
    }
    return server;
  }

  /** The path of a file that servers see. */
  path(name) {
    return join(this.#folder, name);
  }

  /** The arguments of a task's first call. */
  firstCall({ server, file }) {
    return server === "filesystem" ? { path: this.path(file) } : { name: file };
  }

  /** Writes a task's file, as it was if a task before has changed it, and removes what the task is to make. */
  async prepare({ file, made }) {
    await writeFile(this.path(file), (await fileOf(file)).bytes);
    if (made !== undefined) await rm(this.path(made), { force: true });
  }

  /** Solves a task in one way by its scripted policy. */
  async solve(task, way) {
    await this.prepare(task);
    const meter = new Meter();
    const server = await this.server(task.server, way === "sluice");
    const call = (name, given) => meter.call(name, given, async () => (await server.call(name, given)).text);
    const made = task.made === undefined ? undefined : this.path(task.made);
    const policy = POLICIES[task.id];
    const said = await this.#ways[way]({ task, meter, server, call, made, policy });
    return { ...(await this.#judged(task, meter, said)), calls: meter.calls, tokens: meter.tokens };
  }

  /** Whether an answer is the right one; of files, whether what is there is. */
  async isRight(task, said) {
    const answer = String(await task.answer(await fileOf(task.file)));
    if (task.made === undefined) return said !== undefined && String(said) === answer;
    const bytes = await readFile(this.path(task.made)).catch(() => undefined);
    return bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === answer;
  }

  async #judged(task, meter, said) {
    if (said === null) return { isSolved: false, why: "not text" };
    if (meter.tokens > MAX_CONTEXT) return { isSolved: false, why: "too long" };
    if (meter.longest > MAX_WRITTEN) return { isSolved: false, why: "too long to write" };
    if (await this.isRight(task, said)) return { isSolved: true };
    return { isSolved: false, why: `wrong: ${String(said).slice(0, 80)}` };
  }

  /** The first call's result without Sluice. The last one is kept: tasks about one file follow each other. */
  async #result(task) {
    const key = `${task.server} ${task.tool} ${task.file}`;
    if (this.#raw.key !== key) {
      const server = await this.server(task.server, false);
      const { text } = await server.call(task.tool, this.firstCall(task));
      this.#raw = { key, text };
    }
    return this.#raw;
  }

  async #context({ task, meter, call, made, policy }) {
    const { key, text } = await this.#result(task);
    await meter.call(task.tool, this.firstCall(task), () => text, key);
    return policy.context === undefined ? null : policy.context(text, { call, made });
  }

  async #grep({ task, meter, call, made, policy }) {
    const { text } = await this.#result(task);
    await meter.call(task.tool, this.firstCall(task), () => headAndTail(text));
    if (policy.context === undefined) return null;
    const file = new ResultFile(text, meter);
    const solve = policy.grep ?? (async () => policy.context(await file.readAll(), { call, made }));
    return solve(file, { call, made });
  }

  async #sluice({ task, server, call, made, policy }) {
    const result = await call(task.tool, this.firstCall(task));
    const uri = uriIn(result);
    const named = (end) => server.tools.find(({ name }) => name.endsWith(end)).name;
    return policy.sluice({
      result,
      call,
      made,
      uri,
      read: (given) => call(named("artifact_read"), { uri, ...given }),
      edit: (given) => call(named("artifact_edit"), { uri, ...given }),
    });
  }

  /** Tokens of the definitions of Sluice's two tools, and of the sentence in the instructions. */
  async definitions() {
    const { tools, instructions } = await this.server("filesystem", true);
    const tokens = (end) => {
      const { name, description, inputSchema } = tools.find((each) => each.name.endsWith(end));
      return tokensOf(JSON.stringify({ type: "function", function: { name, description, parameters: inputSchema } }));
    };
    return { read: tokens("artifact_read"), edit: tokens("artifact_edit"), instructions: tokensOf(instructions) };
  }

  /** Ends all servers. */
  async close() {
    for (const server of this.#open.values()) await (await server).close();
  }
}
