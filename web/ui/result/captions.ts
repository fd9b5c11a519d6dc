/**
 * What a result says about itself.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { humanSize, type Clamp } from "mcp-sluice";
import type { Span } from "./counterparts.js";

/** What the guardrail cut: the lengths before and after in characters, or only that it did. */
export type ResultClamp = boolean | Pick<Clamp, "originalChars" | "clampedChars">;

/** Where ranges are, e.g. `characters 12 to 80, and 1 more`; null when there are none. */
export function placeWords(spans: readonly Span[]): string | null {
  const first = spans.at(0);
  if (first === undefined) return null;
  const others = spans.length === 1 ? "" : `, and ${spans.length - 1} more`;
  return `characters ${(first.begin + 1).toLocaleString("en")} to ${first.end.toLocaleString("en")}${others}`;
}

/** A size beside a heading; nothing when it is not known. */
export function amountWords(bytes: number | undefined): TemplateResult | typeof nothing {
  return bytes === undefined ? nothing : html`<span class="soft">${humanSize(bytes)}</span>`;
}

/** What the guardrail did; an empty text when it did nothing. */
export function clampWords(clamped: ResultClamp): string {
  if (clamped === false) return "";
  if (clamped === true) return "The guardrail cut it.";
  const [before, after] = [clamped.originalChars, clamped.clampedChars].map((chars) => chars.toLocaleString("en"));
  return `The guardrail cut it from ${before} to ${after} characters.`;
}
