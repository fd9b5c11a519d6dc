/**
 * What a result is shown by: its two sides, and cards of what it stored.
 * @module
 */
import { html, type TemplateResult } from "lit";
import "../../../ui/artifact.js";
import "../../../ui/result.js";
import "../pdf.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownResult } from "../../engine/messages.js";
import type { Shelf } from "../../engine/shelves.js";
import type { Actions } from "../actions.js";
import { shelfOf } from "../state.js";

/** The actions of a card, by shelf. My Files are renamed and deleted in their own view. */
const OFFERED = {
  session: ["preview", "download", "copy", "save", "open", "delete"],
  files: ["preview", "download", "copy", "open"],
  served: ["preview", "download", "copy", "save", "open", "delete"],
  "served-files": ["preview", "download", "copy", "save", "open"],
} as const satisfies Record<Shelf, unknown>;

/** Both sides of a result, or the model's alone. */
export function resultSides(actions: Actions, result: ShownResult, view: "split" | "model" = "split"): TemplateResult {
  return html`<sluice-result
    .view=${view}
    .reduced=${result.reduced}
    .refs=${result.refs}
    .observation=${result.observation}
    .artifacts=${result.artifacts}
    .bytesIn=${result.bytesIn}
    .bytesOut=${result.bytesOut}
    .clamped=${result.clamped}
    .raw=${() => actions.raw(result.id)}
    .bytes=${(artifact: ShownArtifact) => actions.bytesOf(shelfOf(artifact), artifact)}
    @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail)}
  ></sluice-result>`;
}

/** A card for each artifact, with its actions. */
export function artifactCards(actions: Actions, artifacts: readonly ShownArtifact[]): TemplateResult {
  return html`<div
    class="cards"
    @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail)}
    @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail, undefined, true)}
    @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => actions.save(detail)}
    @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => actions.remove(shelfOf(detail), detail.id)}
  >
    ${artifacts.map(
      (artifact) =>
        html`<sluice-artifact
          .artifact=${artifact}
          .bytes=${actions.bytesOf(shelfOf(artifact), artifact)}
          .actions=${OFFERED[shelfOf(artifact)]}
        ></sluice-artifact>`,
    )}
  </div>`;
}
