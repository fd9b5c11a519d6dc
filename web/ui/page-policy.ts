/**
 * What the page around the elements allows, and what it does in their place. Pages of their own allow all of it; in an app of an MCP
 * host a strict policy holds, and the host saves files.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "./shown.js";
import type { Renderer } from "./viewer/preview.js";

/** What a page allows. */
export interface PagePolicy {
  /** Whether images, audio and video may come from object URLs. Else they are `data:` URLs. */
  readonly objectUrls: boolean;
  /** Draws PDFs in the place of PDF.js. */
  readonly renderPdf?: Renderer;
  /** Saves bytes as a file in the browser's place; false if they are gone. */
  readonly save?: (artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal) => Promise<boolean>;
}

let policy: PagePolicy = { objectUrls: true };

/** Sets the policy, once, before anything is shown. */
export function setPagePolicy(given: PagePolicy): void {
  policy = given;
}

/** The policy of this page. */
export function pagePolicy(): PagePolicy {
  return policy;
}
