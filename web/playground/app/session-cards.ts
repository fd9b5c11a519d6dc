/**
 * Cards of what the session stored.
 * @module
 */
import { html, type TemplateResult } from "lit";
import "mcp-sluice/ui/artifact";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Actions } from "./actions.js";
import { shelfOf } from "./state.js";

const OFFERED = ["preview", "download", "copy", "save", "open", "delete"] as const;
/** What is in My Files is kept, and deleted, there. */
const OF_FILES = ["preview", "download", "copy", "open"] as const;

/** A card for each artifact; what is chosen on one is done. */
export function sessionCards(actions: Actions, artifacts: readonly ShownArtifact[]): TemplateResult {
  return html`<div
    class="cards"
    @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.look(detail)}
    @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => actions.look(detail, undefined, true)}
    @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => actions.save(detail)}
    @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => actions.remove("session", detail.id)}
  >
    ${artifacts.map(
      (artifact) =>
        html`<sluice-artifact
          .artifact=${artifact}
          .bytes=${actions.bytesOf(shelfOf(artifact), artifact)}
          .actions=${shelfOf(artifact) === "files" ? OF_FILES : OFFERED}
        ></sluice-artifact>`,
    )}
  </div>`;
}
