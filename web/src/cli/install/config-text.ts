/**
 * Edits the text of a configuration: JSON with comments, TOML or YAML. Only what changes is rewritten; comments, order and
 * spelling of the rest stay.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { YAMLMap, Pair, Scalar, YAMLSeq } from "yaml";
import { isObject } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import {
  applyEdits,
  mapMembers,
  readName,
  replaceEdit,
  findSpan,
  valueAt,
  type Edit,
  type MemberNode,
  type ObjectNode,
  type ValueNode,
} from "../../json/text.js";
import type { Format } from "./hosts.js";

/** What is written into an entry. */
export type EntryValue = string | readonly string[] | Readonly<Record<string, string>>;

/** What changes in one entry: new values by name; undefined for a name that goes. */
export type EntryChange = ReadonlyMap<string, unknown>;

/** A change of the entry at a path. */
export interface TextEdit {
  readonly path: readonly string[];
  readonly change: EntryChange;
}

/** What a configuration says. */
export type ConfigData = Readonly<Record<string, unknown>>;

/** The editor of one format. */
interface TextEditor {
  /** Throws any error that has `line` and `column`. */
  parse(text: string): unknown;
  edit(text: string, edit: TextEdit): string;
}

const NAMES: Readonly<Record<Format, string>> = { json: "JSON", toml: "TOML", yaml: "YAML" };

/** Which characters UTF-8 files of some editors begin with. */
const MARK = "\uFEFF";

/** Reads a configuration. An empty one says nothing. Throws SluiceError E_CONFIG_JSON, whose message quotes no text. */
export async function parseConfig(text: string, format: Format, file: string): Promise<ConfigData> {
  const content = withoutMark(text);
  if (content.trim() === "") return {};
  const editor = await loadEditor(format);
  let data: unknown;
  try {
    data = editor.parse(content);
  } catch (error) {
    throw invalid(file, format, error);
  }
  if (data == null) return {};
  if (isObject(data)) return data;
  throw new SluiceError("E_CONFIG_JSON", `the configuration ${file} is a list or a single value: it must be an object`);
}

/**
 * Edits a configuration. Checks that the new text says what the old one said, with the changes.
 *
 * @throws SluiceError E_CONFIG_VALUE if an entry is written in a way that cannot be edited.
 */
export async function editConfig(
  text: string,
  format: Format,
  edits: readonly TextEdit[],
  file: string,
): Promise<string> {
  const editor = await loadEditor(format);
  const mark = text.startsWith(MARK) ? MARK : "";
  const content = withoutMark(text);
  const expected = await parseConfig(content, format, file);
  for (const { path, change } of edits) applyChange(entryAt(expected, path), change);
  let edited: string;
  try {
    edited = edits.reduce((before, edit) => editor.edit(before, edit), content);
  } catch (error) {
    // Not passed as `cause`: errors of parsers quote the text.
    throw error instanceof SluiceError ? error : notEditable(file);
  }
  const said = await parseConfig(edited, format, file).catch(() => undefined);
  if (said === undefined || !isDeepStrictEqual(plain(said), plain(expected))) throw notEditable(file);
  return mark + edited;
}

function notEditable(file: string): SluiceError {
  return new SluiceError(
    "E_CONFIG_VALUE",
    `${file} has an entry that cannot be changed alone: edit it by hand, as docs/hosts.md shows`,
  );
}

const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(1) : text);

/** What can be compared: dates and large numbers of TOML as texts. */
function plain(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value)));
}

function entryAt(data: ConfigData, path: readonly string[]): Record<string, unknown> {
  let at: unknown = data;
  for (const name of path) at = isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[name] : undefined;
  return isObject(at) ? at : {};
}

function applyChange(entry: Record<string, unknown>, change: EntryChange): void {
  for (const [name, value] of change) {
    if (value === undefined) delete entry[name];
    else entry[name] = value;
  }
}

function invalid(file: string, format: Format, error: unknown): SluiceError {
  const { line, column } = error as { readonly line?: number; readonly column?: number };
  const place = line === undefined || column === undefined ? "" : ` at line ${line}, column ${column}`;
  // Messages of parsers are not used: they quote the text, which may be secret.
  return new SluiceError(
    "E_CONFIG_JSON",
    `the configuration ${file} is not valid ${NAMES[format]}${place}: correct it, then run this again`,
    { ...(line !== undefined && { line }), ...(column !== undefined && { column }) },
  );
}

const editors = new Map<Format, Promise<TextEditor>>();

/** The parsers of TOML and YAML are loaded when a file wants one. */
function loadEditor(format: Format): Promise<TextEditor> {
  const known = editors.get(format);
  if (known !== undefined) return known;
  const loading = { json: jsonEditor, toml: tomlEditor, yaml: yamlEditor }[format]();
  editors.set(format, loading);
  return loading;
}

/** How many values a new list begins with before all values of the old one; undefined if the old one is not at its end. */
function countAdded(before: readonly unknown[], after: readonly unknown[]): number | undefined {
  const count = after.length - before.length;
  return count > 0 && before.every((value, index) => value === after[count + index]) ? count : undefined;
}

/** The text of a value on one line, as JSON and as YAML. */
function renderValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => JSON.stringify(each)).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${renderValue(each)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

async function jsonEditor(): Promise<TextEditor> {
  const { evaluate, parse } = await import("@humanwhocodes/momoa");
  const parseBody = (text: string): ValueNode => parse(text, { mode: "jsonc", allowTrailingCommas: true }).body;
  return {
    parse: (text) => evaluate(parseBody(text)),
    edit: (text, { path, change }) => {
      let node: ValueNode | undefined = parseBody(text);
      for (const name of path) node = valueAt(node, name);
      if (node?.type !== "Object") return text;
      // From here on only the entry's own text is parsed: a configuration may be long.
      const { start, end } = findSpan(node);
      const entry = editObject(text.slice(start, end), change, (part) => parseBody(part) as ObjectNode);
      return text.slice(0, start) + entry + text.slice(end);
    },
  };
}

function editObject(text: string, change: EntryChange, objectIn: (text: string) => ObjectNode): string {
  const members = mapMembers(objectIn(text));
  const names = [...change.keys()];
  const news = names.filter((name) => change.get(name) !== undefined && !members.has(name));
  const gone = names.filter((name) => change.get(name) === undefined && members.has(name));
  const edits: Edit[] = [];
  for (const [name, value] of change) {
    const member = members.get(name);
    if (member !== undefined && value !== undefined) edits.push(...valueEdits(text, member, value));
  }
  // What is new takes the place of what goes, so that commas and comments stay where they are.
  const replaced = gone.slice(0, news.length);
  for (const [index, name] of replaced.entries()) {
    edits.push(replaceEdit(members.get(name) as MemberNode, memberText(news[index] as string, change)));
  }
  let edited = applyEdits(text, edits);
  for (const name of news.slice(replaced.length))
    edited = appendMember(edited, memberText(name, change), objectIn(edited));
  for (const name of gone.slice(replaced.length)) edited = removeMember(edited, name, objectIn(edited));
  return edited;
}

function memberText(name: string, change: EntryChange): string {
  return `${JSON.stringify(name)}: ${renderValue(change.get(name))}`;
}

/** Adds to the beginning of a list, or takes from it, where that is all; otherwise replaces the value. */
function valueEdits(text: string, { value: node }: MemberNode, value: unknown): Edit[] {
  if (node.type === "Array" && Array.isArray(value) && node.elements.length > 0) {
    const elements = node.elements.map((element) => element.value);
    const before = elements.map((element) => (element.type === "String" ? element.value : undefined));
    const at = findSpan(elements[0] as ValueNode).start;
    const more = countAdded(before, value);
    if (more !== undefined) {
      const space = text.slice(findSpan(node).start + 1, at);
      // A comment before the first element stays there.
      const between = /^\s*$/.test(space) && space.includes("\n") ? space : " ";
      const head = value.slice(0, more).map((each) => `${JSON.stringify(each)},${between}`);
      return [{ at, remove: 0, insert: head.join("") }];
    }
    const less = countAdded(value, before);
    const first = less === undefined ? undefined : elements[less];
    if (first !== undefined) return [{ at, remove: findSpan(first).start - at, insert: "" }];
  }
  return [replaceEdit(node, renderValue(value))];
}

/** The object with one more member, which stands as its last one does: on a line of its own, or beside the others. */
function appendMember(text: string, member: string, object: ObjectNode): string {
  const last = object.members.at(-1);
  if (last === undefined) return `{ ${member} }`;
  const { start, end } = findSpan(last);
  const line = /\r?\n[ \t]*$/.exec(text.slice(0, start))?.[0];
  return applyEdits(text, [{ at: end, remove: 0, insert: `,${line ?? " "}${member}` }]);
}

/** The object without a member and its comma. Comments beside it stay. */
function removeMember(text: string, name: string, object: ObjectNode): string {
  const index = object.members.findIndex((member) => readName(member) === name);
  const member = object.members[index] as MemberNode;
  const { start, end } = findSpan(member);
  const comma = commaAfter(text, end);
  const before = object.members[index - 1];
  const commaBefore = before === undefined ? undefined : commaAfter(text, findSpan(before).end);
  const edits = [{ at: start, remove: end - start, insert: "" }];
  if (comma !== undefined) edits.push({ at: comma, remove: 1, insert: "" });
  else if (commaBefore !== undefined) edits.push({ at: commaBefore, remove: 1, insert: "" });
  const edited = applyEdits(text, edits);
  const at = comma === undefined && commaBefore !== undefined ? start - 1 : start;
  return withoutBlankLine(edited, at);
}

/** Removes the line at an offset if it is blank; otherwise the spaces there. */
function withoutBlankLine(text: string, at: number): string {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at);
  const to = next === -1 ? text.length : next + 1;
  if (from > 0 && text.slice(from, to).trim() === "") return text.slice(0, from) + text.slice(to);
  return text.slice(0, at) + text.slice(at).replace(/^[ \t]+/, "");
}

/** The offset of the comma behind a value, past spaces and comments. */
function commaAfter(text: string, at: number): number | undefined {
  const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = at;
  space.exec(text);
  return text[space.lastIndex] === "," ? space.lastIndex : undefined;
}

async function tomlEditor(): Promise<TextEditor> {
  const { parse, patch } = await import("@decimalturn/toml-patch");
  return {
    parse: (text) => parse(text) as unknown,
    edit: (text, { path, change }) => {
      const data = parse(text) as ConfigData;
      applyChange(entryAt(data, path), change);
      return patch(text, data);
    },
  };
}

/** A mapping of YAML whose keys are words, as those of configurations are. */
type YamlEntry = YAMLMap<Scalar<string>, Scalar | YAMLSeq | YAMLMap>;

function findPair({ items }: YamlEntry, name: string): Pair<Scalar<string>, Scalar | YAMLSeq | YAMLMap> | undefined {
  return items.find(({ key }) => key.value === name);
}

async function yamlEditor(): Promise<TextEditor> {
  const { isMap, isSeq, isScalar, parseDocument, visit } = await import("yaml");
  const parseYaml = (text: string): ReturnType<typeof parseDocument> => {
    const document = parseDocument(text);
    const [error] = document.errors;
    const [{ line, col: column } = { line: undefined, col: undefined }] = error?.linePos ?? [];
    if (error !== undefined) throw Object.assign(new Error("not YAML"), { line, column });
    return document;
  };
  const entryIn = (text: string, path: readonly string[]): YamlEntry | undefined => {
    const node = parseYaml(text).getIn(path, true);
    if (!isMap(node)) return undefined;
    let isShared = node.anchor !== undefined;
    visit(node, {
      Alias: () => void (isShared = true),
      Value: (_, { anchor }) => void (isShared ||= anchor !== undefined),
    });
    if (!isShared) return node as YamlEntry;
    const name = path.at(-1) ?? "";
    throw new SluiceError(
      "E_CONFIG_VALUE",
      `the entry ${JSON.stringify(name)} shares parts with others (& and *): edit it by hand`,
    );
  };

  /** One name of an entry whose names stand on lines of their own. */
  const editName = (text: string, path: readonly string[], name: string, value: unknown): string => {
    const entry = entryIn(text, path);
    if (entry === undefined) return text;
    const pair = findPair(entry, name);
    if (pair === undefined) return value === undefined ? text : insertLine(text, entry, name, value);
    const at = getRange(pair.key)[0];
    const node = pair.value;
    if (value === undefined) return withoutLines(text, at, node === null ? getRange(pair.key)[1] : getRange(node)[1]);
    if (isSeq(node) && Array.isArray(value) && node.items.length > 0) {
      const items = node.items as readonly Scalar[];
      const before = items.map((item) => (isScalar(item) ? item.value : undefined));
      const more = countAdded(before, value);
      if (more !== undefined) return withItems(text, node, value.slice(0, more) as string[]);
      const less = countAdded(value, before);
      if (less !== undefined && less < items.length) return withoutItems(text, node, less);
    }
    if (isScalar(node) && typeof value === "string" && /^(?:PLAIN|QUOTE_SINGLE|QUOTE_DOUBLE)$/.test(node.type ?? "")) {
      const [from, to] = getRange(node);
      return text.slice(0, from) + renderValue(value) + text.slice(to);
    }
    return editName(editName(text, path, name, undefined), path, name, value);
  };

  return {
    parse: (text) => parseYaml(text).toJS() as unknown,
    edit: (text, { path, change }) => {
      const entry = entryIn(text, path);
      if (entry === undefined) return text;
      if (entry.flow === true) {
        const data = entry.toJS(parseYaml(text)) as Record<string, unknown>;
        applyChange(data, change);
        const [from, to] = getRange(entry);
        return text.slice(0, from) + renderValue(data) + text.slice(to);
      }
      // Names are added at the top, each before the one that was added last.
      const names = [...change.keys()];
      const news = names.filter((name) => findPair(entry, name) === undefined).toReversed();
      const others = names.filter((name) => findPair(entry, name) !== undefined);
      return [...news, ...others].reduce((before, name) => editName(before, path, name, change.get(name)), text);
    },
  };
}

function getRange(node: {
  readonly range?: readonly [number, number, number] | null | undefined;
}): readonly [number, number] {
  const [from, to] = node.range ?? [0, 0];
  return [from, to];
}

/** The spaces before an offset on its line. */
function indentAt(text: string, at: number): string {
  return " ".repeat(at - (text.lastIndexOf("\n", at - 1) + 1));
}

const detectLineBreak = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

function insertLine(text: string, entry: YamlEntry, name: string, value: unknown): string {
  const [at] = getRange(entry);
  const line = `${/^[A-Za-z]\w*$/.test(name) ? name : JSON.stringify(name)}: ${renderValue(value)}`;
  return text.slice(0, at) + line + detectLineBreak(text) + indentAt(text, at) + text.slice(at);
}

/** The text without the lines of a name. A comment behind its value goes with it. */
function withoutLines(text: string, from: number, to: number): string {
  const begin = text.lastIndexOf("\n", from - 1) + 1;
  const end = from + text.slice(from, to).trimEnd().length;
  const next = text.indexOf("\n", end);
  return text.slice(0, begin) + (next === -1 ? "" : text.slice(next + 1));
}

/** The text with more items at the beginning of a list. */
function withItems(text: string, list: YAMLSeq, items: readonly string[]): string {
  const [first] = getRange(list.items[0] as Scalar);
  if (list.flow === true)
    return text.slice(0, first) + items.map((item) => `${renderValue(item)}, `).join("") + text.slice(first);
  const dash = text.lastIndexOf("-", first - 1);
  const lines = items.map((item) => `- ${renderValue(item)}${detectLineBreak(text)}${indentAt(text, dash)}`);
  return text.slice(0, dash) + lines.join("") + text.slice(dash);
}

/** The text without the first items of a list. */
function withoutItems(text: string, list: YAMLSeq, count: number): string {
  const place = (index: number): number => {
    const [from] = getRange(list.items[index] as Scalar);
    return list.flow === true ? from : text.lastIndexOf("-", from - 1);
  };
  return text.slice(0, place(0)) + text.slice(place(count));
}
