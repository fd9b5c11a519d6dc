/**
 * Describes a document, an archive or an image, and says how to read it.
 * @module
 */
import { counted } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import type { DocumentFacts } from "../../documents/document.js";
import { type DocumentKind, traitsOf } from "../../documents/kind.js";
import { SluiceError } from "../../errors/error.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { artifactUri, describe, quoteName } from "./definition.js";
import { formFor } from "./forms.js";
import { readSpan, type Readable, subjectOf, factsOf } from "./source.js";

/** Most characters of its text that are shown with a document. */
const FIRST_CHARS = 1000;

/** Bytes from which they are taken. */
const FIRST_BYTES = 4 * FIRST_CHARS;

/** Most headings and names that are shown. */
const MAX_LISTED = 60;

/** Answers with what a document is, in at most `most` characters. */
export async function tellDocument(from: Readable, kind: DocumentKind, most: number): Promise<AnswerParts> {
  const { filename, mime_type, size_bytes: size } = from.ref;
  const type = plainType(mime_type) ?? "unknown type";
  const name = filename === null ? "" : `; file name (from the result): ${quoteName(filename)}`;
  const head = `${subjectOf(from)}: ${describe(from.ref)} (${type}, ${counted(size, "byte")}${name})`;
  if (kind === "image") return { head, notes: [howToSee(from)] };
  if (kind === "html") {
    const text = await beginningOf(from);
    return {
      head: `${head}. Its source begins`,
      data: prefixWithin(text, Math.min(most, FIRST_CHARS)).text,
      notes: [HTML],
    };
  }
  try {
    const form = await formFor(from, kind, { mode: "info" }, {});
    const facts = factsOf(form);
    const lines = [...(facts === undefined ? [] : linesOf(facts)), await beginningOf(form)];
    const data = prefixWithin(lines.join("\n"), Math.min(most, 3 * FIRST_CHARS)).text.trimEnd();
    return { head: `${head}${aboutParts(facts)}. It begins`, data, notes: notesOf(kind, facts, form) };
  } catch (error) {
    if (!(error instanceof SluiceError) || !TOLD.includes(error.code)) throw error;
    return {
      head,
      notes: [error.message, 'Its bytes can be read: bytes "0-255". Or pass the URI as a tool argument.'],
    };
  }
}

/** A document that cannot be read is still described. */
const TOLD: readonly string[] = ["E_DOCUMENT", "E_TOO_LARGE"];

const HTML = 'Read it with one of: as "text" (with pages, lines or search), as "links", lines "1-50", search, bytes.';

function howToSee({ showsImages }: Readable): string {
  if (showsImages === true) return 'See it with as "image". Or pass the URI as a tool argument.';
  return "This client does not show images to its model. Pass the URI as a tool argument.";
}

function aboutParts(facts: DocumentFacts | undefined): string {
  if (facts === undefined || (facts.part === "section" && facts.parts === 1)) return "";
  return `, ${counted(facts.parts, facts.part)}`;
}

/** Names of parts and headings, each with where it is. */
function linesOf({ part, names = [], headings, title }: DocumentFacts): readonly string[] {
  const listed = [
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...names.slice(0, MAX_LISTED).map((name, at) => `${part} ${at + 1}: ${name}`),
    ...(names.length > 0 ? [] : headings)
      .slice(0, MAX_LISTED)
      .map((heading) => `${"  ".repeat(Math.min(4, heading.level - 1))}${heading.title} (${part} ${heading.part})`),
  ];
  return listed.length === 0 ? [] : [...listed, ""];
}

function notesOf(kind: DocumentKind, facts: DocumentFacts | undefined, form: Readable): readonly string[] {
  const { forms } = traitsOf(kind);
  const modes: string[] = [];
  if (kind === "archive") modes.push('entry "PATH" for one file', 'rows "1-50"', "search", "query");
  else if (!forms.includes("text")) modes.push('rows "1-20"', 'query "SELECT … FROM rows"', "search");
  else {
    modes.push('pages "1"', "search", 'lines "1-50"');
    if (forms.includes("rows")) modes.unshift('rows "1-20" with sheet', "query with sheet");
    if (forms.includes("links")) modes.push('as "links"');
    if (kind === "pdf" && form.showsImages === true) modes.push('as "image" with a page');
  }
  const text = forms.includes("text") ? [`To pass its text on: ${artifactUri(form.ref.id)}.`] : [];
  return [...(facts?.notices ?? []), `Read it with one of: ${modes.join(", ")}.`, ...text];
}

async function beginningOf(form: Readable): Promise<string> {
  const bytes = await readSpan(form, { start: 0, end: Math.min(FIRST_BYTES, form.ref.size_bytes) });
  const text = new TextDecoder().decode(bytes, { stream: true });
  return prefixWithin(text.replaceAll("\f", "\n"), FIRST_CHARS).text;
}
