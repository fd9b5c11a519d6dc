/**
 * Bytes saved as a file.
 * @module
 */
import { element } from "./element.js";
import { savedName } from "./name.js";
import type { PreviewInput } from "./preview.js";
import { wholeBlob } from "./reading.js";

/** The address that answers with the bytes as a file to save. */
export function downloadHref(href: string): string {
  const at = href.indexOf("#");
  const address = at === -1 ? href : href.slice(0, at);
  return `${address}${address.includes("?") ? "&" : "?"}download`;
}

/** Reads all bytes and saves them, where they have no address. Throws a `PreviewProblem` when they are gone. */
export async function download(input: PreviewInput, signal: AbortSignal): Promise<void> {
  // Never as what a browser would run, should the file be opened rather than saved.
  const blob = await wholeBlob(input, Infinity, "application/octet-stream", signal);
  const href = URL.createObjectURL(blob);
  element("a", "", { href, download: savedName(input.name) }).click();
  // The browser reads it after the click, and does not tell when it has.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
