/**
 * JSON in a string of JSON, as tools wrap their answers: `{"result":"{\"pods\":[…]}"}`.
 * @module
 */
import { joinPointer } from "../../json/pointer.js";
import { findJsonText, findRows } from "../../query/row-place.js";
import { unwrapJson } from "./forms.js";
import { readHead, inspect, type Inspection } from "./inspection.js";
import { findPlace, MAX_POINTER_BYTES, type Place } from "./json-value.js";
import { readSpan, type Readable } from "./source.js";

/** Strings that may be in each other. */
const MAX_WRAPS = 5;

/** Bytes by which is told whether a document is a wrap. */
const BEGINNING_BYTES = 1024 * 1024;

/** Bytes of a string that show whether it is JSON. */
const FIRST_BYTES = 40;

/** What is read in place of a document, and what is left of the pointer then. */
export interface InnerJson {
  readonly form: Readable;
  readonly inspection: Inspection;
  readonly tokens: readonly string[] | undefined;
  /** Where it is in the document: what the reader of an answer should know. */
  readonly notes: readonly string[];
}

/**
 * Goes into the strings that lead on: those on the way that `tokens` name, and without them the only one of a document that has no rows.
 * Throws E_TOO_LARGE, E_JSON_…, E_STORE_….
 */
export async function openInnerJson(
  form: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
): Promise<InnerJson> {
  let now: InnerJson = { form, inspection, tokens, notes: [] };
  if (!inspection.isJson || form.source.openWriter === undefined) return now;
  for (let wraps = 0; wraps < MAX_WRAPS && now.form.ref.size_bytes <= MAX_POINTER_BYTES; wraps += 1) {
    const next = await openNext(now);
    if (next === undefined) return now;
    now = next;
  }
  return now;
}

async function openNext({ form, inspection, tokens, notes }: InnerJson): Promise<InnerJson | undefined> {
  const found = await findText(form, inspection, tokens);
  if (found === undefined) return undefined;
  const { path, rest, place } = found;
  const end = Math.min(place.end, place.start + FIRST_BYTES);
  const first = new TextDecoder().decode(await readSpan(form, { start: place.start, end }));
  if (!/^"(?:\\[nrt]|\s)*[[{]/.test(first)) return undefined;
  const inner = await unwrapJson(form, path, place);
  const inside = inspect(inner, await readHead(inner));
  if (!inside.isJson) return undefined;
  const note = path.length === 0 ? "The JSON is in a string." : `The JSON is in the string at ${joinPointer(path)}.`;
  return { form: inner, inspection: inside, tokens: rest, notes: [...notes, note] };
}

interface FoundText {
  readonly path: readonly string[];
  /** What is left of the pointer. */
  readonly rest: readonly string[] | undefined;
  readonly place: Place;
}

/** The string that a pointer leads into. One that leads nowhere, or none at all, means the only string that looks like JSON. */
async function findText(
  form: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
): Promise<FoundText | undefined> {
  if (tokens !== undefined) {
    const place = await findPlace(form, inspection, tokens);
    const { kind, depth } = place;
    if (kind === "string") return { path: tokens.slice(0, depth), rest: tokens.slice(depth), place };
    if (depth === tokens.length) return undefined;
  }
  const path = await findWrap(form, inspection);
  if (path === undefined) return undefined;
  const place = await findPlace(form, inspection, path);
  return place.kind === "string" && place.depth === path.length ? { path, rest: tokens, place } : undefined;
}

async function findWrap(form: Readable, { markBytes }: Inspection): Promise<readonly string[] | undefined> {
  const end = Math.min(form.ref.size_bytes, BEGINNING_BYTES);
  const beginning = await readSpan(form, { start: markBytes, end });
  return findRows(beginning).is === "rows" ? undefined : findJsonText(beginning);
}
