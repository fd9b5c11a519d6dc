/**
 * What holds of every answer, whatever way it came.
 * @module
 */
import { createHash } from "node:crypto";
import { composed } from "./server.mjs";
import { keepsAll, refuses } from "./stores.js";
import type { Payload, Planted } from "./shapes.js";
import type { Given, GivenCall, Told, Way } from "./ways.js";

/** Something that does not hold: what, the same for the same cause, and more of it. */
export interface Problem {
  readonly what: string;
  readonly more: string;
}

/** Characters that an observation has at most, and a string in the mcp dialect. */
const OBSERVATION = 50_000;
const INLINE = 10_000;
const MESSAGE = 8 * 1024 * 1024;
/** Characters of a long text that a model sees where it is stored nowhere: nearly all that one field may have. */
const SEEN = 9_000;

/** Bytes of a command's output that are looked into. */
const MAX_PRINTED = 1024 * 1024;

/** Words by which a model knows that something is missing. */
const MISSING =
  /not[ -](?:be )?(?:stored|kept|written|read)|could not|truncated: |left out|did not answer in time|… \d+ more|E_STORE/i;
const ID = /[A-Za-z0-9._-]+_[0-9a-f]{12,64}(?![0-9A-Za-z])/g;

/** Everything that does not hold of the answer to one call. */
export async function problemsOf(told: Told, call: GivenCall, way: Way, given: Given): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const say = (what: string, more = ""): void => void problems.push({ what, more: more.slice(0, 300) });
  if (call.untouched === "error" || call.untouched === "prompt") {
    checkGuarded(told, call, say);
    return problems;
  }
  if (call.untouched !== undefined) {
    untouched(told, call, given, say);
    return problems;
  }
  const expected = expectedOf(call, given);
  const { text } = told;
  if (text === undefined) {
    if (!mayRefuse(given)) say(`is not answered: ${general(told.refused ?? "")}`, told.refused);
    return problems;
  }
  if (
    given.isStrict &&
    way.isNeverStrict !== true &&
    given.store.kind !== "none" &&
    /truncated_[0-9a-f]{12}/.test(text)
  ) {
    say("is answered although the store failed and errors are asked for", text);
  }
  const value = parsed(text, say);
  bounds(told, text, value, way, given, say);
  for (const planted of expected.planted) leaks(planted, text, say);
  if (isProseUnstored(call, way, given) && text.length < SEEN) {
    say("shows less than the guardrail allows, and there is no store", `${text.length} characters`);
  }
  names(value, say);
  if (way.dialect !== "host") {
    for (const sentence of expected.said) {
      if (!text.includes(sentence)) say("does not show the text beside structured content", sentence);
    }
  }
  // Where the server's own words stand as such: what restores a result, and what a host is told of a resource.
  const shown =
    way.dialect === "observation"
      ? text
      : JSON.stringify(without(value, way.dialect === "mcp" ? "_meta" : "mime_type"));
  for (const sentence of expected.hostile) {
    if (shown.includes(sentence.slice(0, 60)))
      say("speaks a declared MIME type as a fact", around(shown, sentence.slice(0, 60)));
  }
  await found(told, text, expected, given, say);
  if (way.dialect === "mcp" && keepsAll(given.store.kind) && told.restore !== undefined) {
    await restored(told, value, call, say);
  }
  return problems;
}

type Expected = Pick<Payload, "planted" | "marks" | "said" | "hostile">;

/** What has to come of a call: of the result, of what it links to, or of what a transformer made. */
function expectedOf({ payload, linked }: GivenCall, { transformer }: Given): Expected {
  const parts =
    transformer?.does === "returns its own"
      ? [linked ?? payload]
      : linked === undefined
        ? [payload]
        : [payload, linked];
  const isOwn = transformer?.does.startsWith("returns") === true;
  const all = <T>(of: (part: Payload) => readonly T[]): readonly T[] => parts.flatMap((part) => of(part));
  return {
    planted: all((part) => part.planted),
    marks: all((part) => part.marks),
    // What a transformer makes is its own affair; what is linked has no text beside it.
    said: isOwn ? [] : payload.said,
    hostile: isOwn ? [] : all((part) => part.hostile),
  };
}

function isProseUnstored({ payload, linked }: GivenCall, { dialect }: Way, { store, transformer }: Given): boolean {
  if (store.kind !== "none" || dialect !== "observation") return false;
  return linked === undefined && transformer === undefined && payload.shape.startsWith("long prose");
}

/** A sentence without what differs from case to case. */
function general(sentence: string): string {
  return sentence
    .replace(/\w+_[0-9a-f]{12,}/g, "…")
    .replace(/\d+/g, "0")
    .replaceAll("\n", " ")
    .slice(0, 140);
}

/** Errors are asked for, and the store failed. */
function mayRefuse({ isStrict, store }: Given): boolean {
  return isStrict && (refuses(store.kind) || store.kind === "read fails");
}

type Say = (what: string, more?: string) => void;

function parsed(text: string, say: Say): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    say("is no JSON", text);
    return null;
  }
}

function bounds({ answer }: Told, text: string, value: unknown, { dialect }: Way, { store }: Given, say: Say): void {
  if (dialect === "observation") {
    const chars = codePoints(text);
    if (chars > OBSERVATION) say("is an observation above the limit", `${chars} characters`);
    return;
  }
  if (answer !== undefined && answer.bytes.length > MESSAGE) say("is a message above 8 MiB", `${answer.bytes.length}`);
  // What no store keeps is the host's, whole: what its model is shown goes through the guardrail.
  if (dialect === "host" && !keepsAll(store.kind)) {
    if (text.length > MESSAGE) say("gives a host more than 8 MiB", `${text.length}`);
    return;
  }
  const longest = longestString(value);
  if (longest > INLINE) say("has a string above max_inline_size", `${longest} characters`);
}

function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function longestString(value: unknown): number {
  let longest = 0;
  const stack = [value];
  for (let next = stack.pop(); next !== undefined || stack.length > 0; next = stack.pop()) {
    if (typeof next === "string") longest = Math.max(longest, next.length > INLINE ? codePoints(next) : 0);
    else if (typeof next === "object" && next !== null) stack.push(...Object.values(next));
  }
  return longest;
}

/** Pieces of an encoding so long that no chance makes them. */
function needles(encoding: string, length: number): string[] {
  const [pieces, step] = [[] as string[], Math.floor(length / 2)];
  const last = encoding.length - length;
  for (let at = 0; at <= last; at += step) {
    // Of a large file the beginning, the end, and some of what is between.
    if (at < 40 * step || at > last - 10 * step || at % (97 * step) === 0) pieces.push(encoding.slice(at, at + length));
  }
  return pieces;
}

const views = new Map<string, Readonly<Record<"base64" | "hex" | "digits", string>>>();

/** A text without what may stand between the characters of an encoding. */
function viewsOf(text: string): Readonly<Record<"base64" | "hex" | "digits", string>> {
  const known = views.get(text);
  if (known !== undefined) return known;
  const plain = text
    .replace(/\\+u00([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+[nrt]/g, "");
  const made = {
    base64: plain
      .replaceAll("-", "+")
      .replaceAll("_", "/")
      .replace(/[^A-Za-z0-9+/]+/g, ""),
    hex: plain
      .replace(/\\+x/g, "")
      .toLowerCase()
      .replace(/[^0-9a-f]+/g, ""),
    digits: plain.replace(/[^0-9]+/g, ","),
  };
  views.clear();
  views.set(text, made);
  return made;
}

function leaks(planted: Planted, text: string, say: Say): void {
  const leak = leaksIn(planted, text);
  if (leak !== undefined)
    say(`shows a file as ${leak.encoding}`, `${planted.bytes.length} bytes, ${leak.needle.slice(0, 60)}`);
}

/** The encoding that a text shows a file in, and a part of it. Undefined if it shows none. */
export function leaksIn(
  { bytes, digits = [] }: Planted,
  text: string,
): { readonly encoding: string; readonly needle: string } | undefined {
  const seen = viewsOf(text);
  const lists = [[...bytes.subarray(0, 3_000)].join(","), ...digits.map((each) => each.slice(0, 20_000))];
  const encodings: readonly (readonly [string, string, string, number])[] = [
    ["base64", seen.base64, bytes.toString("base64").replace(/=+$/, ""), 200],
    ["hex", seen.hex, bytes.toString("hex"), 200],
    ...lists.map((list) => ["a list of digits", seen.digits, list.replace(/[^0-9]+/g, ","), 200] as const),
  ];
  for (const [name, haystack, encoding, length] of encodings) {
    const needle = needles(encoding, length).find((each) => haystack.includes(each));
    if (needle !== undefined) return { encoding: name, needle };
  }
  return undefined;
}

/** Whether all of a file is in a text, however it is encoded. */
function isWritten(bytes: Buffer, text: string): boolean {
  const { base64, hex, digits } = viewsOf(text);
  if (base64.includes(bytes.toString("base64").replace(/=+$/, ""))) return true;
  return hex.includes(bytes.toString("hex")) || digits.includes([...bytes].join(","));
}

/** Whether a file is in what is stored: written there, or begun by an artifact of its own and gone on with there. */
function isWithinStored(bytes: Buffer, { texts }: Reached): boolean {
  const begun = texts.filter((each) => each.length % 3 === 0 && bytes.subarray(0, each.length).equals(each));
  const rests = [bytes, ...begun.map((each) => bytes.subarray(each.length))];
  return texts.some((each) => rests.some((rest) => isWritten(rest, each.toString("latin1"))));
}

/** File names of ours have the shape of one. */
function names(value: unknown, say: Say): void {
  const stack = [value];
  for (let next = stack.pop(); next !== undefined || stack.length > 0; next = stack.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const { artifact } = next as { artifact?: unknown };
    const { filename } = (typeof artifact === "object" && artifact !== null ? artifact : {}) as { filename?: unknown };
    // oxlint-disable-next-line no-control-regex
    if (
      typeof filename === "string" &&
      (/[/\\\u0000-\u001f\u007f\u202a-\u202e]/.test(filename) || filename.length > 255)
    ) {
      say("has a file name that is none", filename);
    }
    stack.push(...Object.values(next));
  }
}

/** What was taken out is stored, and found by what the model sees; or the model is told that it is not. */
async function found(told: Told, text: string, expected: Expected, { store }: Given, say: Say): Promise<void> {
  const reached = await reachable(told, text);
  const isKept = keepsAll(store.kind);
  if (isKept || store.kind === "too small") {
    for (const id of reached.dangling) say("refers to what is not in the store", id);
  }
  const lost: [string, string][] = [];
  for (const planted of expected.planted) {
    const { bytes, type, isWithin = false } = planted;
    const id = reached.hashes.get(sha256(bytes));
    // What a command prints beyond a mebibyte is stored as it came, where it is no JSON.
    const mayBeWithin = isWithin || bytes.length > MAX_PRINTED / 2;
    if (id === undefined && mayBeWithin && isWithinStored(bytes, reached)) continue;
    if (id === undefined) lost.push(["a file", `${bytes.length} bytes of ${type ?? "a declared type"}`]);
    else if (type === "wordprocessingml") {
      const kept = await told.stat?.(id);
      if (kept !== undefined && kept !== null && !(kept.mime_type ?? "").includes(type)) {
        say("takes a Word file for something else", String(kept.mime_type));
      }
    }
  }
  for (const mark of expected.marks) {
    if (!text.includes(mark) && !reached.texts.some((each) => each.includes(mark))) lost.push(["text", mark]);
  }
  const isTold = MISSING.test(text);
  for (const [what, more] of lost) {
    if (isKept) say(`loses ${what} with a good store`, `${more}; ${isTold ? "told" : "untold"}: ${text.slice(0, 160)}`);
    else if (!isTold) say(`loses ${what} without a word`, `${more}: ${text.slice(0, 200)}`);
  }
}

interface Reached {
  /** Ids, by the hash of what is stored. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly texts: readonly Buffer[];
  readonly dangling: readonly string[];
}

/** Everything that references lead to, and those inside what is stored. */
async function reachable(told: Told, text: string): Promise<Reached> {
  const [hashes, texts, dangling] = [new Map<string, string>(), [] as Buffer[], [] as string[]];
  const seen = new Set<string>();
  let next = [...text.matchAll(ID)].map(([id]) => id);
  for (let level = 0; next.length > 0 && level < 320; level += 1) {
    const inner: string[] = [];
    for (const named of next) {
      const id = named.replace(/^[._-]+/, "");
      if (seen.has(id) || seen.size > 3_000 || id.startsWith("truncated_")) continue;
      seen.add(id);
      const bytes = await told.read(id);
      if (bytes === null) {
        if (level === 0 && isReference(text, named)) dangling.push(id);
        continue;
      }
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      hashes.set(sha256(buffer), id);
      texts.push(buffer);
      if (buffer.includes("artifact")) inner.push(...[...buffer.toString("latin1").matchAll(ID)].map(([each]) => each));
    }
    next = inner;
  }
  return { hashes, texts, dangling };
}

function isReference(text: string, id: string): boolean {
  return text.includes(`artifact://${id}`) || text.includes(`"id":"${id}"`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function restored({ restore }: Told, value: unknown, { payload }: GivenCall, say: Say): Promise<void> {
  // What JSON cannot write has nothing to be restored to.
  if (payload.json === undefined) return;
  let back: unknown;
  try {
    back = await restore?.(value);
  } catch (error) {
    return say("cannot be restored", String(error));
  }
  const [wanted, got] = [JSON.stringify(JSON.parse(payload.json)), JSON.stringify(back)];
  if (wanted === got) return;
  let at = 0;
  while (wanted[at] === got[at]) at += 1;
  say("is restored to something else", `${wanted.slice(at - 60, at + 60)} became ${got.slice(at - 60, at + 60)}`);
}

/** What is no result of a call shows no bytes and no long text either. The rest of it is the server's. */
function checkGuarded({ answer, text, refused }: Told, { payload, untouched: kind }: GivenCall, say: Say): void {
  const told = answer?.bytes.toString() ?? text ?? refused ?? "";
  for (const planted of payload.planted) leaks(planted, told, say);
  const longest = longestString(answer === undefined ? told : JSON.parse(told));
  if (longest > INLINE) say(`has a string above max_inline_size in ${String(kind)}`, `${longest} characters`);
  const { code } = (JSON.parse(payload.json ?? "{}") ?? {}) as { readonly code?: unknown };
  if (
    kind === "error" &&
    answer !== undefined &&
    (memberOf(answer.bytes, "error") as { code?: unknown }).code !== code
  ) {
    say("changes the code of an error", told.slice(0, 200));
  }
}

/** What MCP says must not be touched is the server's, byte for byte. */
function untouched(
  { answer, text, refused }: Told,
  { payload, untouched: kind }: GivenCall,
  given: Given,
  say: Say,
): void {
  const body = payload.json ?? "null";
  const what = `changes ${String(kind)}, which nobody may touch`;
  if (answer?.isExact === true) {
    const wanted = composed(answer.id, "result", Buffer.from(body), given.place);
    if (!wanted.equals(answer.bytes)) say(what, answer.bytes.subarray(0, 300).toString());
    return;
  }
  const got = answer === undefined ? text : JSON.stringify(memberOf(answer.bytes, "result"));
  if (got !== JSON.stringify(JSON.parse(body))) say(what, got ?? refused);
}

function memberOf(bytes: Buffer, member: string): unknown {
  return (JSON.parse(bytes.toString()) as Record<string, unknown>)[member];
}

/** The value without the members of this name, wherever they are. */
function without(value: unknown, key: string): unknown {
  return JSON.parse(JSON.stringify(value, (name, each: unknown) => (name === key ? undefined : each))) as unknown;
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 80), at + 120);
}
