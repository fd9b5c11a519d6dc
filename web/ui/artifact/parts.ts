/**
 * What cards and chips have in common.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import check from "lucide-static/icons/check.svg?raw";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { icon } from "../icons.js";
import type { ShownArtifact } from "../shown.js";
import { nameOf, provenanceOf, warningOf } from "./facts.js";

/** What went wrong, and whether the next attempt may go better. */
export interface Problem {
  readonly sentence: string;
  readonly retry?: () => void;
  /** A ref that the person can copy by hand. */
  readonly ref?: string;
}

/** Why an artifact is not as it should be, and what just went wrong. */
export function notes(artifact: ShownArtifact, problem: Problem | undefined): TemplateResult {
  const warning = warningOf(artifact);
  return html`${warning === undefined ? nothing : html`<p class="note">${warning}</p>`}
    <div role="alert">
      ${
        problem &&
        html`<p class="note bad">
          ${problem.sentence} ${problem.ref === undefined ? nothing : html`<code class="ref">${problem.ref}</code>`}
          ${problem.retry && html`<button type="button" @click=${problem.retry}>Try again</button>`}
        </p>`
      }
    </div>`;
}

/** Asks once before something is deleted; Esc is No. */
export function question(artifact: ShownArtifact, answer: (isYes: boolean) => void): TemplateResult {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    answer(false);
  };
  return html`<span class="row" role="group" aria-label=${`Delete ${nameOf(artifact)}?`} @keydown=${onKey}>
    <span>Delete?</span>
    <button type="button" class="danger" id="yes" @click=${() => answer(true)}>Yes</button>
    <button type="button" id="no" @click=${() => answer(false)}>No</button>
  </span>`;
}

/** What worked, told to screen readers too. */
export function status(said: string): TemplateResult {
  return html`<span class="said" role="status">${said === "" ? nothing : icon(check)}${said}</span>`;
}

/** Where an artifact came from, folded away. */
export function provenance(artifact: ShownArtifact): TemplateResult {
  return html`<details>
    <summary>${icon(chevron)}Provenance</summary>
    <dl>
      ${provenanceOf(artifact).map(
        ({ term, value, isCode }) =>
          html`<dt>${term}</dt>
            <dd>${isCode === true ? html`<code>${value}</code>` : html`<bdi>${value}</bdi>`}</dd>`,
      )}
    </dl>
  </details>`;
}
