/**
 * Cards of stored artifacts.
 * @module
 */
import { html, type TemplateResult } from "lit";
import "../../../ui/artifact.js";
import type { ShownArtifact } from "mcp-sluice/ui";
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
