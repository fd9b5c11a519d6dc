/**
 * An artifact's original bytes as a file of the person who asks.
 * @module
 */
import { BlobParts } from "./blob-parts.js";
import { Pace } from "./pace.js";
import { replaceHidden } from "./plain-text.js";
import type { ArtifactBytes, ShownArtifact } from "./shown.js";

/** How long, in milliseconds, a browser may take to begin with a file, after which its bytes are let go. */
const KEPT = 60_000;
/** Names stay below what file systems take. */
const MAX_NAME = 120;
/** Units of a name that are looked at. */
const LOOKED_AT = 1000;

/** The address that answers as a download. */
export function downloadAddress(href: string): string {
  const [address = ""] = href.split("#", 1);
  return `${address}${address.includes("?") ? "&" : "?"}download`;
}

/** A name for a file that reaches no other folder, shows what it is, and suits any file system; made of the id where there is none. */
export function fileNameOf({ filename, id }: ShownArtifact): string {
  return shortened(savedName(filename) || savedName(id) || "download");
}

/**
 * Reads all bytes and hands them to the browser as a file; false when they are gone.
 *
 * @throws what the source throws, and the reason of `signal`.
 */
export async function saveAsFile(artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal): Promise<boolean> {
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
  // Whatever it is, the address that it gets for a moment must never be shown as a page.
  link.href = URL.createObjectURL(parts.blob("application/octet-stream"));
  link.download = fileNameOf(artifact);
  link.click();
  // The browser reads it after the click, and does not tell when it has.
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
  return true;
}

function savedName(name: unknown): string {
  if (typeof name !== "string") return "";
  return replaceHidden(name.slice(0, LOOKED_AT), "_")
    .replace(/[\ufffd/\\:*?"<>|]/g, "_")
    .replace(/\s+/g, " ")
    .replace(/^[.\s]+|[.\s]+$/g, "");
}

/** What says the kind of a file is behind its last point, and stays. */
function shortened(name: string): string {
  const letters = Array.from(name);
  if (letters.length <= MAX_NAME) return name;
  const [kind = ""] = /\.[^.]{1,12}$/.exec(name) ?? [];
  return letters.slice(0, MAX_NAME - Array.from(kind).length).join("") + kind;
}
