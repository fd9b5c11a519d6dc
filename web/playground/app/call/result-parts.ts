/**
 * The two sides of a result.
 * @module
 */
import { html, type TemplateResult } from "lit";
import "../../../ui/result.js";
import "../pdf.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownResult } from "../../engine/messages.js";
import type { Actions } from "../actions.js";
import { findShelf } from "../state.js";

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
    .bytes=${(artifact: ShownArtifact) => actions.bytesOf(findShelf(artifact), artifact)}
    @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => actions.preview(detail)}
  ></sluice-result>`;
}
