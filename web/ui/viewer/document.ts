/**
 * Previews of Word, Excel, PowerPoint and OpenDocument files: their text as pages, their sheets as tables, their slides one below the
 * other. The page converts them, since it has the library: see `ArtifactBytes.readText`.
 * @module
 */
import { renderCsv } from "./csv.js";
import { readText } from "./artifact-reader.js";
import { renderHex } from "./hex.js";
import { renderMarkdown } from "./markdown-page.js";
import { type Drawn, element, type PreviewInput, PreviewProblem } from "./preview.js";

/** What separates the parts of a document's text: sheets, slides, sections. */
const BREAK = "\f";

/** Bytes of text that are read, and parts that are shown. */
const MOST_TEXT = 8 * 1024 ** 2;
const MOST_PARTS = 200;

/** Draws what the page makes of the document; its bytes, where the page makes nothing of documents. */
export async function renderDocument(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  if (input.bytes.readText === undefined) return renderHex(host, input, signal);
  const stream = await input.bytes.readText();
  signal.throwIfAborted();
  if (stream === null) throw new PreviewProblem("Its text could not be read.", "source");
  const { text, isPart } = await readBeginning(input, stream, signal);
  const parts = text.split(BREAK);
  const shown = parts.slice(0, MOST_PARTS);
  const isWorkbook = /spreadsheet|ms-excel|numbers/.test(input.type);
  if (isWorkbook) await drawSheets(host, input, shown, signal);
  else await drawSections(host, input, shown, signal);
  const rest = parts.length - shown.length;
  if (rest > 0) return { note: `${rest} more parts are not shown: download the file to see them.` };
  return isPart ? { note: "The end is not shown: download the file to see it." } : {};
}

async function readBeginning(
  input: PreviewInput,
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly isPart: boolean }> {
  const bytes = { open: () => Promise.resolve(stream) };
  const slices = readText({ ...input, artifact: { id: input.artifact.id }, bytes }, MOST_TEXT, signal);
  let text = "";
  for (;;) {
    const { done, value } = await slices.next();
    if (done) return { text, isPart: value };
    text += value;
  }
}

/** A tab for each sheet, and the table of the chosen one. */
async function drawSheets(
  host: HTMLElement,
  input: PreviewInput,
  parts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const sheets = parts.map((part, at) => {
    const [, name = `Sheet ${at + 1}`, rows = part] = /^# ([^\n]*)\n([^]*)$/.exec(part) ?? [];
    return { name, rows };
  });
  const tabs = element("div", "sheets", { role: "group", "aria-label": "Sheets" });
  const place = element("div", "sheet");
  host.append(...(sheets.length > 1 ? [tabs] : []), place);
  let chosen = new AbortController();
  signal.addEventListener("abort", () => chosen.abort(), { once: true });
  const show = async (at: number): Promise<void> => {
    chosen.abort();
    chosen = new AbortController();
    const { signal: own } = chosen;
    for (const [index, tab] of [...tabs.children].entries()) tab.setAttribute("aria-pressed", String(index === at));
    place.replaceChildren();
    const { name = "", rows = "" } = sheets[at] ?? {};
    if (rows.trim() === "") place.append(element("p", "empty soft", {}, "The sheet is empty."));
    else await renderCsv(place, replaceBytes({ ...input, name: `${input.name}, ${name}` }, rows, "text/csv"), own);
  };
  for (const [at, { name }] of sheets.entries()) {
    const tab = element("button", "", { type: "button", "aria-pressed": "false" }, name);
    // A sheet that another one replaces meanwhile is not shown.
    tab.addEventListener("click", () => void show(at).catch(() => undefined), { signal });
    tabs.append(tab);
  }
  await show(0);
}

/** Sections and slides one below the other, each drawn from its Markdown. */
async function drawSections(
  host: HTMLElement,
  input: PreviewInput,
  parts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const isSlides = /presentation|powerpoint/.test(input.type);
  for (const [at, part] of parts.entries()) {
    const title = isSlides ? `Slide ${at + 1} of ${parts.length}` : "";
    const place = element("section", isSlides ? "slide" : "section");
    if (isSlides) place.append(element("h3", "soft", {}, title));
    host.append(place);
    const named = { ...input, name: title === "" ? input.name : `${input.name}, ${title}` };
    await renderMarkdown(place, replaceBytes(named, part, "text/markdown"), signal);
    signal.throwIfAborted();
  }
}

/** The same input with a text of its own. */
function replaceBytes(input: PreviewInput, text: string, type: string): PreviewInput {
  const blob = new Blob([text]);
  const bytes = {
    open: ({ start = 0, end }: { start?: number; end?: number } = {}) =>
      Promise.resolve(blob.slice(start, end).stream() as ReadableStream<Uint8Array>),
  };
  const artifact = { id: input.artifact.id, size_bytes: blob.size };
  return { ...input, artifact, bytes, type, whole: true, progress: () => {} };
}
