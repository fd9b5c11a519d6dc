/**
 * Describes a document, an archive or an image, and says how to read it.
 * @module
 */
import { countNoun, groupDigits } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import type { DocumentFacts } from "../../documents/document.js";
import { type DocumentKind, findTraits } from "../../documents/kind.js";
import { SluiceError } from "../../errors/error.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { artifactUri, describe, quoteName } from "./definition.js";
import { formFor } from "./forms.js";
import { type RecordSpec, resolveRecords } from "./request.js";
import { readSpan, type Readable, nameSubject, readFacts } from "./source.js";

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
  const head = `${nameSubject(from)}: ${describe(from.ref)} (${type}, ${countNoun(size, "byte")}${name})`;
  if (kind === "image") return { head, notes: [howToSee(from)] };
  if (kind === "html") {
    const text = await readBeginning(from);
    return {
      head: `${head}. Its source begins`,
      data: prefixWithin(text, Math.min(most, FIRST_CHARS)).text,
      notes: [HTML],
    };
  }
  try {
    const form = await formFor(from, kind, { mode: "info" }, {});
    const facts = readFacts(form);
    const listed = facts === undefined ? [] : writeLines(facts);
    const lines = [...listed, await readBeginning(form)];
    const data = prefixWithin(lines.join("\n"), Math.min(most, 3 * FIRST_CHARS)).text.trimEnd();
    const isCut = (facts?.headings.length ?? 0) > MAX_LISTED || !data.includes(listed.join("\n").trimEnd());
    const notes = [...(isCut ? [MORE_HEADINGS] : []), ...listNotes(kind, facts, form)];
    return { head: `${head}${aboutParts(facts)}. It begins`, data, notes };
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

const HTML =
  'Read it with one of: as "text" (with pages, lines or search), as "links", lines "1-50", search, bytes; rows "1-20" and query for its longest table.';

const MORE_HEADINGS = "Not all headings and names are shown: search finds the others.";

function howToSee({ showsImages }: Readable): string {
  if (showsImages === true) return 'See it with as "image". Or pass the URI as a tool argument.';
  return "This client is not known to show images to its model. Pass the URI as a tool argument.";
}

function aboutParts(facts: DocumentFacts | undefined): string {
  if (facts === undefined || ((facts.part === "section" || facts.part === "message") && facts.parts === 1)) return "";
  const { parts, part, withoutText = [] } = facts;
  const scans = withoutText.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const without = scans === 0 ? "" : `, ${scans === parts ? "none with" : `${groupDigits(scans)} without`} text`;
  return `, ${countNoun(parts, part)}${without}`;
}

/** Names of parts and headings, each with where it is. */
function writeLines({
  part,
  names = [],
  about = [],
  headings,
  title,
  attachments = [],
}: DocumentFacts): readonly string[] {
  const behind = (at: number): string => ((about[at] ?? "") === "" ? "" : ` (${about[at]})`);
  const listed = [
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...attachments.slice(0, MAX_LISTED).map((name) => `attached file: ${name}`),
    ...names.slice(0, MAX_LISTED).map((name, at) => `${part} ${at + 1}: ${name}${behind(at)}`),
    ...(names.length > 0 ? [] : headings)
      .slice(0, MAX_LISTED)
      .map((heading) => `${"  ".repeat(Math.min(4, heading.level - 1))}${heading.title} (${part} ${heading.part})`),
  ];
  return listed.length === 0 ? [] : [...listed, ""];
}

function listNotes(kind: DocumentKind, facts: DocumentFacts | undefined, form: Readable): readonly string[] {
  const { forms, part } = findTraits(kind);
  const modes: string[] = [];
  if (kind === "archive") modes.push('entry "PATH" for one file', 'rows "1-50"', "search", "query");
  else if (!forms.includes("text"))
    modes.push('rows "1-20"', 'query "SELECT … FROM rows"', "search", ...(part === undefined ? [] : [part]));
  else {
    modes.push('pages "1"', "search", 'lines "1-50"');
    if (forms.includes("cells")) modes.unshift('rows "1-20" or "B2:D40" with sheet', "query with sheet");
    if (forms.includes("links")) modes.push('as "links"');
    if (kind === "mail") {
      modes.push('query "SELECT … FROM rows" over messages');
      if ((facts?.attachments ?? []).length > 0) modes.push('entry "NAME" for an attached file');
    }
    if (kind === "pdf" && form.showsImages === true) modes.push('as "image" with a page');
  }
  const text = forms.includes("text") ? [`To pass its text on: ${artifactUri(form.ref.id)}.`] : [];
  const scans = facts === undefined ? [] : tellScans(facts, form);
  return [...(facts?.notices ?? []), ...scans, `Read it with one of: ${modes.join(", ")}.`, ...text];
}

/** Runs of pages without text that are named. */
const MAX_RUNS = 20;

/** Which pages have no text, and how to read them all the same: of all pages, or of a range. */
export function tellScans(
  { withoutText = [], parts }: DocumentFacts,
  { showsImages }: Readable,
  range: RecordSpec = { first: 1, last: Infinity },
): readonly string[] {
  const { first, last } = resolveRecords(range, parts);
  const runs = withoutText
    .map(([from, to]) => [Math.max(from, first), Math.min(to, last)] as const)
    .filter(([from, to]) => from <= to);
  if (runs.length === 0) return [];
  const count = runs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const named = runs.slice(0, MAX_RUNS).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  const list = `${named.join(", ")}${runs.length > MAX_RUNS ? ", …" : ""}`;
  const isAll = count === parts;
  const what = isAll ? "No page has text" : count === 1 ? `Page ${list} has no text` : `Pages ${list} have no text`;
  const how =
    showsImages === true
      ? `look at ${count === 1 ? "it" : "one"} with as "image" and pages "${runs[0]?.[0]}"`
      : "this client shows no pictures, so pass the URI to a tool that reads scans, or tell the user";
  return [`${what}, perhaps ${count === 1 ? "a scan" : "scans"}: ${how}.`];
}

async function readBeginning(form: Readable): Promise<string> {
  const bytes = await readSpan(form, { start: 0, end: Math.min(FIRST_BYTES, form.ref.size_bytes) });
  const text = new TextDecoder().decode(bytes, { stream: true });
  return prefixWithin(text.replaceAll("\f", "\n"), FIRST_CHARS).text;
}
