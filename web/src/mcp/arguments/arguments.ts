/**
 * Puts artifacts into the arguments of tool calls: a reference is replaced by the artifact's content in the form that
 * the tool expects.
 * @module
 */
import { isArtifactId } from "../../artifacts/reference.js";
import type { StoredArtifact } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { StoreSilentError } from "../../core/store-access.js";
import { SluiceError } from "../../errors/error.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { formAt, pathText, type ArgumentPath, type ArgumentTool, type ArtifactForm } from "./form.js";
import {
  refuseExpired,
  mistaken,
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
} from "./refusal.js";
import { mistakenIn, uriIn, type GivenUri } from "./uri.js";
import { applyEdits, readName, parseJson, replaceEdit, type Edit, type ValueNode } from "../../json/text.js";
import { encodeBase64 } from "../../artifacts/bytes.js";
import type { ArtifactToolResult } from "../../core/types.js";
import { readSpan, type ReadSource } from "../artifact-reader/source.js";

export type { ArgumentTool, ArtifactForm, ArtifactForms } from "./form.js";

/** Most references in one call. */
export const MAX_REFERENCES: number = 256;

/** Milliseconds that a store may take for one artifact. Clients wait 60 s for an answer. */
const MAX_READ_TIME = 30_000;

/** The same for writing a copy, which may be of any size. */
const MAX_COPY_TIME = 300_000;

/** What is needed to expand a call's arguments. */
export interface ArgumentsContext {
  readonly tool: ArgumentTool;
  /** The artifacts that this tool may receive. Anything else stays text. */
  readonly source: ReadSource;
  /**
   * Most bytes of the expanded arguments, in UTF-8.
   * @defaultValue 8 MiB
   */
  readonly maxBytes?: number;
  /** Writes a read-only copy for this call and returns its path. Omitted where there are no files. */
  readonly writeCopy?: (ref: StoredArtifact, signal?: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** One artifact that was put into arguments. */
export interface Expansion {
  /** The place: names and indexes joined by dots. */
  readonly path: string;
  readonly id: string;
  readonly form: ArtifactForm;
  /** Size of the artifact, not of what was written. */
  readonly bytes: number;
}

/** The outcome: arguments are unchanged, rewritten, or refused with a result in place of the call. */
export type Expanded =
  | { readonly kind: "unchanged" }
  | { readonly kind: "expanded"; readonly text: string; readonly expansions: readonly Expansion[] }
  | { readonly kind: "refused"; readonly result: ArtifactToolResult; readonly failure?: SluiceError };

/** Arguments that name artifacts. No store was asked yet. */
interface NamedArtifacts {
  /** JSON text of the arguments. */
  readonly text: string;
  /** The references, or why they are refused. */
  readonly found: readonly Found[] | Refusal;
}

interface Found {
  readonly node: ValueNode;
  readonly path: ArgumentPath;
  readonly uri: GivenUri;
}

/**
 * Finds the artifacts that arguments name, without a store. Undefined if there are none.
 *
 * @param text JSON text of `params.arguments`. Invalid JSON is left to the server to refuse.
 */
export function artifactsNamed(text: string, tool: string): NamedArtifacts | undefined {
  // Most calls name none and are not even parsed. An escape may hide a letter.
  if (!/artifact:|\\u/i.test(text)) return undefined;
  try {
    const found = referencesIn(text, tool);
    return found.length === 0 ? undefined : { text, found };
  } catch (error) {
    if (error instanceof Refusal) return { text, found: error };
    throw error;
  }
}

/**
 * Puts artifacts where arguments name them. Only a string that is exactly one `artifact://` URI of an artifact in
 * `source` is replaced; one that is nearly such a URI is refused; everything else keeps its spelling.
 *
 * @throws the signal's reason. Every other failure is a refusal, in words for the caller.
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
    const ref = await guardStore(place, MAX_READ_TIME, context, async () => context.source.stat(place.id));
    if (ref === null) {
      // Only Sluice creates such ids. The tool would take the name for the content.
      if (uri.id.startsWith("truncated_") || isArtifactId(uri.id)) throw notHere(place);
      const meant = mistakenIn(uri.text);
      if (meant !== undefined) throw mistaken({ ...place, id: meant });
      continue;
    }
    const form = formAt(tool, path, uri.as);
    if (form === undefined) throw unknownForm(place);
    const most = form === "path" ? MAX_COPY_TIME : MAX_READ_TIME;
    const write = async (signal: AbortSignal): Promise<Written | undefined> =>
      encodeArtifact(place, ref, form, left, { ...context, signal });
    const value = await guardStore(place, most, context, write);
    if (value === undefined) throw tooMuch(place, maxBytes);
    left -= value.jsonBytes;
    edits.push(replaceEdit(node, value.json));
    expansions.push({ path: pathText(path), id: ref.id, form, bytes: ref.size_bytes });
  }
  return edits.length === 0 ? { kind: "unchanged" } : { kind: "expanded", text: applyEdits(text, edits), expansions };
}

/** Runs work on the store with a time limit, and turns failures into refusals. */
async function guardStore<T extends Written | StoredArtifact | null | undefined>(
  place: Place,
  most: number,
  { signal }: ArgumentsContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await untilLate(work, { most, late: () => tooSlow(place), signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Refusal) throw error;
    if (error instanceof StoreSilentError) throw tooSlow(place);
    const isGone = error instanceof SluiceError && (error.code === "E_EXPIRED" || error.code === "E_NOT_FOUND");
    throw isGone ? refuseExpired(place) : unreadable(place);
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
  collect(root, [], found, tool);
  if (found.length > MAX_REFERENCES) throw tooMany(tool, MAX_REFERENCES);
  return found;
}

function collect(node: ValueNode, path: ArgumentPath, found: Found[], tool: string): void {
  if (found.length > MAX_REFERENCES) return;
  if (node.type === "String") {
    const uri = uriIn(node.value);
    if (uri !== undefined) return void found.push({ node, path, uri });
    const id = mistakenIn(node.value);
    if (id !== undefined) throw mistaken({ tool, path, id });
  } else if (node.type === "Array") {
    for (const [index, { value }] of node.elements.entries()) collect(value, [...path, index], found, tool);
  } else if (node.type === "Object") {
    for (const member of node.members) collect(member.value, [...path, readName(member)], found, tool);
  }
}

/** Bytes of a text in UTF-8. */
function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A replacement: JSON text of a string, and its size in UTF-8. */
interface Written {
  readonly json: string;
  readonly jsonBytes: number;
}

interface WritingMeans {
  readonly source: ReadSource;
  readonly writeCopy?: (ref: StoredArtifact, signal?: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** MIME types allowed in a data URI. Servers choose their types freely. */
const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;

/**
 * Encodes an artifact. One that would not fit is not read.
 *
 * @param room bytes that are left.
 * @returns undefined if it does not fit.
 * @throws Refusal; what the store throws.
 */
async function encodeArtifact(
  place: Place,
  ref: StoredArtifact,
  form: ArtifactForm,
  room: number,
  means: WritingMeans,
): Promise<Written | undefined> {
  if (form === "path") {
    if (means.writeCopy === undefined) throw noPath(place);
    return checkSize(JSON.stringify(await means.writeCopy(ref, means.signal)), room);
  }
  const prefix = form === "data_uri" ? `data:${readMimeType(ref)};base64,` : "";
  const least = form === "text" ? ref.size_bytes : prefix.length + 4 * Math.ceil(ref.size_bytes / 3);
  if (least + 2 > room) return undefined;
  const bytes = await readBytes(place, ref, means);
  if (form !== "text") return checkSize(`"${prefix}${encodeBase64(bytes)}"`, room);
  return checkSize(JSON.stringify(decodeText(place, bytes)), room);
}

async function readBytes(place: Place, ref: StoredArtifact, { source, signal }: WritingMeans): Promise<Uint8Array> {
  const { size_bytes: size } = ref;
  const from = { ref, source, maxScanned: size, tool: place.tool, signal };
  const bytes = await readSpan(from, { start: 0, end: size });
  if (bytes.length !== size) throw unreadable(place);
  return bytes;
}

/** Decodes bytes as UTF-8, including a byte order mark. Half a surrogate pair, which JSON may hold, stays what it was. */
function decodeText(place: Place, bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let from = 0;
  try {
    for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
      const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
      if (second < 0xa0 || second > 0xbf || (third & 0xc0) !== 0x80) continue;
      text += decoder.decode(bytes.subarray(from, at));
      text += String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
      from = at + 3;
    }
    return text + decoder.decode(bytes.subarray(from));
  } catch {
    throw noText(place);
  }
}

function readMimeType({ mime_type: type }: StoredArtifact): string {
  return type !== null && MIME_TYPE.test(type) ? type.toLowerCase() : "application/octet-stream";
}

function checkSize(json: string, room: number): Written | undefined {
  const jsonBytes = new TextEncoder().encode(json).length;
  return jsonBytes > room ? undefined : { json, jsonBytes };
}
