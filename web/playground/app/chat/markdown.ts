/**
 * What a model writes is Markdown, and untrusted: only what can do no harm is left of it. Loaded for the first text that has some.
 * @module
 */
import DOMPurify from "dompurify";
import { Marked } from "marked";

/** UTF-16 units; longer texts stay as they are. Some take time that grows with the square of their length. */
const MAX_TEXT = 10_000;
/** Cells of a table: rows that lack some are filled up. */
const MAX_CELLS = 10_000;

const TAGS = "p br hr blockquote pre code em strong del a h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td";

/** Text, its structure, and links. No pictures: asking for one tells its server what the model knows. */
const allowed = {
  ALLOWED_TAGS: TAGS.split(" "),
  ALLOWED_ATTR: ["href", "start", "title"],
  ALLOWED_URI_REGEXP: /^https?:/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/** HTML that a model writes is shown as it is, and no page's. */
const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: { html: ({ text }) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;") },
});

/** The text as elements; as it is where it is too long, or nested too deep. */
export function formatted(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(elementsOf(text) ?? text);
  for (const link of fragment.querySelectorAll("a")) {
    // What leads nowhere that it may is no link.
    if (!link.hasAttribute("href")) link.replaceWith(...link.childNodes);
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  // A wide table or a long line is scrolled in its own place, with keys too.
  for (const wide of fragment.querySelectorAll<HTMLElement>("pre, table")) wide.tabIndex = 0;
  return fragment;
}

function elementsOf(text: string): DocumentFragment | undefined {
  if (text.length > MAX_TEXT || cellsIn(text) > MAX_CELLS) return undefined;
  try {
    return DOMPurify.sanitize(markdown.parse(text, { async: false }), allowed);
  } catch {
    return undefined;
  }
}

/** No fewer than there will be. */
function cellsIn(text: string): number {
  const lines = text.split("\n");
  const columns = Math.max(...lines.map((line) => line.split("|").length));
  return columns * lines.length;
}
