/**
 * Renders a model's Markdown, which is not trusted, as sanitised elements. Loaded for the first answer.
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

/** HTML in the Markdown is shown as text. */
const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: { html: ({ text }) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;") },
});

/** The text as elements; plain if it is too long or nested too deeply. */
export function formatted(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(elementsOf(text) ?? text);
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

function elementsOf(text: string): DocumentFragment | undefined {
  if (text.length > MAX_TEXT || cellsIn(text) > MAX_CELLS) return undefined;
  try {
    return DOMPurify.sanitize(markdown.parse(text, { async: false }), allowed);
  } catch {
    return undefined;
  }
}

/** An upper bound of the cells. */
function cellsIn(text: string): number {
  const lines = text.split("\n");
  const columns = Math.max(...lines.map((line) => line.split("|").length));
  return columns * lines.length;
}
