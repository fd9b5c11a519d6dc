/**
 * What cards and chips have in common.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import check from "lucide-static/icons/check.svg?raw";
import { humanSize } from "mcp-sluice";
import { icon } from "../icons.js";
import { isStored, type ShownArtifact } from "../shown.js";
import { plainText } from "../plain-text.js";

/** What went wrong, and whether the next attempt may go better. */
export interface Problem {
  readonly sentence: string;
  readonly retry?: () => void;
  /** A ref that the person can copy by hand. */
  readonly ref?: string;
}

/** Why an artifact is not as it should be, and what just went wrong. */
export function notes(artifact: ShownArtifact, problem: Problem | undefined): TemplateResult {
  const warning = describeWarning(artifact);
  return html`${warning === undefined ? nothing : html`<p class="note">${warning}</p>`}
    <div role="alert">
      ${
        problem &&
        html`<p class="note bad">
          ${problem.sentence} ${problem.ref === undefined ? nothing : html`<code class="ref">${problem.ref}</code>`}
          ${problem.retry && html`<button type="button" @click=${problem.retry}>Try again</button>`}
        </p>`
      }
    </div>`;
}

/** Asks once before something is deleted; Esc is No. */
export function question(artifact: ShownArtifact, answer: (isYes: boolean) => void): TemplateResult {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    answer(false);
  };
  return html`<span class="row" role="group" aria-label=${`Delete ${nameArtifact(artifact)}?`} @keydown=${onKey}>
    <span>Delete?</span>
    <button type="button" class="danger" id="yes" @click=${() => answer(true)}>Yes</button>
    <button type="button" id="no" @click=${() => answer(false)}>No</button>
  </span>`;
}

/** What worked, told to screen readers too. */
export function status(said: string): TemplateResult {
  return html`<span class="said" role="status">${said === "" ? nothing : icon(check)}${said}</span>`;
}

/** Where an artifact came from; takes the focus. */
export function provenance(artifact: ShownArtifact): TemplateResult {
  return html`<div id="provenance" role="group" aria-label="Provenance" tabindex="-1">
    <dl>
      ${listProvenance(artifact).map(
        ({ term, value, isCode }) =>
          html`<dt>${term}</dt>
            <dd>${isCode === true ? html`<code>${value}</code>` : html`<bdi>${value}</bdi>`}</dd>`,
      )}
    </dl>
  </div>`;
}

/** Most characters of a reason, which names its remedy. */
const MAX_REASON = 500;
/** Most characters of an id, and of a hash. */
const MAX_ID = 160;

/** One line of an artifact's provenance. */
interface Fact {
  readonly term: string;
  readonly value: string;
  /** It is to be read letter by letter. */
  readonly isCode?: boolean;
}

/** What a person would call it: its file name, else its id. */
export function nameArtifact({ filename, id }: ShownArtifact): string {
  return plainText(filename, 200) || plainText(id, MAX_ID) || "artifact";
}

/** Its type, or that it is not known. */
export function describeType({ mime_type }: ShownArtifact): string {
  return plainText(mime_type, 100) || "unknown type";
}

/** The size of its bytes; undefined where it is not known. */
export function formatArtifactSize({ size_bytes }: ShownArtifact): string | undefined {
  return isAmount(size_bytes) ? humanSize(size_bytes) : undefined;
}

/** The call, or else the resource, that it came from. */
export function describeOrigin({ source }: ShownArtifact): string | undefined {
  const [tool, uri] = [plainText(source?.["tool"], 100), plainText(source?.["uri"], 100)];
  if (tool !== "") return `from ${tool}`;
  return uri === "" ? undefined : `from ${uri}`;
}

/** Why it is not as it should be, in one sentence; undefined where nothing is wrong. */
function describeWarning(artifact: ShownArtifact): string | undefined {
  const said = plainText(artifact.source?.["warning"], MAX_REASON);
  if (said !== "") return said;
  return isStored(artifact) ? undefined : "Its bytes were not stored: call the tool again with a store.";
}

/** How it is named in arguments and texts. */
export function refTo({ id }: ShownArtifact): string {
  return `artifact://${id}`;
}

/** Where it came from and what it is, as far as that is known. */
function listProvenance(artifact: ShownArtifact): readonly Fact[] {
  const { id, sha256, namespace, source, size_bytes, stored_at } = artifact;
  const all: readonly Fact[] = [
    { term: "SHA-256", value: plainText(sha256, MAX_ID), isCode: true },
    { term: "Id", value: plainText(id, MAX_ID), isCode: true },
    { term: "Size", value: isAmount(size_bytes) ? `${size_bytes.toLocaleString("en")} B` : "" },
    { term: "Tool", value: plainText(source?.["tool"]) },
    { term: "Resource", value: plainText(source?.["uri"], MAX_REASON), isCode: true },
    { term: "Server", value: plainText(namespace) },
    { term: "Stored", value: formatTime(stored_at) },
    { term: "Description", value: plainText(source?.["description"], MAX_REASON) },
    { term: "Warning", value: describeWarning(artifact) ?? "" },
  ];
  return all.filter(({ value }) => value !== "");
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The greatest distance from 1970 that a Date can tell. */
const MAX_TIME = 8.64e15;

function formatTime(milliseconds: number | undefined): string {
  if (!isAmount(milliseconds) || milliseconds > MAX_TIME) return "";
  return new Date(milliseconds).toLocaleString();
}
