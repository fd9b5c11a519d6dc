/**
 * Artifacts into the arguments of tool calls (design §6): a reference becomes the bytes, in the form the tool takes.
 * @module
 */
import { isArtifactId } from "../artifacts/ids.js";
import { untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { written, type Written } from "./arguments/expansion.js";
import type { ArgumentTool, ArtifactForm } from "./arguments/form.js";
import { formAt } from "./arguments/form.js";
import { MAX_COPY_TIME, MAX_READ_TIME, MAX_REFERENCES } from "./arguments/limits.js";
import { pathText, type ArgumentPath } from "./arguments/position.js";
import {
  expired,
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
import type { StoredArtifact } from "../artifacts/store.js";
import type { ReadingSource } from "./reading/source.js";
import type { TextResult } from "./reading/wire.js";

export type { ArgumentTool, ArtifactForm, ArtifactForms } from "./arguments/form.js";
export { MAX_REFERENCES } from "./arguments/limits.js";

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
export interface NamedArtifacts {
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
 * Puts artifacts where arguments name them. Only a string that is wholly one `artifact://` URI of an artifact that
 * `source` has is touched; all else keeps its spelling.
 *
 * @param text JSON text of `params.arguments`. What is no JSON is left to the server to refuse.
 * @throws what the signal gives; all else that goes wrong is a refusal, in words for the caller.
 */
export async function expandArguments(text: string, context: ArgumentsContext): Promise<Expanded> {
  const named = artifactsNamed(text, context.tool.name);
  return named === undefined ? { kind: "unchanged" } : putArtifacts(named, context);
}

/** Finds what arguments name, without a store; undefined where that is nothing. */
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

/** The second half of {@link expandArguments}. */
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
    const ref = await known(place, context);
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

async function known(place: Place, context: ArgumentsContext): Promise<StoredArtifact | null> {
  return reading(place, MAX_READ_TIME, context, async () => context.source.stat(place.id));
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
