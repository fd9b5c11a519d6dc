/**
 * Cards of what the session stored.
 * @module
 */
import { html, type TemplateResult } from "lit";
import "mcp-sluice/ui/artifact";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Shelf } from "../engine/shelves.js";
import type { Actions } from "./actions.js";
import { shelfOf } from "./state.js";

/** What can be done with it where it lies: what is in My Files is kept, and deleted, there. */
const OFFERED = {
  session: ["preview", "download", "copy", "save", "open", "delete"],
  files: ["preview", "download", "copy", "open"],
  served: ["preview", "download", "copy", "save", "open", "delete"],
  "served-files": ["preview", "download", "copy", "save", "open"],
} as const satisfies Record<Shelf, unknown>;

/** A card for each artifact; what is chosen on one is done. */
export function sessionCards(actions: Actions, artifacts: readonly ShownArtifact[]): TemplateResult {
  return html`<div
    class="cards"
    @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.look(detail)}
    @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => actions.look(detail, undefined, true)}
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
