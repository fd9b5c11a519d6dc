/**
 * Custom elements that show what Sluice stores and what a model sees of it, for any frontend. Importing this defines all
 * of them.
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
export { SluiceMeter } from "./meter.js";
export type { ElementEvents, ElementProps, ElementTag } from "./props.js";
export { resourceUpdated, SluiceResources } from "./resources.js";
export type { ResourceReader, ShownReading } from "./resources.js";
export { SluiceResult } from "./result.js";
export { configurePdf, SluiceViewer } from "./viewer.js";
export type { PdfSettings } from "./viewer.js";
export type { ArtifactBytes, ArtifactEvents, ShownArtifact } from "./shown.js";
