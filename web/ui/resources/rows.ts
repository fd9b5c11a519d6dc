/**
 * The rows that a list shows, and those of them that are searched for.
 * @module
 */
import { humanSize } from "mcp-sluice";
import type { ListedResource, ListedTemplate } from "mcp-sluice/tools";
import { plainText } from "../plain-text.js";
import type { Held } from "./shelf.js";

/** One row, of a resource or of a template, ready to be shown. */
export interface Row {
  /** What it is read by, or the template of that. */
  readonly uri: string;
  /** What a person calls it. */
  readonly name: string;
  /** Type and size. */
  readonly facts: string;
  readonly description: string;
  readonly mimeType: string | null;
  readonly isTemplate: boolean;
  /** What is searched, in lower case. */
  readonly searched: string;
}

/** Most rows of a list: what a server lists is bounded, what else is given to the element is not. */
const MAX_ROWS = 20_000;

/** The rows of what is listed; of several with one URI the first. */
export function rowsOf(listed: readonly (ListedResource | ListedTemplate)[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const each of listed.slice(0, MAX_ROWS)) {
    const row = rowOf(each);
    if (!rows.has(row.uri)) rows.set(row.uri, row);
  }
  return [...rows.values()];
}

/** The rows of resources that are known, those that were listed with their names. */
export function rowsOfHeld(held: readonly Held[], listed: readonly Row[]): readonly Row[] {
  const names = new Map(listed.map((row) => [row.uri, row]));
  return held.map(({ uri }) => names.get(uri) ?? rowOf({ uri, name: "" }));
}

/** The rows in which all words stand. */
export function found(rows: readonly Row[], query: string): readonly Row[] {
  const words = query.slice(0, 200).toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? rows : rows.filter(({ searched }) => words.every((word) => searched.includes(word)));
}

function rowOf(listed: ListedResource | ListedTemplate): Row {
  const isTemplate = "uri_template" in listed;
  const uri = isTemplate ? listed.uri_template : listed.uri;
  const name = plainText(listed.title, 200) || plainText(listed.name, 200) || plainText(uri, 200);
  const description = plainText(listed.description, 500);
  const type = plainText(listed.mime_type, 100);
  const facts = [type, isTemplate ? "" : sizeOf(listed.size_bytes)].filter((fact) => fact !== "").join(" · ");
  const searched = `${name} ${plainText(listed.name)} ${uri.slice(0, 4_096)} ${description} ${type}`.toLowerCase();
  return { uri, name, facts, description, mimeType: listed.mime_type ?? null, isTemplate, searched };
}

function sizeOf(bytes: number | undefined): string {
  return bytes !== undefined && Number.isFinite(bytes) && bytes >= 0 ? humanSize(bytes) : "";
}
