/**
 * Languages that are coloured, each loaded when a text in it is shown.
 * @module
 */
import type { LanguageRegistration } from "@shikijs/core/types";
import { Pace } from "../pace.js";
import { extensionOf } from "./extension.js";
import type { Token } from "./text-view.js";

type Language = readonly [
  name: string,
  of: RegExp,
  extensions: string,
  load: () => Promise<{ default: LanguageRegistration[] }>,
];

/**
 * Name, media types, extensions, and where its grammar is. Grammars as large as that of C++ are left out: a package has to
 * travel, and its nearest relative colours most of it.
 */
const LANGUAGES: readonly Language[] = [
  ["json", /[+/](?:json|x-ndjson|jsonl)$/, "json jsonl ndjson map", () => import("@shikijs/langs/json")],
  ["xml", /[+/]xml$/, "xml svg xsd xsl rss", () => import("@shikijs/langs/xml")],
  ["yaml", /[/+-]yaml$/, "yaml yml", () => import("@shikijs/langs/yaml")],
  ["markdown", /\/(?:x-)?markdown$/, "md markdown", () => import("@shikijs/langs/markdown")],
  ["html", /\/html$/, "html htm", () => import("@shikijs/langs/html")],
  ["css", /\/css$/, "css", () => import("@shikijs/langs/css")],
  ["typescript", /[/-](?:typescript|tsx)$/, "ts mts cts tsx", () => import("@shikijs/langs/typescript")],
  ["javascript", /[/-](?:javascript|ecmascript)$/, "js mjs cjs jsx", () => import("@shikijs/langs/javascript")],
  ["python", /[/-]python$/, "py pyi", () => import("@shikijs/langs/python")],
  ["shellscript", /[/-](?:sh|shellscript|bash)$/, "sh bash zsh", () => import("@shikijs/langs/shellscript")],
  ["sql", /[/-]sql$/, "sql", () => import("@shikijs/langs/sql")],
  ["c", /[/-]c(?:\+\+)?(?:src)?$/, "c h cc cpp cxx hpp", () => import("@shikijs/langs/c")],
  ["go", /[/-]go$/, "go", () => import("@shikijs/langs/go")],
  ["java", /[/-]java(?:-source)?$/, "java", () => import("@shikijs/langs/java")],
  ["rust", /[/-]rust(?:src)?$/, "rs", () => import("@shikijs/langs/rust")],
  ["toml", /\/toml$/, "toml", () => import("@shikijs/langs/toml")],
  ["ini", /[/-]ini$/, "ini conf cfg", () => import("@shikijs/langs/ini")],
  ["diff", /[/-](?:diff|patch)$/, "diff patch", () => import("@shikijs/langs/diff")],
];
const THEME = "classes";
/** Characters of a line that is coloured, and milliseconds after which a line is left as it is. */
const LONGEST = 1000;
const PATIENCE = 200;

/** The language of a text; null when nobody knows. */
export function languageOf(type: string, name: string): string | null {
  const extension = extensionOf(name);
  const named = LANGUAGES.find(([, types]) => types.test(type));
  return (named ?? LANGUAGES.find(([, , extensions]) => extensions.split(" ").includes(extension)))?.[0] ?? null;
}

/** Loads what colours a language: a function that takes a text's lines batch by batch, in order. */
export async function colouring(language: string): Promise<(lines: readonly string[]) => (readonly Token[])[]> {
  const load = LANGUAGES.find(([name]) => name === language)?.[3];
  if (load === undefined) return (lines) => lines.map((text) => [{ text, look: "" }]);
  const [core, { createJavaScriptRegexEngine }, { default: langs }] = await Promise.all([
    import("@shikijs/core"),
    import("@shikijs/engine-javascript"),
    load(),
  ]);
  // Colours are names of properties, which become classes: the page's policy forbids styles in elements.
  const theme = core.createCssVariablesTheme({ name: THEME, variablePrefix: "--" });
  const engine = createJavaScriptRegexEngine({ forgiving: true });
  // Each of these steps is long enough for the page to wait for.
  const pace = new Pace();
  const shiki = await core.createHighlighterCore({ themes: [theme], langs, engine });
  await pace.rest();
  let state: ReturnType<typeof shiki.getLastGrammarState> | undefined;
  const tokensOf = (text: string): ReturnType<typeof shiki.codeToTokensBase> =>
    shiki.codeToTokensBase(text, {
      lang: language,
      theme: THEME,
      tokenizeMaxLineLength: LONGEST,
      tokenizeTimeLimit: PATIENCE,
      ...(state && { grammarState: state }),
    });
  return (lines) => {
    const text = lines.join("\n");
    const began = performance.now();
    let tokens = tokensOf(text);
    // Rules are made ready when they are first met. A line that was left for that reason is not slow the second time.
    if (performance.now() - began >= PATIENCE) tokens = tokensOf(text);
    state = shiki.getLastGrammarState(tokens);
    return tokens.map((row) =>
      row.map(({ content, color, fontStyle = 0 }) => ({ text: content, look: lookOf(color, fontStyle) })),
    );
  };
}

// `var(--token-string)` → `token-string`. Styles are bits: 1 italic, 2 bold, 4 underlined.
function lookOf(color: string | undefined, style: number): string {
  const colour = /--(token-[a-z-]+)/.exec(color ?? "")?.[1];
  return [colour, style & 1 ? "italic" : "", style & 2 ? "bold" : ""].filter(Boolean).join(" ");
}
