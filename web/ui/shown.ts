/**
 * The data that elements show and the events they dispatch.
 * @module
 */
import type { ArtifactRef, ByteRange } from "mcp-sluice";

/** An artifact for display: a ref without its scope. Only the id is required. */
export interface ShownArtifact extends Partial<Omit<ArtifactRef, "id" | "scope" | "sha256">> {
  /** As in `artifact://ID`. */
  readonly id: string;
  /** Null if it was not stored. */
  readonly sha256?: string | null;
  /** When it was stored, in milliseconds since 1970. */
  readonly stored_at?: number;
  /** It is not stored yet: "Fetch" gets it. */
  readonly deferred?: boolean;
  /**
   * How its tool wants it to be shown: `image`, `pdf`, `html`, `code` or `data`. Applies to bytes of an unknown type, and among the
   * previews for text.
   */
  readonly viewer?: string;
}

/** Whether its bytes are or will be stored. */
export function isStored({ id, sha256, source, deferred }: ShownArtifact): boolean {
  if (sha256 === null && deferred !== true) return false;
  return source?.["truncated"] !== true && !id.startsWith("truncated_");
}

/** The bytes of an artifact. */
export interface ArtifactBytes {
  /** Opens all bytes or a range; null if they are gone. */
  open(range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * A URL of the same bytes, on this origin and served with `Content-Security-Policy: sandbox`, for images, audio, video and
   * downloads. Without it they are read through `open`.
   */
  readonly href?: string;
  /**
   * The text of a Word, Excel, PowerPoint or OpenDocument file, in UTF-8, with a form feed between its sections, sheets or slides;
   * null if it cannot be read. Sheets are CSV below a line with `# ` and their name, all else is Markdown. Without it such a file is
   * shown as bytes.
   */
  readText?(): Promise<ReadableStream<Uint8Array> | null>;
}

/** Events of elements, with the artifact as `detail`. They bubble and are composed. */
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
