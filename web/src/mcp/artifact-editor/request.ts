/**
 * Parses the arguments of an edit.
 * @module
 */
import { isObject } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { splitPointer } from "../../json/pointer.js";
import { quote } from "../artifact-reader/definition.js";
import { parseResourceRequest, type RecordSpec } from "../artifact-reader/request.js";
import { EDIT_ARGUMENTS } from "./definition.js";

/** Longest text of an edit, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** Most operations, cells, rows or ranges in one call. */
const MAX_ITEMS = 10_000;

/** Longest pointer, in characters. */
const MAX_POINTER = 2000;

/** An operation of JSON Patch (RFC 6902 §4). */
export type PatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: readonly string[]; readonly value: unknown }
  | { readonly op: "remove"; readonly path: readonly string[] }
  | { readonly op: "move" | "copy"; readonly path: readonly string[]; readonly from: readonly string[] };

/** A cell to set. */
export interface CellEdit {
  /** From 1, below the header. */
  readonly row: number;
  /** Its name, or its number from 1. */
  readonly column: string | number;
  readonly value: unknown;
}

/** Rows to set, add and delete. All numbers are those before the edit. */
export interface RowEdits {
  readonly kind: "rows";
  readonly cells: readonly CellEdit[];
  readonly added: readonly unknown[];
  /** The row before which rows are added. Undefined: at the end. */
  readonly before: number | undefined;
  /** In order, and none overlaps another. */
  readonly deleted: readonly RecordSpec[];
}

/** A text to replace. */
export interface TextEdit {
  readonly kind: "text";
  readonly old: Uint8Array;
  readonly oldText: string;
  readonly replacement: Uint8Array;
  readonly isAll: boolean;
}

/** Operations on a JSON document. */
export interface PatchEdit {
  readonly kind: "patch";
  readonly operations: readonly PatchOperation[];
}

/** What to change. */
export type EditWanted = TextEdit | PatchEdit | RowEdits;

const TEXT = ["old_string", "new_string", "replace_all"] as const;
const ROWS = ["cells", "add_rows", "before_row", "delete_rows"] as const;

type Given = Readonly<Record<string, unknown>>;

/** Parses the arguments of a call. Null counts as omitted. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_NOT_FOUND. */
export function parseEditRequest(args: unknown): { readonly id: string; readonly wanted: EditWanted } {
  if (!isObject(args)) {
    const example = '{"uri":"artifact://…","old_string":"…","new_string":"…"}';
    throw wrong("arguments", `The arguments must be an object such as ${example}.`);
  }
  for (const name of Object.keys(args)) {
    if (EDIT_ARGUMENTS.includes(name)) continue;
    throw wrong(name, `There is no argument ${quote(name)}; the arguments are ${EDIT_ARGUMENTS.join(", ")}.`);
  }
  if (typeof args["uri"] !== "string") throw wrong("uri", "uri must be a string: give the artifact:// URI.");
  const { id } = parseResourceRequest(args["uri"]);
  const kinds = [
    TEXT.filter((name) => isGiven(args, name) && args[name] !== false),
    isGiven(args, "patch") ? ["patch"] : [],
    ROWS.filter((name) => isGiven(args, name)),
  ];
  const [first, second] = kinds.filter((names) => names.length > 0);
  if (first === undefined) {
    throw wrong(
      "arguments",
      "Say what to change: old_string and new_string, patch, or cells, add_rows and delete_rows.",
    );
  }
  if (second !== undefined) {
    throw wrong(second[0] ?? "", `${first[0]} and ${second[0]} are two kinds of edit: call once for each.`);
  }
  if (first === kinds[0]) return { id, wanted: textEdit(args) };
  return {
    id,
    wanted: first === kinds[1] ? { kind: "patch", operations: parseOperations(args["patch"]) } : rowEdits(args),
  };
}

function isGiven(args: Given, name: string): boolean {
  return args[name] !== undefined && args[name] !== null;
}

function textEdit(args: Given): TextEdit {
  const { old_string: oldText, new_string: newText, replace_all: isAll = false } = args;
  if (typeof oldText !== "string") throw wrong("old_string", "old_string is missing: give the exact text to replace.");
  if (typeof newText !== "string") throw wrong("new_string", 'new_string is missing: give the new text, "" to delete.');
  if (isAll !== null && typeof isAll !== "boolean") throw wrong("replace_all", "replace_all must be true or false.");
  if (oldText === "") {
    const remedy = "give text that is there; to insert, give the text beside the place and repeat it in new_string";
    throw wrong("old_string", `old_string is empty: ${remedy}.`);
  }
  const replacement = utf8("new_string", newText);
  return { kind: "text", old: utf8("old_string", oldText), oldText, replacement, isAll: isAll === true };
}

function utf8(name: string, text: string): Uint8Array {
  if (/\p{Cs}/u.test(text)) throw wrong(name, `${name} has half a character (a lone surrogate): write it whole.`);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_TEXT_BYTES) return bytes;
  throw tooLarge(name, `${name} is longer than 1 MiB: make the edit in several calls.`);
}

function parseOperations(patch: unknown): readonly PatchOperation[] {
  const list = parseList("patch", patch, 'operations such as {"op":"add","path":"/a/-","value":1}');
  if (list.length === 0) throw wrong("patch", "patch is empty: give at least one operation.");
  return list.map((each, index) => parseOperation(each, `patch[${index}]`));
}

function parseOperation(each: unknown, place: string): PatchOperation {
  if (!isObject(each)) throw wrong(place, `${place} must be an object with op and path.`);
  const { op, path, from } = each;
  if (op === "remove") return { op, path: parsePointer(`${place}.path`, path) };
  if (op === "move" || op === "copy") {
    return { op, path: parsePointer(`${place}.path`, path), from: parsePointer(`${place}.from`, from) };
  }
  if (op === "add" || op === "replace" || op === "test") {
    if (!Object.hasOwn(each, "value"))
      throw wrong(place, `${place} (${op}) has no value: give one, null if it is null.`);
    return { op, path: parsePointer(`${place}.path`, path), value: checkNumbers(place, each["value"]) };
  }
  throw wrong(place, `${place}.op must be add, remove, replace, move, copy or test.`);
}

function parsePointer(place: string, pointer: unknown): readonly string[] {
  if (typeof pointer !== "string") throw wrong(place, `${place} must be a JSON Pointer such as "/a/b/0".`);
  if (pointer === "") return [];
  if (pointer.length > MAX_POINTER) throw wrong(place, `${place} is longer than ${MAX_POINTER} characters.`);
  if (!pointer.startsWith("/"))
    throw wrong(place, `${place} ${quote(pointer)} does not start with "/": write "/a/b/0".`);
  if (/~(?![01])/.test(pointer)) {
    throw wrong(place, `${place} ${quote(pointer)} has a "~" that is neither "~0" (for "~") nor "~1" (for "/").`);
  }
  return splitPointer(pointer.slice(1));
}

function rowEdits(args: Given): RowEdits {
  const { cells, add_rows: rows, before_row: before, delete_rows: deleted } = args;
  const edits: RowEdits = {
    kind: "rows",
    cells: isGiven(args, "cells") ? parseList("cells", cells, "{row, column, value}").map(parseCell) : [],
    added: isGiven(args, "add_rows") ? parseList("add_rows", rows, "arrays or objects").map(parseRow) : [],
    before: isGiven(args, "before_row") ? rowNumber("before_row", before) : undefined,
    deleted: isGiven(args, "delete_rows") ? parseRanges(deleted) : [],
  };
  if (edits.cells.length + edits.added.length + edits.deleted.length === 0) {
    throw wrong("add_rows", "Nothing is to be changed: give at least one cell, one row to add or one to delete.");
  }
  if (edits.before !== undefined && edits.added.length === 0) {
    throw wrong("before_row", "before_row says where add_rows go: give add_rows too.");
  }
  const both = edits.cells.find(({ row }) => edits.deleted.some(({ first, last }) => first <= row && row <= last));
  if (both !== undefined) throw wrong("cells", `Row ${both.row} is both changed and deleted: leave one of them out.`);
  return edits;
}

function parseCell(cell: unknown, index: number): CellEdit {
  const place = `cells[${index}]`;
  if (!isObject(cell) || !Object.hasOwn(cell, "value")) {
    throw wrong(place, `${place} must be an object with row, column and value.`);
  }
  const { column } = cell;
  const isColumn = typeof column === "string" || (Number.isSafeInteger(column) && (column as number) > 0);
  if (!isColumn) throw wrong(place, `${place}.column must be a column's name, or its number from 1.`);
  const row = rowNumber(`${place}.row`, cell["row"]);
  return { row, column: column as string | number, value: checkNumbers(place, cell["value"]) };
}

function parseRow(row: unknown, index: number): unknown {
  return checkNumbers(`add_rows[${index}]`, row);
}

function rowNumber(place: string, row: unknown): number {
  const number = typeof row === "string" && /^\d{1,15}$/.test(row) ? Number(row) : row;
  if (Number.isSafeInteger(number) && (number as number) > 0) return number as number;
  throw wrong(place, `${place} must be the number of a row, from 1.`);
}

/** Parses `7`, `"5-7"`, `"5-"`, `"2,5-7"` or a list of these into ranges in order. */
function parseRanges(deleted: unknown): readonly RecordSpec[] {
  const listed: readonly unknown[] = Array.isArray(deleted) ? deleted : [deleted];
  const parts = listed.flatMap((each: unknown) => (typeof each === "string" ? each.split(",") : [each]));
  if (parts.length > MAX_ITEMS) throw tooMany("delete_rows");
  const ranges = parts.map((part): RecordSpec => {
    const text = typeof part === "number" || typeof part === "string" ? String(part).trim() : "";
    const [, a = "", dash = "", b = ""] = /^(\d{1,15})\s*(-?)\s*(\d{0,15})$/.exec(text) ?? [];
    const first = Number(a);
    const last = dash === "" ? first : b === "" ? Infinity : Number(b);
    if (a !== "" && first > 0 && last >= first && (dash !== "" || b === "")) return { first, last };
    throw wrong("delete_rows", `delete_rows has ${quote(text)}, which names no rows: write "7", "5-7" or "2,5-7".`);
  });
  const merged: RecordSpec[] = [];
  for (const range of ranges.sort((one, other) => one.first - other.first)) {
    const previous = merged.at(-1);
    if (previous !== undefined && range.first <= previous.last + 1) {
      merged[merged.length - 1] = { first: previous.first, last: Math.max(previous.last, range.last) };
    } else merged.push(range);
  }
  return merged;
}

/** A list, which some models write as JSON text. */
function parseList(name: string, given: unknown, of: string): readonly unknown[] {
  let list = given;
  if (typeof given === "string") {
    try {
      list = JSON.parse(given);
    } catch {
      // Refused below.
    }
  }
  if (!Array.isArray(list)) throw wrong(name, `${name} must be an array of ${of}.`);
  if (list.length > MAX_ITEMS) throw tooMany(name);
  return list as readonly unknown[];
}

/** Returns the value. Integers that JavaScript cannot hold have lost digits by now, so they are refused. */
function checkNumbers(place: string, value: unknown): unknown {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    if (typeof next === "number" && Number.isInteger(next) && !Number.isSafeInteger(next) && Math.abs(next) < 1e21) {
      const remedy = "give it as a string, or write it by old_string and new_string";
      throw wrong(place, `${place} has an integer of more than 15 digits, which would lose some: ${remedy}.`);
    }
    if (typeof next === "object" && next !== null) for (const each of Object.values(next)) open.push(each);
  }
  return value;
}

function tooMany(name: string): SluiceError {
  return tooLarge(name, `${name} has more than ${MAX_ITEMS} entries: make the edit in several calls.`);
}

function tooLarge(path: string, message: string): SluiceError {
  return new SluiceError("E_TOO_LARGE", message, { path });
}

function wrong(path: string, message: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", message, { path: path.slice(0, 60) });
}
