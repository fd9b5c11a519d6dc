/**
 * An artifact's original bytes as a file of the person who asks.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { plainText } from "./plain-text.js";

/** How long, in milliseconds, a browser may take to begin with a file, after which its bytes are let go. */
const KEPT = 60_000;
/** Names stay below what file systems take. */
const MAX_NAME = 120;

/** The address that answers as a download. */
export function downloadAddress(href: string): string {
  const [address = ""] = href.split("#", 1);
  return `${address}${address.includes("?") ? "&" : "?"}download`;
}

/** A name for a file that reaches no other folder and shows what it is; the id where there is none. */
export function fileNameOf({ filename, id }: ShownArtifact): string {
  const [name, fallback] = [filename, id].map((text) =>
    plainText(text, 1000)
      .replace(/[/\\:*?"<>|]/g, "_")
      .replace(/^[.\s]+|[.\s]+$/g, ""),
  );
  return shortened(name || fallback || "artifact");
}

/**
 * Reads all bytes and hands them to the browser as a file; false when they are gone.
 *
 * @throws what the source throws, and the reason of `signal`.
 */
export async function saveAsFile(artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal): Promise<boolean> {
  const stream = await bytes.open();
  if (stream === null) return false;
  const whole = stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
  // Whatever it is, the address that it gets for a moment must never be shown as a page.
  const headers = { "content-type": "application/octet-stream" };
  const blob = await new Response(whole, { headers }).blob();
  signal.throwIfAborted();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = fileNameOf(artifact);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
  return true;
}

/** What says the kind of a file is behind its last point, and stays. */
function shortened(name: string): string {
  const letters = Array.from(name);
  if (letters.length <= MAX_NAME) return name;
  const [kind = ""] = /\.[^.]{1,12}$/.exec(name) ?? [];
  return letters.slice(0, MAX_NAME - Array.from(kind).length).join("") + kind;
}
