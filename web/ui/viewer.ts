/**
 * `<sluice-viewer>`: an artifact's preview, source and particulars.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { humanSize } from "mcp-sluice";
import { downloadAddress, saveAsFile } from "./download.js";
import { iconOf } from "./icons.js";
import { shownName } from "./plain-text.js";
import type { ArtifactBytes, ShownArtifact } from "./shown.js";
import { base, tokens } from "./theme.js";
import { infoOf } from "./viewer/info.js";
import { gone } from "./viewer/preview.js";
import { Showing, type ViewerTab } from "./viewer/showing.js";
import { frameStyles } from "./viewer/frame-styles.js";
import { previewStyles } from "./viewer/preview-styles.js";

export { configurePdf, type PdfSettings } from "./viewer/pdf-settings.js";
export type { ViewerTab } from "./viewer/showing.js";

const TABS: readonly (readonly [ViewerTab, string])[] = [
  ["preview", "Preview"],
  ["source", "Source"],
  ["info", "Info"],
];

/**
 * Shows an artifact: images, PDF, pages, tables, code, audio, video, and anything else as bytes; its source; what is known of
 * it. Asks with `sluice-fetch` for what is deferred. Its height is bounded by `--sluice-viewer-height`.
 */
export class SluiceViewer extends LitElement {
  /** @hidden */
  static override styles = [tokens, base, frameStyles, previewStyles];
  /** @hidden */
  static override properties = {
    artifact: { attribute: false },
    bytes: { attribute: false },
    tab: { reflect: true },
  };

  /** What is shown; nothing while there is none. */
  declare artifact: ShownArtifact | undefined;
  /** Where its bytes are; left out, only what is known of it is shown. */
  declare bytes: ArtifactBytes | undefined;
  /** Which tab is open. */
  declare tab: ViewerTab;
  readonly #showing = new Showing(() => this.requestUpdate());
  #saving: AbortController | undefined;
  #said = "";

  constructor() {
    super();
    this.tab = "preview";
  }

  /** Shows again what was shown when the element left. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  /** Ends all that is being read or played. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#showing.end();
    this.#saving?.abort();
  }

  /** Draws the frame; previews are drawn within it when it is there. */
  override render(): TemplateResult {
    const { artifact } = this;
    if (artifact === undefined) return html`<p class="empty soft">There is nothing to show.</p>`;
    const name = this.#name(artifact);
    const size = artifact.size_bytes === undefined ? "" : ` · ${humanSize(artifact.size_bytes)}`;
    return html`
      <header>
        ${iconOf(artifact.mime_type ?? null)}
        <strong class="name" title=${name}>${name}</strong>
        <span class="facts soft">${shownName(artifact.mime_type, "Unknown type")}${size}</span>
        ${this.#download()}
      </header>
      <div role="tablist" aria-label="Views of ${name}" @keydown=${(event: KeyboardEvent) => this.#onKey(event)}>
        ${TABS.map(([tab, text]) => this.#tabOf(tab, text))}
      </div>
      <div role="tabpanel" id="panel" tabindex=${this.tab === "info" ? "0" : "-1"} aria-labelledby="tab-${this.tab}">
        ${this.#notice()} ${this.#showing.host}
        ${this.tab === "info" ? infoOf(artifact, (text) => void this.#copy(text)) : nothing}
      </div>
      <p class="unseen" role="status">${this.#said || this.#showing.said}</p>
    `;
  }

  protected override willUpdate(_changed: PropertyValues<this>): void {
    const { artifact, bytes, tab } = this;
    if (!this.isConnected || artifact === undefined) this.#showing.end();
    else this.#showing.show({ artifact, bytes, tab, name: this.#name(artifact) });
  }

  #name(artifact: ShownArtifact): string {
    return shownName(artifact.filename, shownName(artifact.id, "Unnamed"));
  }

  #tabOf(tab: ViewerTab, text: string): TemplateResult {
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
    if (bytes === undefined || artifact?.deferred === true) return nothing;
    if (bytes.href !== undefined) {
      // Without the attribute `download`: with it the browser asks the network, and no service worker.
      return html`<a class="button" href=${downloadAddress(bytes.href)}>Download</a>`;
    }
    const isBusy = this.#saving !== undefined;
    return html`<button type="button" aria-disabled=${String(isBusy)} @click=${() => void this.#save()}>
      ${isBusy ? "Downloading…" : "Download"}
    </button>`;
  }

  #notice(): TemplateResult | typeof nothing {
    const { state } = this.#showing;
    if (this.tab === "info" || state === null) return nothing;
    if (state.kind === "loading") {
      const { read, total } = state;
      const text = total === null ? humanSize(read) : `${humanSize(read)} of ${humanSize(total)}`;
      // Small things are there before anybody could read a bar.
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
    const { state } = this.#showing;
    if (state === null || state.kind === "loading") return;
    switch (state.action?.does) {
      case "retry":
        this.#showing.again();
        break;
      case "whole":
        this.#showing.all();
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
      if (!(await saveAsFile(artifact, bytes, saving.signal))) throw gone();
      this.#say("Downloaded");
    } catch (error) {
      if (!saving.signal.aborted) this.#showing.fail(error);
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
      this.#say("It could not be copied: select it instead.");
    }
  }

  #say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }
}

if (customElements.get("sluice-viewer") === undefined) customElements.define("sluice-viewer", SluiceViewer);

declare global {
  interface HTMLElementTagNameMap {
    "sluice-viewer": SluiceViewer;
  }
}
