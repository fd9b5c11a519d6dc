/**
 * What is known of an artifact, in words.
 * @module
 */
import { html, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import type { ShownArtifact } from "../shown.js";
import { shownName } from "../plain-text.js";

/** Characters of a description that are shown. */
const LONGEST = 2000;

/** A list of what is known; `copy` is called to copy the hash. */
export function infoOf(artifact: ShownArtifact, copy: (text: string) => void): TemplateResult {
  const { filename, mime_type, size_bytes, sha256, id, source, namespace, stored_at } = artifact;
  const rows: readonly (readonly [string, string | TemplateResult | undefined])[] = [
    ["Name", shownName(filename, "None")],
    ["Type", shownName(mime_type, "Unknown")],
    ["Size", size_bytes === undefined ? undefined : sizeOf(size_bytes)],
    ["SHA-256", sha256 == null ? undefined : hashOf(sha256, copy)],
    ["Id", html`<code>${shownName(id, "None")}</code>`],
    ["Tool", textOf(source?.["tool"])],
    ["Server", textOf(namespace)],
    ["Stored", stored_at === undefined ? undefined : timeOf(stored_at)],
    ["Description", textOf(source?.["description"])],
    ["Warning", textOf(source?.["warning"])],
  ];
  const known = rows.filter(([, value]) => value !== undefined);
  return html`<dl class="info">
    ${known.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function sizeOf(bytes: number): string {
  const exact = `${bytes.toLocaleString("en")} bytes`;
  return bytes < 1024 ? exact : `${humanSize(bytes)} (${exact})`;
}

function hashOf(sha256: string, copy: (text: string) => void): TemplateResult {
  return html`<code>${shownName(sha256, "None")}</code>
    <button type="button" @click=${() => copy(sha256)}>Copy</button>`;
}

function timeOf(milliseconds: number): string | TemplateResult {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "Unknown";
  return html`<time datetime=${date.toISOString()}>${date.toLocaleString()}</time>`;
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const lines = value.slice(0, LONGEST).split("\n");
  return lines.map((line) => shownName(line, "", LONGEST)).join("\n");
}
