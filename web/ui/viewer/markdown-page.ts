/**
 * Previews of Markdown as a page of text. Nothing of it runs, and nothing is fetched for it.
 * @module
 */
import { Pace } from "../pace.js";
import { plainLines } from "../plain-text.js";
import { limitFor, readText } from "./artifact-reader.js";
import { type Drawn, element, loadRenderer, type PreviewInput } from "./preview.js";

/** Bytes that are drawn at first, and at most. */
const AT_FIRST = 128 * 1024;
const AT_MOST = 1024 ** 2;
/** Elements of a page, at first and at most. */
const ELEMENTS = 4000;
const MOST_ELEMENTS = 40_000;

/** Draws the text with its headings, lists, tables, code and links. */
export async function renderMarkdown(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const { sections } = await loadRenderer("Markdown", import("../markdown.js"));
  const limit = Math.min(AT_MOST, limitFor(input, AT_FIRST));
  const slices = readText(input, limit, signal);
  let text = "";
  let isPart = false;
  for (;;) {
    const { done, value } = await slices.next();
    if (done) {
      isPart = value;
      break;
    }
    text += value;
  }
  if (text.trim() === "") {
    host.append(element("p", "empty soft", {}, "It is empty."));
    return {};
  }
  const page = element("div", "formatted");
  const label = { tabindex: "0", role: "group", "aria-label": `Text of ${input.name}` };
  host.append(element("div", "page-of-text", label, page));
  const most = input.whole ? MOST_ELEMENTS : ELEMENTS;
  const pace = new Pace();
  for (const { elements, end } of sections(plainLines(text))) {
    page.append(elements);
    if (page.getElementsByTagName("*").length > most && end < text.length) {
      return { part: new Blob([text.slice(0, end)]).size };
    }
    await pace.rest();
    signal.throwIfAborted();
  }
  return isPart ? { part: limit } : {};
}
