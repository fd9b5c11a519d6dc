/**
 * Custom elements that show what Sluice stores and what a model sees of it, for any frontend. Importing this defines all
 * of them; each can be imported alone too, as `mcp-sluice/ui/artifact` and so on.
 *
 * @example
 * ```html
 * <script type="module">
 *   import "mcp-sluice/ui";
 *   document.querySelector("sluice-artifact").artifact = { id: "demo_6c0e0628db65", mime_type: "application/pdf" };
 * </script>
 * <sluice-artifact></sluice-artifact>
 * ```
 * @module mcp-sluice/ui
 */

export { SluiceArtifact } from "./artifact.js";
export type { ArtifactAction } from "./artifact/menu.js";
export { estimateTokens, SluiceMeter, TOKEN_ESTIMATOR } from "./meter.js";
export { resourceUpdated, SluiceResources } from "./resources.js";
export type { ResourceReader, ResourceTab, ShownReading, TemplateVariable } from "./resources.js";
export { SluiceResult } from "./result.js";
export type { ResultView } from "./result.js";
export type { ResultClamp } from "./result.js";
export type { RawSource } from "./result/line-views.js";
export { SluiceViewer } from "./viewer.js";
export { base, icon, iconOf, plainLines, tokens } from "./theme.js";
export type { ArtifactBytes, ArtifactEvents, ShownArtifact } from "./shown.js";
