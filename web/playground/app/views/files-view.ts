/**
 * My Files: what a person saved and what tools made, each with its versions, and how much space is used.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import "../../../ui/artifact.js";
import "../../../ui/thumbnail.js";
import "../pdf.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import { repeat } from "lit/directives/repeat.js";
import { humanSize } from "mcp-sluice";
import { ButtonList } from "../../../ui/button-list.js";
import type { DrawnItem } from "../../../ui/long-list.js";
import { plainLines } from "../../../ui/plain-text.js";
import { Wide } from "../../../ui/wide.js";
import type { ShownFile } from "../../engine/messages.js";
import { viewStyles } from "../styles.js";
import { textIn, ViewElement } from "../view-element.js";

const VERSION_ACTIONS = ["preview", "download"] as const;

/** `<playground-versions>`: the versions of a file, loaded when they are shown. */
class FileVersions extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    file: { attribute: false },
    found: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      li {
        padding-block: 2px;
      }
    `,
  ];

  declare file: ShownFile;
  declare found: readonly ShownFile[] | undefined;
  declare problem: string;

  constructor() {
    super();
    this.found = undefined;
    this.problem = "";
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("file");
    if (before !== undefined && before.id !== this.file.id) this.found = undefined;
  }

  override render(): TemplateResult {
    const { found, file } = this;
    return html`<button
        class="plain"
        aria-expanded=${found !== undefined}
        aria-label="Versions of ${file.filename}"
        @click=${this.#toggle}
      >
        Versions
      </button>
      ${this.problem === "" ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      ${
        found === undefined
          ? nothing
          : html`<ul>
              ${found.map((version) => this.#version(version))}
            </ul>`
      }`;
  }

  #version(version: ShownFile): TemplateResult {
    return html`<li
      @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail, "files")}
    >
      <sluice-artifact
        compact
        .artifact=${version}
        .bytes=${this.actions.bytesOf("files", version)}
        .actions=${VERSION_ACTIONS}
      ></sluice-artifact>
      <span class="soft">${version.origin}, ${new Date(version.stored_at).toLocaleString()}</span>
    </li>`;
  }

  async #toggle(): Promise<void> {
    this.problem = "";
    if (this.found !== undefined) {
      this.found = undefined;
      return;
    }
    const outcome = await this.actions.engine.versions(this.file.id);
    if (outcome.ok) this.found = outcome.value;
    else this.problem = outcome.problem.message;
  }
}

customElements.define("playground-versions", FileVersions);

const ACTIONS = ["preview", "download", "copy", "open", "delete"] as const;
/** Of more files, those in view are drawn. */
const FEW = 30;
/** The height of a file in the list, in pixels. */
const HEIGHT = 66;

/** `<playground-files>` */
export class FilesView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    chosen: { state: true },
    renamed: { state: true },
    filter: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 24px 32px 48px;
      }
      @media (max-width: 1099px) {
        :host {
          padding: 16px;
        }
      }
      .wide {
        align-items: start;
        display: grid;
        gap: 32px;
        grid-template-columns: 320px minmax(0, 1fr);
      }
      .list .file {
        align-items: center;
        column-gap: 12px;
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        overflow-wrap: anywhere;
      }
      .file sluice-thumbnail {
        block-size: 48px;
        grid-row: span 2;
        inline-size: 48px;
      }
      .file .name {
        align-self: end;
        font-weight: 600;
      }
      .file .soft {
        align-self: start;
        font-size: var(--size-small);
      }
      .work {
        --sluice-artifact-picture: 300px;
        display: flex;
        flex-direction: column;
        gap: 8px;
        max-inline-size: 720px;
        min-inline-size: 0;
        overflow-wrap: anywhere;
      }
      .wide .work {
        inset-block-start: 0;
        position: sticky;
      }
      li > .work {
        --sluice-artifact-picture: 200px;
        padding-block: 4px 16px;
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

  /** The id of the file that is shown; in a wide view, the first one otherwise. */
  declare chosen: string | undefined;
  readonly #wide = new Wide(this);
  readonly #long = new ButtonList(this, { few: FEW, height: HEIGHT });
  /** The id of the file that is being renamed. */
  declare renamed: string | undefined;
  declare filter: FileFilter;

  constructor() {
    super();
    this.chosen = undefined;
    this.renamed = undefined;
    this.filter = { query: "", origin: "", category: "" };
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.actions.loadFiles();
  }

  override render(): TemplateResult {
    const { files } = this.state;
    return html`<div class="stack">
      <div class="row">
        <h2 class="title grow">My Files</h2>
        ${files.length === 0 ? nothing : this.#space()}
        <button class="primary" @click=${this.#pick}>Add files</button>
        ${this.#archive(files)}
        <button @click=${this.#end}>End session</button>
      </div>
      ${files.length === 0 ? this.#empty() : this.#list(files)}
      ${this.state.serve === undefined ? nothing : this.#renderServed()}
      <input type="file" hidden multiple @change=${this.#onPick} />
    </div>`;
  }

  #renderServed(): TemplateResult {
    return html`<playground-served .store=${this.store} .actions=${this.actions}></playground-served>`;
  }

  #space(): TemplateResult {
    const { used, quota } = this.state.space;
    const words = quota === 0 ? humanSize(used) : `This page uses ${humanSize(used)} of ${humanSize(quota)}`;
    return html`<span class="row soft"
      ><meter min="0" max=${Math.max(1, quota)} .value=${used} aria-hidden="true"></meter>
      <span class="unseen">Storage: </span><span>${words}</span></span
    >`;
  }

  #archive(files: readonly ShownFile[]): TemplateResult | typeof nothing {
    const href = this.actions.archiveHref();
    if (files.length === 0 || href === undefined) return nothing;
    return html`<a class="button" href=${href}>Download all as a ZIP</a>`;
  }

  #empty(): TemplateResult {
    return html`<div class="empty">
      <p>You have no files yet: save one from a result, add your own, or have a tool make one.</p>
      <button @click=${() => this.actions.go("try")}>Run a tool</button>
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
        ${this.#choice("origin", "All origins", ORIGINS)}
        ${this.#choice("category", "All categories", listCategories(files))}
      </div>
      <p class=${found.length === 0 ? "soft" : "unseen"} role="status">
        ${found.length === 0 ? "No file matches." : `${found.length} of ${files.length} ${files.length === 1 ? "file" : "files"}`}
      </p>
      <div
        class=${this.#wide.isWide ? "wide" : ""}
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail, "files")}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail, "files", true)}
        @sluice-delete=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.remove("files", detail.id)}
      >
        ${this.#both(found)}
      </div>`;
  }

  /** The list, and the chosen file beside it, or below its line. */
  #both(found: readonly ShownFile[]): TemplateResult {
    const chosen = found.find(({ id }) => id === this.chosen) ?? (this.#wide.isWide ? found[0] : undefined);
    const items = this.#long.items(found.length, (index) => found[index]?.id ?? index);
    return html`<ul class="list" aria-label="Files" .style=${this.#long.style} @keydown=${this.#long.onKey}>
        ${repeat(
          items,
          ({ index }) => found[index]?.id,
          (item) => this.#item(found, item, chosen),
        )}
      </ul>
      ${
        this.#wide.isWide && chosen !== undefined
          ? html`<section class="work" aria-label=${chosen.filename}>${this.#work(chosen)}</section>`
          : nothing
      }`;
  }

  #item(found: readonly ShownFile[], { index, style }: DrawnItem, chosen: ShownFile | undefined): TemplateResult {
    const file = found[index] as ShownFile;
    const isChosen = file === chosen;
    const { id, filename, size_bytes: size } = file;
    const facts = [size === undefined ? "" : humanSize(size), describeFile(file)];
    return html`<li data-index=${index} aria-setsize=${found.length} aria-posinset=${index + 1} .style=${style}>
      <button
        class="file"
        aria-current=${this.#wide.isWide ? isChosen : nothing}
        aria-expanded=${this.#wide.isWide ? nothing : isChosen}
        @click=${() => (this.chosen = isChosen && !this.#wide.isWide ? undefined : id)}
      >
        <sluice-thumbnail .artifact=${file} .bytes=${this.actions.bytesOf("files", file)}></sluice-thumbnail>
        <bdi class="name">${plainLines(filename)}</bdi>
        <span class="soft">${facts.filter((fact) => fact !== "").join(" · ")}</span>
      </button>
      ${isChosen && !this.#wide.isWide ? html`<div class="work opened">${this.#work(file)}</div>` : nothing}
    </li>`;
  }

  #work(file: ShownFile): TemplateResult {
    return html`${this.#card(file)}${this.#facts(file)}${this.#draft(file)}${this.#name(file)}`;
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
  }

  #facts(file: ShownFile): TemplateResult {
    const { description, category } = file;
    return html`${description === null ? nothing : html`<p>${plainLines(description)}</p>`}
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
          : html`<p class="soft">Next steps:</p>
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
    return html`<form class="row" @submit=${(event: SubmitEvent) => this.#onRename(event, id)}>
      <input class="grow" name="name" aria-label="New name" required maxlength="255" .value=${filename} />
      <button class="primary">Rename</button>
      <button type="button" @click=${() => this.#put(id)}>Cancel</button>
    </form>`;
  }

  #rename(id: string): void {
    this.renamed = id;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLInputElement>("input[name=name]")?.select());
  }

  #onRename(event: SubmitEvent, id: string): void {
    event.preventDefault();
    const name = textIn(event.target as HTMLFormElement, "name").trim();
    this.#put(id);
    if (name !== "") void this.actions.rename(id, name);
  }

  /** Closes the form and returns the focus to its button. */
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

  #onPick(event: Event): void {
    const field = event.target as HTMLInputElement;
    void this.actions.keep([...(field.files ?? [])]);
    field.value = "";
  }
}

customElements.define("playground-files", FilesView);

/** Origins of files, in words. */
const ORIGINS: readonly (readonly [value: ShownFile["origin"], name: string])[] = [
  ["uploaded", "Uploaded"],
  ["generated", "Generated"],
  ["deferred", "Drafts"],
];

/** The filter of the list; empty values match every file. */
interface FileFilter {
  readonly query: string;
  readonly origin: string;
  readonly category: string;
}

const REASONS: Readonly<Record<string, string>> = {
  needs_editing: "it needs editing",
  draft: "it is a first version",
  incomplete: "it is not complete",
  awaiting_approval: "it waits for approval",
};

/** Whether a file matches the filter. */
function isAmong(file: ShownFile, { query, origin, category }: FileFilter): boolean {
  const words = `${file.filename} ${file.description ?? ""}`.toLowerCase();
  if (!words.includes(query.toLowerCase())) return false;
  return (origin === "" || file.origin === origin) && (category === "" || file.category === category);
}

/** The distinct categories, sorted. */
function listCategories(files: readonly ShownFile[]): readonly (readonly [value: string, name: string])[] {
  const found = new Set(files.map(({ category }) => category).filter((category) => category !== null));
  return [...found].toSorted().map((category) => [category, plainLines(category)]);
}

/** `generated on 8/27/2024 · 1,200 rows · 3 versions`. The card shows the size. */
function describeFile({ origin, stored_at, facts, versions }: ShownFile): string {
  const on = new Date(stored_at).toLocaleDateString();
  const said = [`${origin === "deferred" ? "draft of" : `${origin} on`} ${on}`, facts ?? ""];
  return [...said, versions > 1 ? `${versions} versions` : ""].filter((part) => part !== "").join(" · ");
}

/** Why the file is a draft, and when it expires. */
function draftWords({ reason, expires_at }: NonNullable<ShownFile["draft"]>): string {
  const why = reason === null ? "" : `: ${REASONS[reason] ?? plainLines(reason)}`;
  return `A draft${why}. It is deleted on ${new Date(expires_at).toLocaleString()}.`;
}
