/**
 * Text of a server's on the screen: chips where something was taken out, and the rest of what is long on demand.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { ifDefined } from "lit/directives/if-defined.js";
import { chip } from "./chip.js";
import type { SentContext } from "./context.js";
import { piecesOf, type MarkedText } from "./marked-text.js";
import { ruleOf } from "./rules.js";

/** Characters by which more of a long text is shown. */
export const STEP = 20_000;

/** How a text is shown. */
export interface WordsLook {
  /** How many characters of it. */
  readonly chars: number;
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether the configuration names the place that it stands at. */
  readonly configured: boolean;
  /** Whether its buttons are reached by the tabulator. */
  readonly reached: boolean;
  /** Shows so many characters. */
  readonly more: (chars: number) => void;
}

/** A text up to a length, with a button for the rest. */
export function words(said: MarkedText, context: SentContext, look: WordsLook): TemplateResult {
  const { pieces, whole } = piecesOf(said, look.chars);
  const { lit, configured, reached } = look;
  return html`<span class="text"
      >${pieces.map((piece) =>
        typeof piece === "string"
          ? piece
          : chip(piece, context, { rule: ruleOf(piece, null, configured), lit, reached }),
      )}${whole ? nothing : "…"}</span
    >${whole ? nothing : rest(said.text.length, look)}`;
}

function rest(length: number, { chars, reached, more }: WordsLook): TemplateResult {
  const next = chars < STEP ? STEP : chars + STEP;
  const all = next >= length;
  return html` <button
    class="small"
    type="button"
    tabindex=${ifDefined(reached ? undefined : -1)}
    @click=${() => more(next)}
  >
    ${all ? "Show all" : "Show more"} (${length.toLocaleString("en")} characters)
  </button>`;
}
