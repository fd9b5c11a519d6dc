/**
 * `<sluice-viewer>`: an artifact's preview, source and particulars.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { humanSize } from "mcp-sluice";
import { downloadAddress, saveAsFile } from "./download.js";
import { chooseIcon } from "./icons.js";
import { toSafeName } from "./plain-text.js";
import { defineElements } from "./registry.js";
import type { ArtifactBytes, ShownArtifact } from "./shown.js";
import { markdownStyles } from "./markdown-styles.js";
import { baseStyles, themeTokens } from "./theme.js";
import { makeGoneProblem } from "./viewer/preview.js";
import { Previewer, type ViewerTab } from "./viewer/previewer.js";
import { frameStyles, previewStyles } from "./viewer/styles.js";

export { configurePdf, type PdfSettings } from "./viewer/pdf-settings.js";
export type { ViewerTab } from "./viewer/previewer.js";

const TABS: readonly (readonly [ViewerTab, string])[] = [
  ["preview", "Preview"],
  ["source", "Source"],
  ["info", "Info"],
];

/**
 * Previews an artifact: images, PDF, HTML, Markdown, tables, archives, code, audio, video, and anything else as bytes; also its
 * source and its metadata.
 *
 * @element sluice-viewer
 * @fires {CustomEvent<ShownArtifact>} sluice-fetch - Get it, since it is deferred.
 * @csspart header - Its name, type and size, and the download.
 * @csspart tabs - The tabs.
 * @csspart content - What the open tab shows.
 * @cssprop [--sluice-viewer-height=80vh] - Height of what a tab shows, at most.
 */
export class SluiceViewer extends LitElement {
  /** @hidden */
  static override styles = [themeTokens, baseStyles, frameStyles, previewStyles, markdownStyles];
  /** @hidden */
  static override properties = {
    artifact: { attribute: false },
    bytes: { attribute: false },
    tab: { reflect: true },
  };

  /** The artifact to show. */
  declare artifact: ShownArtifact | undefined;
  /** Its bytes. Without them only its metadata is shown. */
  declare bytes: ArtifactBytes | undefined;
  /** The open tab. */
  declare tab: ViewerTab;
  readonly #previewer = new Previewer(() => this.requestUpdate());
  #saving: AbortController | undefined;
  #said = "";

  constructor() {
    super();
    this.tab = "preview";
  }

  /** Restores the preview of a reconnected element. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  /** Stops reading and playing. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#previewer.end();
    this.#saving?.abort();
  }

  /** Renders the frame. Previews are drawn into it later. */
  override render(): TemplateResult {
    const { artifact } = this;
    if (artifact === undefined) return html`<p class="empty soft">There is nothing to show.</p>`;
    const name = this.#name(artifact);
    const size = artifact.size_bytes === undefined ? "" : ` · ${humanSize(artifact.size_bytes)}`;
    return html`
      <header part="header">
        ${chooseIcon(artifact.mime_type ?? null)}
        <strong class="name" title=${name}>${name}</strong>
        <span class="facts soft">${toSafeName(artifact.mime_type, "Unknown type")}${size}</span>
        ${this.#download()}
      </header>
      <div
        part="tabs"
        role="tablist"
        aria-label="Views of ${name}"
        @keydown=${(event: KeyboardEvent) => this.#onKey(event)}
      >
        ${TABS.map(([tab, text]) => this.#renderTab(tab, text))}
      </div>
      <div
        part="content"
        role="tabpanel"
        id="panel"
        tabindex=${this.tab === "info" ? "0" : "-1"}
        aria-labelledby="tab-${this.tab}"
      >
        ${this.#notice()} ${this.#previewer.host}
        ${this.tab === "info" ? renderInfo(artifact, (text) => void this.#copy(text)) : nothing}
      </div>
      <p class="unseen" role="status">${this.#said || this.#previewer.said}</p>
    `;
  }

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { artifact, bytes, tab } = this;
    if (!this.isConnected || artifact === undefined) this.#previewer.end();
    else this.#previewer.show({ artifact, bytes, tab, name: this.#name(artifact) });
  }

  #name(artifact: ShownArtifact): string {
    return toSafeName(artifact.filename, toSafeName(artifact.id, "Unnamed"));
  }

  #renderTab(tab: ViewerTab, text: string): TemplateResult {
    const isOpen = this.tab === tab;
    return html`<button
      type="button"
      role="tab"
      id="tab-${tab}"
      aria-controls="panel"
      aria-selected=${String(isOpen)}
      tabindex=${isOpen ? "0" : "-1"}
      @click=${() => (this.tab = tab)}
    >
      ${text}
    </button>`;
  }

  #onKey(event: KeyboardEvent): void {
    const at = TABS.findIndex(([tab]) => tab === this.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + TABS.length, Home: 0, End: TABS.length - 1 }[event.key];
    const [next] = to === undefined ? [] : (TABS[to % TABS.length] ?? []);
    if (next === undefined) return;
    event.preventDefault();
    this.tab = next;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#tab-${next}`)?.focus());
  }

  #download(): TemplateResult | typeof nothing {
    const { artifact, bytes } = this;
    if (bytes === undefined || artifact === undefined || artifact.deferred === true) return nothing;
    if (bytes.href !== undefined) {
      // No `download` attribute: with it the browser bypasses the service worker.
      return html`<a class="button" href=${downloadAddress(bytes.href)} aria-label=${`Download ${this.#name(artifact)}`}
        >Download</a
      >`;
    }
    const isBusy = this.#saving !== undefined;
    return html`<button
      type="button"
      aria-disabled=${String(isBusy)}
      aria-label=${`${isBusy ? "Downloading" : "Download"} ${this.#name(artifact)}`}
      @click=${() => void this.#save()}
    >
      ${isBusy ? "Downloading…" : "Download"}
    </button>`;
  }

  #notice(): TemplateResult | typeof nothing {
    const { state } = this.#previewer;
    if (this.tab === "info" || state === null) return nothing;
    if (state.kind === "loading") {
      const { read, total } = state;
      const text = total === null ? humanSize(read) : `${humanSize(read)} of ${humanSize(total)}`;
      // Small artifacts load faster than a progress bar could be read.
      if (read === 0) return nothing;
      return html`<div class="notice">
        <progress aria-label="Loading" max=${total ?? nothing} .value=${live(total === null ? 0 : read)}></progress>
        <span>${text}</span>
      </div>`;
    }
    const problem = state.kind === "problem" ? "problem" : "";
    return html`<div class="notice ${problem}">
      <span>${state.sentence}</span>
      ${
        state.action === undefined
          ? nothing
          : html`<button type="button" @click=${() => this.#act()}>${state.action.text}</button>`
      }
    </div>`;
  }

  #act(): void {
    const { state } = this.#previewer;
    if (state === null || state.kind === "loading") return;
    switch (state.action?.does) {
      case "retry":
        this.#previewer.again();
        break;
      case "whole":
        this.#previewer.all();
        break;
      case "source":
        this.tab = "source";
        break;
      case "fetch":
        this.dispatchEvent(new CustomEvent("sluice-fetch", { detail: this.artifact, bubbles: true, composed: true }));
        break;
      case undefined:
    }
  }

  async #save(): Promise<void> {
    const { artifact, bytes } = this;
    if (artifact === undefined || bytes === undefined || this.#saving !== undefined) return;
    const saving = new AbortController();
    this.#saving = saving;
    this.#say("Downloading");
    try {
      if (!(await saveAsFile(artifact, bytes, saving.signal))) throw makeGoneProblem();
      this.#say("Downloaded");
    } catch (error) {
      if (!saving.signal.aborted) this.#previewer.fail(error);
    } finally {
      this.#saving = undefined;
      this.requestUpdate();
    }
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#say("Copied");
    } catch {
      this.#say("The browser blocked copying: select it instead.");
    }
  }

  #say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }
}

defineElements({ "sluice-viewer": SluiceViewer });

declare global {
  interface HTMLElementTagNameMap {
    "sluice-viewer": SluiceViewer;
  }
}

/** Characters of a description that are shown. */
const LONGEST = 2000;

/** The metadata of an artifact. `copy` copies the hash. */
function renderInfo(artifact: ShownArtifact, copy: (text: string) => void): TemplateResult {
  const { filename, mime_type, size_bytes, sha256, id, source, namespace, stored_at } = artifact;
  const rows: readonly (readonly [string, string | TemplateResult | undefined])[] = [
    ["Name", toSafeName(filename, "None")],
    ["Type", toSafeName(mime_type, "Unknown")],
    ["Size", size_bytes === undefined ? undefined : formatSize(size_bytes)],
    ["SHA-256", sha256 == null ? undefined : renderHash(sha256, copy)],
    ["Id", html`<code>${toSafeName(id, "None")}</code>`],
    ["Tool", toText(source?.["tool"])],
    ["Server", toText(namespace)],
    ["Stored", stored_at === undefined ? undefined : renderTime(stored_at)],
    ["Description", toText(source?.["description"])],
    ["Warning", toText(source?.["warning"])],
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

function formatSize(bytes: number): string {
  const exact = `${bytes.toLocaleString("en")} bytes`;
  return bytes < 1024 ? exact : `${humanSize(bytes)} (${exact})`;
}

function renderHash(sha256: string, copy: (text: string) => void): TemplateResult {
  return html`<code>${toSafeName(sha256, "None")}</code>
    <button type="button" @click=${() => copy(sha256)}>Copy</button>`;
}

function renderTime(milliseconds: number): string | TemplateResult {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "Unknown";
  return html`<time datetime=${date.toISOString()}>${date.toLocaleString()}</time>`;
}

function toText(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const lines = value.slice(0, LONGEST).split("\n");
  return lines.map((line) => toSafeName(line, "", LONGEST)).join("\n");
}
