/**
 * Applies JSON Patch (RFC 6902) to a document, as a splice of its text.
 * @module
 */
import { countNoun, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { joinPointer } from "../../json/pointer.js";
import { placeOfFault } from "../../json/text.js";
import { quote } from "../artifact-reader/definition.js";
import type { Inspection } from "../artifact-reader/inspection.js";
import { readSpan, type Readable } from "../artifact-reader/source.js";
import { JsonDocument } from "./json-document.js";
import type { EditPlan } from "./plan.js";
import type { PatchEdit, PatchOperation } from "./request.js";
import { SpliceRewriter } from "./rewriter.js";

/** Largest document that is patched, in bytes. */
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Plans a patch. Throws E_INVALID_ARGUMENT with the operation's place, E_TOO_LARGE, E_JSON_…. */
export async function planPatch(from: Readable, inspection: Inspection, { operations }: PatchEdit): Promise<EditPlan> {
  const isMeant = inspection.layout.kind === "none" && /^\s*[[{]/.test(new TextDecoder().decode(inspection.head));
  if (!inspection.isJson && !isMeant) {
    const instead = inspection.layout.kind === "none" ? "old_string and new_string" : "cells, add_rows or delete_rows";
    throw new SluiceError("E_INVALID_ARGUMENT", `The artifact is no JSON document: use ${instead} instead of patch.`, {
      path: "patch",
    });
  }
  return planDocument(from, inspection, `${countNoun(operations.length, "operation")} applied`, (document) => {
    for (const [index, operation] of operations.entries()) apply(document, operation, index);
  });
}

/** Plans a change of a whole JSON document. Throws what `change` throws, E_TOO_LARGE, E_JSON_…. */
export async function planDocument(
  from: Readable,
  { markBytes }: Inspection,
  said: string,
  change: (document: JsonDocument) => void,
): Promise<EditPlan> {
  const text = await readText(from, markBytes);
  const document = parseDocument(text, from.tool);
  change(document);
  const changed = document.text();
  if (changed === text) return { kind: "unchanged", said: "the result would be the same, byte for byte" };
  const start = commonStart(text, changed);
  const rest = Math.min(text.length, changed.length) - start;
  let same = 0;
  while (same < rest && text.charCodeAt(text.length - 1 - same) === changed.charCodeAt(changed.length - 1 - same)) {
    same += 1;
  }
  // A pair of surrogates stays together.
  if (/^[\udc00-\udfff]/.test(text.slice(text.length - same))) same -= 1;
  const encoder = new TextEncoder();
  const insert = encoder.encode(changed.slice(start, changed.length - same));
  const size = from.ref.size_bytes;
  const splice = {
    start: markBytes + encoder.encode(text.slice(0, start)).length,
    end: size - encoder.encode(text.slice(text.length - same)).length,
    insert,
  };
  const grown = size - (splice.end - splice.start) + insert.length;
  return { kind: "rewrite", said, size: grown, rewriter: new SpliceRewriter([splice]) };
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return /[\ud800-\udbff]$/.test(one.slice(0, at)) ? at - 1 : at;
}

async function readText(from: Readable, markBytes: number): Promise<string> {
  const { size_bytes: size } = from.ref;
  if (size > MAX_DOCUMENT_BYTES) {
    throw new SluiceError(
      "E_TOO_LARGE",
      `The artifact is larger than ${humanSize(MAX_DOCUMENT_BYTES)}, too large for this: use old_string and new_string.`,
      { path: "uri" },
    );
  }
  const bytes = await readSpan(from, { start: markBytes, end: size });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SluiceError(
      "E_JSON_SYNTAX",
      "The artifact is not UTF-8, so it is not JSON: use old_string and new_string.",
    );
  }
}

function parseDocument(text: string, tool: string): JsonDocument {
  try {
    return new JsonDocument(text, tool);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const place = error.code === "E_JSON_SYNTAX" ? placeOfFault(text) : "";
    const what = {
      E_JSON_SYNTAX: `The artifact is not JSON${place === "" ? "" : ` (${place})`}`,
      E_JSON_DEPTH: "The artifact nests too deep for this",
    }[error.code as string];
    const sentence = `${what ?? "The artifact has too many values for this"}: use old_string and new_string.`;
    throw new SluiceError(error.code, sentence, { path: "uri" });
  }
}

function apply(document: JsonDocument, operation: PatchOperation, index: number): void {
  const { op, path } = operation;
  const place = `patch[${index}]`;
  const what = `${place} (${op} ${quote(joinPointer(path))})`;
  try {
    if (op === "test" && !document.equals(path, operation.value)) {
      const remedy = "read the value, then send a patch that fits it; nothing was changed";
      throw new SluiceError("E_INVALID_ARGUMENT", `The value there is another one: ${remedy}`);
    }
    if (op === "add") document.add(path, operation.value);
    if (op === "replace") document.replace(path, operation.value);
    if (op === "remove") document.remove(path);
    if (op === "move") document.move(operation.from, path);
    if (op === "copy") document.copy(operation.from, path);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new SluiceError(error.code, `${what}: ${error.message.replace(/\.$/, "")}.`, { path: place });
  }
}
