/**
 * What the page and the engine say to each other of the server that the page comes from. All of it can be cloned.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";

/** A source of tools that the server has. */
export interface ServedSource {
  readonly name: string;
  /** Whether a page can speak to it itself. */
  readonly has_mcp: boolean;
  /** Whether its users have tokens of their own, for which they are asked. */
  readonly asks_consent: boolean;
}

/** What the server offers within a session. */
export interface ServeOffer {
  /** When the session ends by itself, in milliseconds since 1970. */
  readonly expires_at: number;
  readonly sources: readonly ServedSource[];
  /** Whether a model of the server's answers. */
  readonly chat: boolean;
}

/** What the server keeps: its bytes are had from there, and never of this browser's stores. */
export interface ServedArtifact extends ShownArtifact {
  readonly served: true;
}

/** What the session stored at the server. */
export interface ServedListing {
  /** The newest first. */
  readonly artifacts: readonly ServedArtifact[];
  /** There are more than are listed. */
  readonly hasMore: boolean;
}
