/**
 * What stands on the screen for bytes that were taken out.
 * @module
 */
import { html, type TemplateResult } from "lit";
import { ifDefined } from "lit/directives/if-defined.js";
import locate from "lucide-static/icons/locate.svg?raw";
import { icon, iconOf } from "../icons.js";
import { isStored, type ShownArtifact } from "../shown.js";
import type { SentContext } from "./context.js";
import type { Hole } from "./marked-text.js";
import { artifactOf, chipText, descriptionOf, insideOf } from "./names.js";
import type { Rule } from "./rules.js";

/** What a chip is shown with. */
export interface ChipLook {
  /** The rule that took it out. */
  readonly rule: Rule;
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether its buttons are reached by the tabulator; left out, they are. */
  readonly reached?: boolean;
  /** Whether it is itself in a chip: then it shows no chips in turn. */
  readonly inner?: boolean;
}

const INSIDE: Rule = { layer: "L3", name: "detected", why: "Encoded bytes were found in the text." };

/** A chip: type, size, hash, the rule that acted, "Preview" where there is one, and "Show in model view". */
export function chip(
  hole: Hole,
  context: SentContext,
  { rule, lit, reached = true, inner = false }: ChipLook,
): TemplateResult {
  const artifact = artifactOf(hole, context.artifacts);
  const what = chipText(artifact);
  const description = descriptionOf(artifact);
  const tab = reached ? undefined : -1;
  return html`<span
    class="chip ${lit === hole.id ? "lit" : ""}"
    role="group"
    aria-label=${`${isStored(artifact) ? "Stored" : "Not stored"}: ${what}`}
    .pointed=${{ id: hole.id }}
  >
    <span class="what" title=${description ?? what}>${iconOf(artifact.mime_type ?? null)} <bdi>${what}</bdi></span>
    ${badge(rule, description)} ${preview(artifact, context, what, tab)} ${reveal(hole, context, what, tab)}
    ${(inner ? [] : insideOf(artifact)).map(
      (held) =>
        html`<span class="soft">with</span> ${chip(held, context, { rule: INSIDE, lit, reached, inner: true })}`,
    )}
  </span>`;
}

/** Which rule acted; why is in its title, and read to those who do not point. */
export function badge({ layer, name, why }: Rule, description: string | null = null): TemplateResult {
  const words = description === null ? why : `${why} ${description}`;
  return html`<span class="badge" title=${words}><b>${layer}</b> ${name}<span class="unseen">. ${words}</span></span>`;
}

function preview(artifact: ShownArtifact, context: SentContext, what: string, tab: number | undefined): TemplateResult {
  if (!isStored(artifact)) return html`<span class="soft">not stored</span>`;
  return html`<button
    class="small"
    type="button"
    tabindex=${ifDefined(tab)}
    aria-label=${`Preview ${what}`}
    @click=${() => context.preview(artifact)}
  >
    Preview
  </button>`;
}

function reveal(hole: Hole, context: SentContext, what: string, tab: number | undefined): TemplateResult {
  const where = context.whereabouts({ id: hole.id });
  if (where === null) return html`<span class="soft">not in the model view</span>`;
  return html`<button
    class="small plain"
    type="button"
    tabindex=${ifDefined(tab)}
    title=${`Show in model view: ${where}`}
    aria-label=${`Show ${what} in model view, ${where}`}
    @click=${() => context.reveal({ id: hole.id })}
  >
    ${icon(locate)}
  </button>`;
}
