/**
 * My Files: what a person keeps, and how much room there is.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import "mcp-sluice/ui/artifact";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownFile } from "../engine/contract.js";
import { textIn } from "./form-text.js";
import { cards, viewStyles } from "./shared-styles.js";
import { ViewElement } from "./view.js";

const ACTIONS = ["preview", "download", "copy", "open", "delete"] as const;
/** Files that are shown at a time. */
const PAGE = 100;

/** `<playground-files>` */
export class FilesView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    renamed: { state: true },
    query: { state: true },
    shown: { state: true },
  };
  static override styles = [
    viewStyles,
    cards,
    css`
      :host {
        display: block;
        padding: 16px;
      }
      .cards > li {
        display: flex;
        flex-direction: column;
        gap: 4px;
      }
      meter {
        inline-size: 160px;
      }
      .search {
        max-inline-size: 260px;
      }
    `,
  ];

  /** The id of the file that is given another name. */
  declare renamed: string | undefined;
  declare query: string;
  declare shown: number;

  constructor() {
    super();
    this.renamed = undefined;
    this.query = "";
    this.shown = PAGE;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.actions.lookAtFiles();
  }

  override render(): TemplateResult {
    const { files } = this.state;
    return html`<div class="stack">
      <div class="row">
        <h2 class="grow">My Files</h2>
        ${this.#space()}
        <button @click=${this.#pick}>Add files</button>
        ${this.#archive(files)}
        <button @click=${this.#end}>End session</button>
      </div>
      ${files.length === 0 ? this.#empty() : this.#list(files)}
      <input type="file" hidden multiple @change=${this.#picked} />
    </div>`;
  }

  #space(): TemplateResult {
    const { used, quota } = this.state.space;
    const words = quota === 0 ? humanSize(used) : `${humanSize(used)} of ${humanSize(quota)} used`;
    return html`<span class="row soft"
      ><meter min="0" max=${Math.max(1, quota)} .value=${used} aria-label="Storage used"></meter>${words}</span
    >`;
  }

  #archive(files: readonly ShownFile[]): TemplateResult | typeof nothing {
    const href = this.actions.archiveHref();
    if (files.length === 0 || href === undefined) return nothing;
    return html`<a class="button" href=${href}>Download all as a ZIP</a>`;
  }

  #empty(): TemplateResult {
    return html`<div class="empty">
      <p>You have not kept anything yet: what you save from a result stays here until you delete it.</p>
      <button class="primary" @click=${() => this.actions.go("try")}>Find something to keep</button>
    </div>`;
  }

  #list(files: readonly ShownFile[]): TemplateResult {
    const query = this.query.toLowerCase();
    const found = files.filter(({ filename }) => filename.toLowerCase().includes(query)).toReversed();
    return html`<input
        class="search"
        type="search"
        aria-label="Search my files"
        placeholder="Search my files"
        .value=${this.query}
        @input=${(event: Event) => (this.query = (event.target as HTMLInputElement).value)}
      />
      <ul
        class="cards"
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "files")}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "files", true)}
        @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.remove("files", detail.id)}
      >
        ${found.slice(0, this.shown).map((file) => html`<li>${this.#card(file)}${this.#name(file)}</li>`)}
      </ul>
      ${found.length > this.shown ? html`<button @click=${() => (this.shown += PAGE)}>Show ${Math.min(PAGE, found.length - this.shown)} more</button>` : nothing}`;
  }

  #card(file: ShownFile): TemplateResult {
    return html`<sluice-artifact
      .artifact=${file}
      .bytes=${this.actions.bytesOf("files", file)}
      .actions=${ACTIONS}
    ></sluice-artifact>`;
  }

  #name({ id, filename }: ShownFile): TemplateResult {
    if (this.renamed !== id) {
      return html`<div class="row">
        <button class="plain" id=${`rename-${id}`} aria-label=${`Rename ${filename}`} @click=${() => this.#rename(id)}>
          Rename
        </button>
      </div>`;
    }
    return html`<form class="row" @submit=${(event: SubmitEvent) => this.#renamed(event, id)}>
      <input class="grow" name="name" aria-label="New name" required maxlength="255" .value=${filename} />
      <button class="primary">Rename</button>
      <button type="button" @click=${() => this.#put(id)}>Cancel</button>
    </form>`;
  }

  #rename(id: string): void {
    this.renamed = id;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLInputElement>("input[name=name]")?.select());
  }

  #renamed(event: SubmitEvent, id: string): void {
    event.preventDefault();
    const name = textIn(event.target as HTMLFormElement, "name").trim();
    this.#put(id);
    if (name !== "") void this.actions.rename(id, name);
  }

  /** Takes the form away; whoever was in it is where they opened it. */
  #put(id: string): void {
    this.renamed = undefined;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#rename-${id}`)?.focus());
  }

  #end(): void {
    this.dispatchEvent(new CustomEvent("playground-end", { bubbles: true, composed: true }));
  }

  #pick(): void {
    this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click();
  }

  #picked(event: Event): void {
    const field = event.target as HTMLInputElement;
    void this.actions.keep([...(field.files ?? [])]);
    field.value = "";
  }
}

customElements.define("playground-files", FilesView);
