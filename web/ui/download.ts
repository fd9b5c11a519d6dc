/**
 * Downloads the original bytes of an artifact as a file.
 * @module
 */
import { Pace } from "./pace.js";
import { pagePolicy } from "./page-policy.js";
import { replaceHidden } from "./plain-text.js";
import type { ArtifactBytes, ShownArtifact } from "./shown.js";

/** Milliseconds after which the object URL of a download is revoked. */
const KEPT = 60_000;
/** UTF-16 units of a file name, below the limits of file systems. */
const MAX_NAME = 120;
/** UTF-16 units of a name that are examined. */
const LOOKED_AT = 1000;

/** The URL that responds with a download. */
export function downloadAddress(href: string): string {
  const [address = ""] = href.split("#", 1);
  return `${address}${address.includes("?") ? "&" : "?"}download`;
}

/** A safe file name for any file system, without a path or hidden characters. Made from the id if there is no name. */
export function toFileName({ filename, id }: ShownArtifact): string {
  return shortenName(cleanName(filename) || cleanName(id) || "download");
}

/**
 * Saves all bytes as a file; false if they are gone.
 *
 * @throws what the source throws, and the signal's reason
 */
export async function saveAsFile(artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal): Promise<boolean> {
  const { save } = pagePolicy();
  if (save !== undefined) return save(artifact, bytes, signal);
  const stream = await bytes.open();
  if (stream === null) return false;
  const parts = new BlobParts();
  const pace = new Pace();
  const write = async (piece: Uint8Array): Promise<void> => {
    parts.add(piece);
    await pace.rest();
  };
  await stream.pipeTo(new WritableStream({ write }), { signal });
  const link = document.createElement("a");
  // Never a type that the browser would show as a page at the object URL.
  link.href = URL.createObjectURL(parts.blob("application/octet-stream"));
  link.download = toFileName(artifact);
  link.click();
  // The browser reads it after the click and does not report when it is done.
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
  return true;
}

function cleanName(name: unknown): string {
  if (typeof name !== "string") return "";
  return replaceHidden(name.slice(0, LOOKED_AT), "_")
    .replace(/[\ufffd/\\:*?"<>|]/g, "_")
    .replace(/\s+/g, " ")
    .replace(/^[.\s]+|[.\s]+$/g, "");
}

/** Shortens a name but keeps its extension. */
function shortenName(name: string): string {
  const letters = Array.from(name);
  if (letters.length <= MAX_NAME) return name;
  const [kind = ""] = /\.[^.]{1,12}$/.exec(name) ?? [];
  return letters.slice(0, MAX_NAME - Array.from(kind).length).join("") + kind;
}

/** Bytes after which chunks are moved to a Blob, which may leave memory. */
const BATCH = 16 * 1024 ** 2;

/** Collects chunks for one Blob. */
export class BlobParts {
  readonly #batches: Blob[] = [];
  #batch: Uint8Array<ArrayBuffer>[] = [];
  #held = 0;

  /** Adds a chunk. */
  add(piece: Uint8Array): void {
    this.#batch.push(piece as Uint8Array<ArrayBuffer>);
    this.#held += piece.byteLength;
    if (this.#held < BATCH) return;
    this.#batches.push(new Blob(this.#batch));
    this.#batch = [];
    this.#held = 0;
  }

  /** All chunks as a Blob of a media type. */
  blob(type: string): Blob {
    return new Blob([...this.#batches, ...this.#batch], { type });
  }
}
