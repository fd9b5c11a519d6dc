/**
 * Icons of Lucide.
 * @module
 */
import { html, type TemplateResult } from "lit";
import { unsafeSVG } from "lit/directives/unsafe-svg.js";
import archive from "lucide-static/icons/file-archive.svg?raw";
import audio from "lucide-static/icons/file-music.svg?raw";
import code from "lucide-static/icons/file-code.svg?raw";
import file from "lucide-static/icons/file.svg?raw";
import image from "lucide-static/icons/file-image.svg?raw";
import table from "lucide-static/icons/file-spreadsheet.svg?raw";
import text from "lucide-static/icons/file-text.svg?raw";
import video from "lucide-static/icons/file-video-camera.svg?raw";

/** The icon of a media type; a plain file for unknown types. */
export function chooseIcon(mimeType: string | null): TemplateResult {
  return icon(sourceFor(mimeType ?? ""));
}

/** An icon from its SVG source, hidden from screen readers. */
export function icon(source: string): TemplateResult {
  const [, inner = ""] = /<svg[^>]*>(.*)<\/svg>/s.exec(source) ?? [];
  return html`<svg
    class="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    ${unsafeSVG(inner)}
  </svg>`;
}

function sourceFor(type: string): string {
  if (type.startsWith("image/")) return image;
  if (type.startsWith("audio/")) return audio;
  if (type.startsWith("video/")) return video;
  if (type === "application/pdf") return text;
  if (/\b(?:csv|spreadsheet|excel|tab-separated)/.test(type)) return table;
  if (/\b(?:zip|gzip|tar|7z|rar|zstd|bzip)/.test(type)) return archive;
  if (/\b(?:json|xml|html|javascript|css|x-python|yaml)/.test(type)) return code;
  return type.startsWith("text/") ? text : file;
}
