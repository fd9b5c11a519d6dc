/**
 * Previews of code and text: highlighted if short enough and the language is known, else plain.
 * @module
 */
import type { LanguageRegistration } from "@shikijs/core/types";
import { Pace } from "../pace.js";
import { Lines, textView, type Token } from "./text-view.js";
import { type Drawn, type PreviewInput, findMediaType, TEXT_LIMIT } from "./preview.js";
import { limitFor, readText } from "./artifact-reader.js";

/** Characters that are highlighted, which takes longer than anything else. */
const COLOURED = 300 * 1024;
/** Lines highlighted at a time. */
const LARGEST = 64;
/** Milliseconds of a fast and of a slow batch. After some slow ones the rest stays plain. */
const SHORT = 6;
const LONG = 100;
const MOST_SLOW = 5;
/** Rows in view at first. */
const IN_VIEW = 60;
/** Prose, whose lines are wrapped. */
const PROSE = /^text\/(?:plain|markdown|x-markdown)$/;

/** Draws text with syntax highlighting. */
export async function renderCode(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  // A text whose type tells no language may have a name that does.
  return render(host, input, signal, findLanguage(input.type) ?? findLanguage(findMediaType(null, input.name)));
}

/** Draws plain text, the source view of every text. */
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
  const slices = readText(input, limit, signal);
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
    // JSON without line breaks at its start is minified: indent it.
    if (characters === 0 && language === "json" && !value.trimEnd().includes("\n")) layout = new Indented();
    const piece = layout?.push(value) ?? value;
    characters += piece.length;
    lines.push(piece);
    view.count = lines.count;
  }
}

// Highlighting follows the text and may fail silently.
function colour(
  lines: Lines,
  language: string,
  colours: (readonly Token[])[],
  redraw: () => void,
  signal: AbortSignal,
): void {
  const work = async (): Promise<void> => {
    const inColours = await highlighter(language);
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

type Language = readonly [name: string, types: RegExp, load: () => Promise<{ default: LanguageRegistration[] }>];

/**
 * Name, media types and grammar. Very large grammars such as that of C++ are left out to keep the package small; a related
 * grammar covers most of them.
 */
const LANGUAGES: readonly Language[] = [
  ["json", /[+/](?:json|x-ndjson|jsonl)$/, () => import("@shikijs/langs/json")],
  ["xml", /[+/]xml$/, () => import("@shikijs/langs/xml")],
  ["yaml", /[/+-]yaml$/, () => import("@shikijs/langs/yaml")],
  ["markdown", /\/(?:x-)?markdown$/, () => import("@shikijs/langs/markdown")],
  ["html", /\/html$/, () => import("@shikijs/langs/html")],
  ["css", /\/css$/, () => import("@shikijs/langs/css")],
  ["typescript", /[/-](?:typescript|tsx)$/, () => import("@shikijs/langs/typescript")],
  ["javascript", /[/-](?:javascript|ecmascript)$/, () => import("@shikijs/langs/javascript")],
  ["python", /[/-]python$/, () => import("@shikijs/langs/python")],
  ["shellscript", /[/-](?:sh|shellscript|bash)$/, () => import("@shikijs/langs/shellscript")],
  ["sql", /[/-]sql$/, () => import("@shikijs/langs/sql")],
  ["c", /[/-]c(?:\+\+)?(?:src)?$/, () => import("@shikijs/langs/c")],
  ["go", /[/-]go$/, () => import("@shikijs/langs/go")],
  ["java", /[/-]java(?:-source)?$/, () => import("@shikijs/langs/java")],
  ["rust", /[/-]rust(?:src)?$/, () => import("@shikijs/langs/rust")],
  ["toml", /\/toml$/, () => import("@shikijs/langs/toml")],
  ["ini", /[/-]ini$/, () => import("@shikijs/langs/ini")],
  ["diff", /[/-](?:diff|patch)$/, () => import("@shikijs/langs/diff")],
];
const THEME = "classes";
/** Characters of a line that is coloured, and milliseconds after which a line is left as it is. */
const LONGEST = 1000;
const SUBSCRIBE_TIMEOUT = 200;

/** The language of a media type; null if unknown. */
function findLanguage(type: string): string | null {
  return LANGUAGES.find(([, types]) => types.test(type))?.[0] ?? null;
}

/** Loads a highlighter: a function that takes lines batch by batch, in order. */
async function highlighter(language: string): Promise<(lines: readonly string[]) => (readonly Token[])[]> {
  const load = LANGUAGES.find(([name]) => name === language)?.[2];
  if (load === undefined) return (lines) => lines.map((text) => [{ text, look: "" }]);
  const [core, { createJavaScriptRegexEngine }, { default: langs }] = await Promise.all([
    import("@shikijs/core"),
    import("@shikijs/engine-javascript"),
    load(),
  ]);
  // Colours become classes: the content security policy forbids inline styles.
  const theme = core.createCssVariablesTheme({ name: THEME, variablePrefix: "--" });
  const engine = createJavaScriptRegexEngine({ forgiving: true });
  // Each of these steps is long enough for the page to wait for.
  const pace = new Pace();
  const shiki = await core.createHighlighterCore({ themes: [theme], langs, engine });
  await pace.rest();
  let state: ReturnType<typeof shiki.getLastGrammarState> | undefined;
  const tokenize = (text: string): ReturnType<typeof shiki.codeToTokensBase> =>
    shiki.codeToTokensBase(text, {
      lang: language,
      theme: THEME,
      tokenizeMaxLineLength: LONGEST,
      tokenizeTimeLimit: SUBSCRIBE_TIMEOUT,
      ...(state && { grammarState: state }),
    });
  return (lines) => {
    const text = lines.join("\n");
    const began = performance.now();
    let tokens = tokenize(text);
    // Rules are made ready when they are first met. A line that was left for that reason is not slow the second time.
    if (performance.now() - began >= SUBSCRIBE_TIMEOUT) tokens = tokenize(text);
    state = shiki.getLastGrammarState(tokens);
    return tokens.map((row) =>
      row.map(({ content, color, fontStyle = 0 }) => ({ text: content, look: toClasses(color, fontStyle) })),
    );
  };
}

// `var(--token-string)` → `token-string`. Styles are bits: 1 italic, 2 bold, 4 underlined.
function toClasses(color: string | undefined, style: number): string {
  const token = /--(token-[a-z-]+)/.exec(color ?? "")?.[1];
  return [token, style & 1 ? "italic" : "", style & 2 ? "bold" : ""].filter(Boolean).join(" ");
}

/** Levels that are set in; deeper ones stay at the last. */
const DEEPEST = 40;

/** Indents JSON that arrives in chunks. Other text passes through. */
export class Indented {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #justOpened = false;

  /** Indents a chunk. */
  push(piece: string): string {
    let laid = "";
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      if (this.#inString) {
        this.#within(character);
        continue;
      }
      const isSpace = character === " " || character === "\n" || character === "\r" || character === "\t";
      laid += piece.slice(start, at) + (isSpace ? "" : this.#before(character));
      start = isSpace ? at + 1 : at;
      const behind = isSpace ? "" : this.#behind(character);
      if (behind === "") continue;
      laid += character + behind;
      start = at + 1;
    }
    return laid + piece.slice(start);
  }

  #within(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (character === "\\") this.#escaped = true;
    else if (character === '"') this.#inString = false;
  }

  #before(character: string): string {
    const closes = character === "}" || character === "]";
    if (closes) this.#depth = Math.max(0, this.#depth - 1);
    const begins = this.#justOpened !== closes;
    this.#justOpened = false;
    return begins ? this.#line() : "";
  }

  #behind(character: string): string {
    if (character === '"') this.#inString = true;
    if (character === ",") return this.#line();
    if (character === ":") return " ";
    if (character === "{" || character === "[") {
      this.#depth += 1;
      this.#justOpened = true;
    }
    return "";
  }

  #line(): string {
    return `\n${"  ".repeat(Math.min(DEEPEST, this.#depth))}`;
  }
}
