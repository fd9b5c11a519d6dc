/**
 * What elements are given to show.
 * @module
 */
import type { ArtifactRef, ByteRange } from "mcp-sluice";

/** An artifact as elements show it: a ref, of which only the id is needed. Never its scope. */
export interface ShownArtifact extends Partial<Omit<ArtifactRef, "id" | "scope" | "sha256">> {
  /** As in `artifact://ID`. */
  readonly id: string;
  /** Null: it was not stored. */
  readonly sha256?: string | null;
  /** When it was stored, in milliseconds since 1970. */
  readonly stored_at?: number;
  /** It is not there yet: "Fetch" gets it. */
  readonly deferred?: boolean;
  /**
   * How whoever made it would have it shown: `image`, `pdf`, `html`, `code` or `data`. It counts where the bytes may be that:
   * where nobody said what they are, or among the ways in which a text can be shown.
   */
  readonly viewer?: string;
}

/** Whether its bytes were kept, or will be; what names nothing stored can only say why. */
export function isStored({ id, sha256, source, deferred }: ShownArtifact): boolean {
  if (sha256 === null && deferred !== true) return false;
  return source?.["truncated"] !== true && !id.startsWith("truncated_");
}

/** Where an artifact's bytes come from. */
export interface ArtifactBytes {
  /** Opens all of them or a range; null when it is gone. */
  open(range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * An address of the same bytes, of this origin and served with `Content-Security-Policy: sandbox`: for images, audio, video,
   * downloads and pages. Left out, they are read through `open`.
   */
  readonly href?: string;
}

/** What elements dispatch, each with the artifact as `detail`; they bubble, out of shadow trees too. */
export interface ArtifactEvents {
  /** Show its preview. */
  "sluice-preview": CustomEvent<ShownArtifact>;
  /** Keep it in My Files. */
  "sluice-save": CustomEvent<ShownArtifact>;
  /** Show it at large. */
  "sluice-open": CustomEvent<ShownArtifact>;
  /** Delete it. */
  "sluice-delete": CustomEvent<ShownArtifact>;
  /** Get it, since it is deferred. */
  "sluice-fetch": CustomEvent<ShownArtifact>;
}
