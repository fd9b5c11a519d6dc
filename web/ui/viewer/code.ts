/**
 * Code and other text: coloured where it is short enough and somebody knows its language, plain otherwise.
 * @module
 */
import { Pace } from "../pace.js";
import { Indented } from "./indented.js";
import { colouring, languageOf } from "./languages.js";
import { Lines } from "./lines.js";
import { TEXT_LIMIT, type Drawn, type PreviewInput } from "./preview.js";
import { limitFor, textOf } from "./reading.js";
import { textView, type Token } from "./text-view.js";

/** Characters that are coloured; finding colours takes longer than everything else. */
const COLOURED = 300 * 1024;
/** Lines that are coloured at a time, at most. */
const LARGEST = 64;
/** Milliseconds that few, and too many lines take; after some of the latter the rest stays plain. */
const SHORT = 6;
const LONG = 100;
const MOST_SLOW = 5;
/** Rows that are seen at first. */
const IN_VIEW = 60;
/** Texts that are read as prose, so that their lines are wrapped. */
const PROSE = /^text\/(?:plain|markdown|x-markdown)$/;

/** Draws a text in colours. */
export async function renderCode(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  return render(host, input, signal, languageOf(input.type, input.name));
}

/** Draws a text as it is: the source of anything that is a text. */
export async function renderPlain(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  return render(host, input, signal, null);
}

async function render(
  host: HTMLElement,
  input: PreviewInput,
  signal: AbortSignal,
  language: string | null,
): Promise<Drawn> {
  const lines = new Lines();
  const colours: (readonly Token[])[] = [];
  const view = textView(
    host,
    lines,
    { label: `Text of ${input.name}`, wraps: PROSE.test(input.type), tokens: (index) => colours[index] },
    signal,
  );
  const limit = limitFor(input, TEXT_LIMIT);
  const slices = textOf(input, limit, signal);
  let characters = 0;
  let layout: Indented | undefined;
  for (;;) {
    const { done, value } = await slices.next();
    if (done) {
      lines.end();
      view.count = lines.count;
      if (language !== null && characters <= COLOURED) colour(lines, language, colours, () => view.redraw(), signal);
      return value || lines.full ? { part: limit } : {};
    }
    // A text without lines in its beginning has none that anybody made.
    if (characters === 0 && language === "json" && !value.trimEnd().includes("\n")) layout = new Indented();
    const piece = layout?.push(value) ?? value;
    characters += piece.length;
    lines.push(piece);
    view.count = lines.count;
  }
}

// Colours come after the text, which can be read meanwhile. Without them nothing is lost, so nothing is said either.
function colour(
  lines: Lines,
  language: string,
  colours: (readonly Token[])[],
  redraw: () => void,
  signal: AbortSignal,
): void {
  const work = async (): Promise<void> => {
    const inColours = await colouring(language);
    const pace = new Pace();
    let batch = 1;
    let slow = 0;
    while (colours.length < lines.count && slow < MOST_SLOW && !signal.aborted) {
      const from = colours.length;
      const began = performance.now();
      const length = Math.min(batch, lines.count - from);
      colours.push(...inColours(Array.from({ length }, (_, i) => lines.row(from + i).text)));
      const took = performance.now() - began;
      batch = took < SHORT ? Math.min(LARGEST, batch * 2) : Math.max(1, Math.floor(batch / 4));
      if (took > LONG) slow += 1;
      if (from < IN_VIEW && colours.length >= IN_VIEW) redraw();
      await pace.rest();
    }
    if (!signal.aborted) redraw();
  };
  work().catch(() => {});
}
