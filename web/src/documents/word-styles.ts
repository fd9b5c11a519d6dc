/**
 * Styles of Word: which paragraphs are headings, items of lists or hidden; and what its fonts of signs show.
 * @module
 */
import type { DocumentPackage } from "./package.js";
import { getAttribute, readCount, localName, readXml } from "./xml.js";

/** Most styles of a document that are known. */
const MAX_STYLES = 20_000;

/** Longest chain of styles that are based on one another: Word allows eleven. */
const MAX_CHAIN = 20;

/** What a style says of its paragraphs or words, with those that it is based on. */
export interface Style {
  readonly id: string;
  /** The level of a heading, from 1; 0 for body text. */
  readonly level: number;
  /** The list, or undefined for none. */
  readonly listId: string | undefined;
  readonly listLevel: number | undefined;
  readonly isTitle: boolean;
  readonly isHidden: boolean;
}

/** The style of a paragraph without one. */
export const PLAIN: Style = {
  id: "",
  level: 0,
  listId: undefined,
  listLevel: undefined,
  isTitle: false,
  isHidden: false,
};

interface RawStyle {
  name: string;
  basedOn: string | undefined;
  level: number | undefined;
  listId: string | undefined;
  listLevel: number | undefined;
  isHidden: boolean | undefined;
}

/** The styles of a document by id; none without a part. */
export async function readStyles(
  source: DocumentPackage,
  part: string | undefined,
): Promise<ReadonlyMap<string, Style>> {
  const raw = new Map<string, RawStyle>();
  if (part === undefined || !source.has(part)) return new Map();
  let current: RawStyle | undefined;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      const value = getAttribute(attributes, "val");
      if (name === "style") {
        current = {
          name: "",
          basedOn: undefined,
          level: undefined,
          listId: undefined,
          listLevel: undefined,
          isHidden: undefined,
        };
        const id = getAttribute(attributes, "styleId");
        if (id !== undefined && raw.size < MAX_STYLES) raw.set(id, current);
      } else if (current === undefined) return;
      else if (name === "name") current.name = value?.slice(0, 100) ?? "";
      else if (name === "basedOn") current.basedOn = value;
      else if (name === "outlineLvl") current.level = readOutlineLevel(value);
      else if (name === "numId") current.listId = value;
      else if (name === "ilvl") current.listLevel = readCount(value, 0, 8, 0);
      else if (name === "vanish") current.isHidden = isOn(value);
    },
    close: (tag) => {
      if (localName(tag) === "style") current = undefined;
    },
  });
  return new Map(Array.from(raw.keys(), (id) => [id, inheritStyle(id, raw)]));
}

/** A style with what it inherits. Chains that come back to themselves end at their bound. */
function inheritStyle(id: string, raw: ReadonlyMap<string, RawStyle>): Style {
  const found: Omit<RawStyle, "name" | "basedOn"> = {
    level: undefined,
    listId: undefined,
    listLevel: undefined,
    isHidden: undefined,
  };
  let isTitle = false;
  let at: string | undefined = id;
  for (let step = 0; at !== undefined && step < MAX_CHAIN; step++) {
    const style = raw.get(at);
    if (style === undefined) break;
    // Names of the styles that come with Word are English in every language.
    const heading = /^heading ([1-9])$/i.exec(style.name)?.[1];
    found.level ??= style.level ?? (heading === undefined ? undefined : Number(heading));
    found.listId ??= style.listId;
    found.listLevel ??= style.listLevel;
    found.isHidden ??= style.isHidden;
    isTitle ||= /^title$/i.test(style.name);
    at = style.basedOn;
  }
  return {
    id,
    level: found.level ?? 0,
    listId: found.listId,
    listLevel: found.listLevel,
    isTitle,
    isHidden: found.isHidden ?? false,
  };
}

/** The style that an id is usual for, in documents without that style. */
export function guessStyle(id: string): Style {
  const level = /^Heading ?([1-9])$/i.exec(id)?.[1];
  return {
    ...PLAIN,
    id,
    level: Number(level ?? 0),
    listId: /^List(?:Bullet|Number)/i.test(id) ? "" : undefined,
    isTitle: /^Title$/i.test(id),
  };
}

/** The level of a heading, from 1; 0 for body text. */
export function readOutlineLevel(value: string | undefined): number {
  const level = readCount(value, 0, 9, 9);
  return level === 9 ? 0 : level + 1;
}

/** Whether a property that is there is on. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !/^(?:0|false|off)$/.test(value);
}

/** What signs of fonts for signs are: boxes to tick, arrows, bullets. */
const SYMBOLS: Readonly<Record<string, string>> = {
  "6c": "●",
  "6e": "■",
  "6f": "□",
  "71": "❑",
  a7: "▪",
  a8: "☐",
  d8: "➢",
  df: "←",
  e0: "→",
  e8: "→",
  fb: "✗",
  fc: "✓",
  fd: "☒",
  fe: "☑",
};

/** What the font Symbol has in place of letters. */
const GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
const SIGNS: Readonly<Record<string, string>> = {
  a3: "≤",
  a5: "∞",
  ab: "↔",
  ac: "←",
  ad: "↑",
  ae: "→",
  af: "↓",
  b0: "°",
  b1: "±",
  b3: "≥",
  b4: "×",
  b7: "•",
  b8: "÷",
  b9: "≠",
  bb: "≈",
  d6: "√",
  de: "⇒",
  e5: "∑",
  f2: "∫",
};

/** A sign of a font for signs as a character of Unicode; a question mark for one that is not known. */
export function readSymbol(font: string, code: string): string {
  const point = Number.parseInt(code, 16);
  if (!Number.isInteger(point) || point < 0x20 || point > 0xffff) return "";
  const low = point & 0xff;
  const key = low.toString(16);
  if (/^Wingdings/i.test(font)) return SYMBOLS[key] ?? "?";
  if (/^Symbol$/i.test(font)) return SIGNS[key] ?? GREEK[low - 0x41] ?? String.fromCharCode(low);
  return point >= 0xf000 ? "?" : String.fromCharCode(point);
}
