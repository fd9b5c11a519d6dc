/**
 * Artifacts into the arguments of tool calls (design §6): a reference becomes the bytes, in the form the tool takes.
 * @module
 */
import { isArtifactId } from "../artifacts/ids.js";
import type { StoredArtifact } from "../artifacts/store.js";
import { untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { formAt, pathText, type ArgumentPath, type ArgumentTool, type ArtifactForm } from "./arguments/form.js";
import {
  expired,
  noPath,
  noText,
  notHere,
  Refusal,
  tooComplex,
  tooMany,
  tooMuch,
  tooSlow,
  unknownForm,
  unreadable,
  type Place,
} from "./arguments/refusal.js";
import { uriIn, type GivenUri } from "./arguments/uri.js";
import { applyEdits, nameOf, parseJson, replaceEdit, type Edit, type ValueNode } from "./json-text.js";
import { base64Of } from "./reading/base64.js";
import type { TextResult } from "./reading/definition.js";
import { readSpan, type ReadingSource } from "./reading/source.js";

export type { ArgumentTool, ArtifactForm, ArtifactForms } from "./arguments/form.js";

/** References that are looked at in one call. */
export const MAX_REFERENCES: number = 256;

/** How long, in milliseconds, a store may take for one artifact: less than clients wait for an answer (60 s). */
const MAX_READ_TIME = 30_000;

/** The same for a copy of it, which may be of any size. */
const MAX_COPY_TIME = 300_000;

/** What a call's arguments are expanded with. */
export interface ArgumentsContext {
  readonly tool: ArgumentTool;
  /** The artifacts that may be passed to this tool, and no others: what is not found in it stays a text. */
  readonly source: ReadingSource;
  /** Bytes of UTF-8 that the arguments may have once they are expanded; 8 MiB when left out. */
  readonly maxBytes?: number;
  /** Writes a read-only copy for this call and gives its path; left out where there are no files. */
  readonly writeCopy?: (ref: StoredArtifact, signal?: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** One artifact that went into arguments. */
export interface Expansion {
  /** Where: names and indexes joined by dots. */
  readonly path: string;
  readonly id: string;
  readonly form: ArtifactForm;
  /** Of the artifact, not of what was written. */
  readonly bytes: number;
}

/** What became of arguments: nothing, another text, or a result in place of the call. */
export type Expanded =
  | { readonly kind: "unchanged" }
  | { readonly kind: "expanded"; readonly text: string; readonly expansions: readonly Expansion[] }
  | { readonly kind: "refused"; readonly result: TextResult; readonly failure?: SluiceError };

/** Arguments that name artifacts: nothing was asked of a store yet. */
interface NamedArtifacts {
  /** JSON text of the arguments. */
  readonly text: string;
  /** What they name, or why nobody looks. */
  readonly found: readonly Found[] | Refusal;
}

interface Found {
  readonly node: ValueNode;
  readonly path: ArgumentPath;
  readonly uri: GivenUri;
}

/**
 * Finds what arguments name, without a store; undefined where that is nothing.
 *
 * @param text JSON text of `params.arguments`. What is no JSON is left to the server to refuse.
 */
export function artifactsNamed(text: string, tool: string): NamedArtifacts | undefined {
  // Most calls name none, and are not even parsed; an escape may hide a letter.
  if (!/artifact:|\\u/.test(text)) return undefined;
  try {
    const found = referencesIn(text, tool);
    return found.length === 0 ? undefined : { text, found };
  } catch (error) {
    if (error instanceof Refusal) return { text, found: error };
    throw error;
  }
}

/**
 * Puts artifacts where arguments name them. Only a string that is wholly one `artifact://` URI of an artifact that
 * `source` has is touched; all else keeps its spelling.
 *
 * @throws what the signal gives; all else that goes wrong is a refusal, in words for the caller.
 */
export async function putArtifacts(named: NamedArtifacts, context: ArgumentsContext): Promise<Expanded> {
  try {
    if (named.found instanceof Refusal) throw named.found;
    return await expand(named.text, named.found, context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { result, failure } = error;
    return { kind: "refused", result, ...(failure !== undefined && { failure }) };
  }
}

async function expand(text: string, found: readonly Found[], context: ArgumentsContext): Promise<Expanded> {
  const { tool, maxBytes = MAX_MESSAGE } = context;
  const edits: Edit[] = [];
  const expansions: Expansion[] = [];
  let left = maxBytes - utf8Length(text);
  for (const { node, path, uri } of found) {
    const place: Place = { tool: tool.name, path, id: uri.id };
    const ref = await reading(place, MAX_READ_TIME, context, async () => context.source.stat(place.id));
    if (ref === null) {
      // Only Sluice names things like this: who got it as an argument would take the name for the content.
      if (uri.id.startsWith("truncated_") || isArtifactId(uri.id)) throw notHere(place);
      continue;
    }
    const form = formAt(tool, path, uri.as);
    if (form === undefined) throw unknownForm(place);
    const most = form === "path" ? MAX_COPY_TIME : MAX_READ_TIME;
    const write = async (signal: AbortSignal): Promise<Written | undefined> =>
      written(place, ref, form, left, { ...context, signal });
    const value = await reading(place, most, context, write);
    if (value === undefined) throw tooMuch(place, maxBytes);
    left -= value.jsonBytes;
    edits.push(replaceEdit(node, value.json));
    expansions.push({ path: pathText(path), id: ref.id, form, bytes: ref.size_bytes });
  }
  return edits.length === 0 ? { kind: "unchanged" } : { kind: "expanded", text: applyEdits(text, edits), expansions };
}

/** Does what may fail at the store, or never end there, and says so in words for a caller. */
async function reading<T extends Written | StoredArtifact | null | undefined>(
  place: Place,
  most: number,
  { signal }: ArgumentsContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await untilLate(work, { most, late: () => tooSlow(place, most), signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Refusal) throw error;
    const isGone = error instanceof SluiceError && (error.code === "E_EXPIRED" || error.code === "E_NOT_FOUND");
    throw isGone ? expired(place) : unreadable(place);
  }
}

function referencesIn(text: string, tool: string): readonly Found[] {
  let root: ValueNode;
  try {
    root = parseJson(text);
  } catch (error) {
    if (error instanceof SluiceError && error.code !== "E_JSON_SYNTAX" && text.includes("artifact:")) {
      throw tooComplex(tool, error.message);
    }
    return [];
  }
  const found: Found[] = [];
  collect(root, [], found);
  if (found.length > MAX_REFERENCES) throw tooMany(tool, MAX_REFERENCES);
  return found;
}

function collect(node: ValueNode, path: ArgumentPath, found: Found[]): void {
  if (found.length > MAX_REFERENCES) return;
  if (node.type === "String") {
    const uri = uriIn(node.value);
    if (uri !== undefined) found.push({ node, path, uri });
  } else if (node.type === "Array") {
    for (const [index, { value }] of node.elements.entries()) collect(value, [...path, index], found);
  } else if (node.type === "Object") {
    for (const member of node.members) collect(member.value, [...path, nameOf(member)], found);
  }
}

/** Bytes of a text in UTF-8. */
function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What stands in an argument's place: JSON text of a string, and its bytes in UTF-8. */
interface Written {
  readonly json: string;
  readonly jsonBytes: number;
}

interface WritingMeans {
  readonly source: ReadingSource;
  readonly writeCopy?: (ref: StoredArtifact, signal?: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** What may stand in a data URI: servers name types as they like. */
const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;

/**
 * Writes an artifact. What would not fit is not read.
 *
 * @param room bytes that there is room for.
 * @returns undefined when it does not fit.
 * @throws Refusal; what the store throws.
 */
async function written(
  place: Place,
  ref: StoredArtifact,
  form: ArtifactForm,
  room: number,
  means: WritingMeans,
): Promise<Written | undefined> {
  if (form === "path") {
    if (means.writeCopy === undefined) throw noPath(place);
    return fitting(JSON.stringify(await means.writeCopy(ref, means.signal)), room);
  }
  const prefix = form === "data_uri" ? `data:${mimeOf(ref)};base64,` : "";
  const least = form === "text" ? ref.size_bytes : prefix.length + 4 * Math.ceil(ref.size_bytes / 3);
  if (least + 2 > room) return undefined;
  const bytes = await bytesOf(place, ref, means);
  if (form !== "text") return fitting(`"${prefix}${base64Of(bytes)}"`, room);
  return fitting(JSON.stringify(textOf(place, bytes)), room);
}

async function bytesOf(place: Place, ref: StoredArtifact, { source, signal }: WritingMeans): Promise<Uint8Array> {
  const { size_bytes: size } = ref;
  const from = { ref, source, maxScanned: size, tool: place.tool, signal };
  const bytes = await readSpan(from, { start: 0, end: size });
  if (bytes.length !== size) throw unreadable(place);
  return bytes;
}

/** The text that the bytes are, a byte order mark included. */
function textOf(place: Place, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw noText(place);
  }
}

function mimeOf({ mime_type: type }: StoredArtifact): string {
  return type !== null && MIME_TYPE.test(type) ? type.toLowerCase() : "application/octet-stream";
}

function fitting(json: string, room: number): Written | undefined {
  const jsonBytes = new TextEncoder().encode(json).length;
  return jsonBytes > room ? undefined : { json, jsonBytes };
}
