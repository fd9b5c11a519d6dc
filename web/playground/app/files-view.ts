/**
 * My Files: what a person keeps and what tools made, and how much room there is.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { humanSize } from "mcp-sluice";
import "mcp-sluice/ui/artifact";
import { plainLines } from "mcp-sluice/ui/theme";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownFile } from "../engine/contract.js";
import "./file-versions.js";
import { categoriesOf, draftWords, factsOf, isAmong, ORIGINS, type FileFilter } from "./file-words.js";
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
    filter: { state: true },
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
        min-inline-size: 0;
        overflow-wrap: anywhere;
      }
      .draft {
        border-inline-start: 3px dashed var(--warn);
        padding-inline-start: 8px;
      }
      .draft ul {
        list-style: disc;
        padding-inline-start: 20px;
      }
      select {
        inline-size: auto;
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
  declare filter: FileFilter;
  declare shown: number;

  constructor() {
    super();
    this.renamed = undefined;
    this.filter = { query: "", origin: "", category: "" };
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
      ${this.state.serve === undefined ? nothing : this.#served()}
      <input type="file" hidden multiple @change=${this.#picked} />
    </div>`;
  }

  #served(): TemplateResult {
    void import("./serve/served-cards.js");
    return html`<playground-served .store=${this.store} .actions=${this.actions}></playground-served>`;
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
      <p>You have not kept anything yet: what you save from a result, and what tools make for you, stays here.</p>
      <button class="primary" @click=${() => this.actions.go("try")}>Find something to keep</button>
    </div>`;
  }

  #list(files: readonly ShownFile[]): TemplateResult {
    const found = files.filter((file) => isAmong(file, this.filter));
    return html`<div class="row">
        <input
          class="search"
          type="search"
          aria-label="Search my files"
          placeholder="Search my files"
          .value=${this.filter.query}
          @input=${(event: Event) => this.#narrow({ query: (event.target as HTMLInputElement).value })}
        />
        ${this.#choice("origin", "Every origin", ORIGINS)}
        ${this.#choice("category", "Every category", categoriesOf(files))}
      </div>
      <p class=${found.length === 0 ? "soft" : "unseen"} role="status">
        ${found.length === 0 ? "No file is like that." : `${found.length} of ${files.length} files`}
      </p>
      <ul
        class="cards"
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "files")}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "files", true)}
        @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.remove("files", detail.id)}
      >
        ${repeat(
          found.slice(0, this.shown),
          ({ id }) => id,
          (file) => html`<li>${this.#card(file)}${this.#facts(file)}${this.#draft(file)}${this.#name(file)}</li>`,
        )}
      </ul>
      ${found.length > this.shown ? html`<button @click=${() => (this.shown += PAGE)}>Show ${Math.min(PAGE, found.length - this.shown)} more</button>` : nothing}`;
  }

  #choice(
    key: "origin" | "category",
    all: string,
    values: readonly (readonly [value: string, name: string])[],
  ): TemplateResult | typeof nothing {
    if (values.length === 0) return nothing;
    return html`<select
      aria-label=${key === "origin" ? "Origin" : "Category"}
      @change=${(event: Event) => this.#narrow({ [key]: (event.target as HTMLSelectElement).value })}
    >
      <option value="">${all}</option>
      ${values.map(([value, name]) => html`<option value=${value} ?selected=${this.filter[key] === value}>${name}</option>`)}
    </select>`;
  }

  #narrow(change: Partial<FileFilter>): void {
    this.filter = { ...this.filter, ...change };
    this.shown = PAGE;
  }

  #facts(file: ShownFile): TemplateResult {
    const { description, category } = file;
    return html`<p class="soft">${factsOf(file)}</p>
      ${description === null ? nothing : html`<p>${plainLines(description)}</p>`}
      ${category === null ? nothing : html`<p><span class="chip">${plainLines(category)}</span></p>`}`;
  }

  #draft(file: ShownFile): TemplateResult | typeof nothing {
    if (file.draft === null) return nothing;
    const { next_actions: next } = file.draft;
    return html`<div class="draft">
      <p>${draftWords(file.draft)}</p>
      ${
        next.length === 0
          ? nothing
          : html`<p class="soft">What can be done next:</p>
              <ul>
                ${next.map((each) => html`<li>${plainLines(each)}</li>`)}
              </ul>`
      }
    </div>`;
  }

  #card(file: ShownFile): TemplateResult {
    return html`<sluice-artifact
      .artifact=${file}
      .bytes=${this.actions.bytesOf("files", file)}
      .actions=${ACTIONS}
    ></sluice-artifact>`;
  }

  #name(file: ShownFile): TemplateResult {
    const { id, filename, versions } = file;
    if (this.renamed !== id) {
      return html`<div class="row">
        <button class="plain" id=${`rename-${id}`} aria-label=${`Rename ${filename}`} @click=${() => this.#rename(id)}>
          Rename
        </button>
        ${
          versions === 1
            ? nothing
            : html`<playground-versions
                .store=${this.store}
                .actions=${this.actions}
                .file=${file}
              ></playground-versions>`
        }
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
