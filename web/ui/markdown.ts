/**
 * Renders Markdown of models and servers, which is not trusted, as sanitised elements. Loaded when it is first needed.
 * @module
 */
import DOMPurify from "dompurify";
import { Marked } from "marked";

/** UTF-16 units; longer texts stay plain, since some take quadratic time to parse. */
const MAX_TEXT = 10_000;
/** Cells of a table; the parser pads short rows. */
const MAX_CELLS = 10_000;

const TAGS = "p br hr blockquote pre code em strong del a h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td";

/** Text, structure and links. No images: a request for one could leak what the model knows. */
const allowed = {
  ALLOWED_TAGS: TAGS.split(" "),
  ALLOWED_ATTR: ["href", "start", "title"],
  ALLOWED_URI_REGEXP: /^https?:/i,
  RETURN_DOM_FRAGMENT: true as const,
};

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** HTML in the Markdown is shown as text, an image as a link with its description, a task's box as it is written. */
const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || "Image")}</a>`,
    checkbox: ({ checked }) => (checked ? "[x] " : "[ ] "),
  },
});

/** How a text is formatted. */
interface FormatOptions {
  /** UTF-16 units; longer texts stay plain. */
  readonly most?: number;
  /** Whether a line break is one, as people and models write messages. Files are wrapped anywhere. Defaults to true. */
  readonly breaks?: boolean;
}

/** The text as elements; plain if it is too long or nested too deeply. */
export function formatMarkdown(text: string, { most = MAX_TEXT, breaks = true }: FormatOptions = {}): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(parseElements(text, most, breaks) ?? text);
  for (const link of fragment.querySelectorAll("a")) {
    // The sanitiser removed a forbidden address.
    if (!link.hasAttribute("href")) link.replaceWith(...link.childNodes);
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  // Wide blocks scroll on their own, also by keyboard.
  for (const wide of fragment.querySelectorAll<HTMLElement>("pre, table")) wide.tabIndex = 0;
  return fragment;
}

function parseElements(text: string, most: number, breaks: boolean): DocumentFragment | undefined {
  if (text.length > most || cellsIn(text) > MAX_CELLS) return undefined;
  try {
    return DOMPurify.sanitize(markdown.parse(text, { async: false, breaks }), allowed);
  } catch {
    return undefined;
  }
}

/** An upper bound of the cells. */
function cellsIn(text: string): number {
  const lines = text.split("\n");
  let columns = 0;
  for (const line of lines) columns = Math.max(columns, line.split("|").length);
  return columns < 2 ? 0 : columns * lines.length;
}

/** UTF-16 units of a section, as a rule and where it has no blank line. */
const SECTION = 2000;
const LONG_SECTION = 6000;
/** UTF-16 units of a block of code or of a table, which take linear time if their lines are no longer than `LINE`. */
const MAX_BLOCK = 200_000;
const LINE = 2000;
/** Definitions of links that all sections are given, and their UTF-16 units. */
const MAX_DEFINITIONS = 100;
const DEFINITION = /^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*\S{1,400}.{0,100}$/;

/** A section of a text. */
export interface MarkdownSection {
  /** Its elements. */
  readonly elements: DocumentFragment;
  /** UTF-16 units of the text up to its end. */
  readonly end: number;
}

/** A long text as elements, section by section, so that no step takes long. */
export function* sections(text: string): Generator<MarkdownSection> {
  const lines = text.split("\n");
  const definitions = lines.filter((line) => DEFINITION.test(line)).slice(0, MAX_DEFINITIONS);
  const known = definitions.length === 0 ? "" : `\n\n${definitions.join("\n")}`;
  let end = 0;
  for (const section of divideLines(lines)) {
    end += section.length + 1;
    const isBlock = /^\s*(?:```|~~~|\|)/.test(section) && section.split("\n").every((line) => line.length <= LINE);
    const whole = known !== "" && section.includes("[") ? section + known : section;
    const most = (isBlock ? MAX_BLOCK : MAX_TEXT) + known.length;
    yield { elements: formatMarkdown(whole, { most, breaks: false }), end };
  }
}

/** Sections end where a block does: not within code, nor, if that can be helped, between items of a list. */
function* divideLines(lines: readonly string[]): Generator<string> {
  let section: string[] = [];
  let size = 0;
  let fence = "";
  let wasBlank = true;
  for (const line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const begins = wasBlank ? !/^(?:\s|[-*+]\s|\d{1,9}[.)]\s)/.test(line) : false;
    const isItem = /^(?:[-*+]|\d{1,9}[.)]|#{1,6})\s/.test(line);
    const isTooLong = size > LONG_SECTION && (wasBlank || isItem);
    // Code that is long is a section of its own.
    const ends = fence === "" && line !== "" && ((size > SECTION && begins) || isTooLong || mark !== undefined);
    if (ends && section.length > 0 && (wasBlank || isTooLong)) {
      yield section.join("\n");
      section = [];
      size = 0;
    }
    if (fence === "") fence = mark ?? "";
    else if (mark !== undefined && mark.startsWith(fence)) fence = "";
    section.push(line);
    size += line.length + 1;
    wasBlank = fence === "" && line.trim() === "";
  }
  if (section.length > 0) yield section.join("\n");
}
