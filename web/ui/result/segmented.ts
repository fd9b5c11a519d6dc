/**
 * A row of choices of which one is made.
 * @module
 */
import { html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

/** A row of radio buttons in the look of one control. `name` is unlike that of any other in the same tree. */
export function segmented<T extends string>(
  name: string,
  label: string,
  choices: readonly (readonly [T, string])[],
  chosen: T,
  choose: (choice: T) => void,
): TemplateResult {
  return html`<div class="segmented" role="radiogroup" aria-label=${label}>
    ${choices.map(
      ([choice, words]) =>
        html`<label
          ><input
            type="radio"
            name=${name}
            value=${choice}
            .checked=${live(choice === chosen)}
            @change=${() => choose(choice)}
          /><span>${words}</span></label
        >`,
    )}
  </div>`;
}
