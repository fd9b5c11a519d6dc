/**
 * `<sluice-artifact>`: an artifact as a card, or as one line.
 * @module
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import fetchIcon from "lucide-static/icons/cloud-download.svg?raw";
import info from "lucide-static/icons/info.svg?raw";
import { ACTIONS, type ArtifactAction, DEFAULT_ACTIONS, Menu, type MenuItem, menuStyles } from "./artifact/menu.js";
import { downloadAddress, saveAsFile } from "./download.js";
import {
  nameArtifact,
  notes,
  describeOrigin,
  type Problem,
  provenance,
  question,
  refTo,
  formatArtifactSize,
  status,
  describeType,
} from "./artifact/parts.js";
import { styles } from "./artifact/styles.js";
import { icon } from "./icons.js";
import { defineElements } from "./registry.js";
import { type ArtifactBytes, type ArtifactEvents, isStored, type ShownArtifact } from "./shown.js";
import { baseStyles, themeTokens } from "./theme.js";
import "./thumbnail.js";

/** Milliseconds that a confirmation is shown. */
const SAID = 4_000;

/**
 * An artifact: a picture of it, name, type, decoded size, the call it came from, and its actions. Downloads, and copies the ref, by
 * itself.
 *
 * @element sluice-artifact
 * @fires {CustomEvent<ShownArtifact>} sluice-preview - Show its preview.
 * @fires {CustomEvent<ShownArtifact>} sluice-save - Keep it in My Files.
 * @fires {CustomEvent<ShownArtifact>} sluice-open - Show it at large.
 * @fires {CustomEvent<ShownArtifact>} sluice-delete - Delete it.
 * @fires {CustomEvent<ShownArtifact>} sluice-fetch - Get it, since it is deferred.
 * @csspart card - The card.
 * @csspart line - The line, where it is compact.
 * @csspart picture - Its picture or icon.
 * @csspart name - Its name.
 * @csspart actions - The row of actions.
 * @cssprop [--sluice-artifact-picture=132px] - Height of the picture of a card.
 */
export class SluiceArtifact extends LitElement {
  /** @hidden */
  static override properties = {
    artifact: { attribute: false },
    bytes: { attribute: false },
    actions: { attribute: false },
    compact: { type: Boolean, reflect: true },
  };
  /** @hidden */
  static override styles = [themeTokens, baseStyles, styles, menuStyles];

  /** The artifact to show. */
  declare artifact: ShownArtifact | undefined;
  /** Its bytes. Without them no download is offered, and an icon stands in the place of a picture. */
  declare bytes: ArtifactBytes | undefined;
  /** The actions on offer, in order. The first is a button with its name, a download one with an icon; the others are in a menu. */
  declare actions: readonly ArtifactAction[];
  /** Shows one line with a menu instead of a card. */
  declare compact: boolean;

  readonly #menu: Menu = new Menu(this);
  #isAsking = false;
  #isTelling = false;
  #said = "";
  #forgetting: ReturnType<typeof setTimeout> | undefined;
  #problem: Problem | undefined;
  #download: AbortController | undefined;

  constructor() {
    super();
    this.artifact = undefined;
    this.bytes = undefined;
    this.actions = DEFAULT_ACTIONS;
    this.compact = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#forget();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("artifact");
    if (before !== undefined && before.id !== this.artifact?.id) this.#forget();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { artifact } = this;
    if (artifact === undefined) return nothing;
    return this.compact ? this.#chip(artifact) : this.#card(artifact);
  }

  #card(artifact: ShownArtifact): TemplateResult {
    const facts = [
      describeType(artifact),
      formatArtifactSize(artifact),
      describeOrigin(artifact),
      describeState(artifact),
    ];
    const isSeen = this.#listOffered(artifact).includes("preview");
    return html`<article
      part="card"
      class="card ${artifact.deferred === true ? "deferred" : ""}"
      aria-labelledby="name"
    >
      <sluice-thumbnail
        part="picture"
        class=${isSeen ? "seen" : ""}
        .artifact=${artifact}
        .bytes=${this.bytes}
        @click=${isSeen ? this.#preview : nothing}
      ></sluice-thumbnail>
      <div class="head">
        <p part="name" class="name" id="name"><bdi>${nameArtifact(artifact)}</bdi></p>
        <p class="soft">${facts.filter((fact) => fact !== undefined).join(" · ")}</p>
      </div>
      ${notes(artifact, this.#problem)}
      <div part="actions" class="row">
        ${this.#isAsking ? question(artifact, this.#answer) : this.#buttons(artifact)}${status(this.#said)}
      </div>
      ${this.#isTelling ? provenance(artifact) : nothing}
    </article>`;
  }

  #chip(artifact: ShownArtifact): TemplateResult {
    const name = nameArtifact(artifact);
    const offered = this.#listOffered(artifact);
    const facts = [formatArtifactSize(artifact), describeState(artifact)]
      .filter((fact) => fact !== undefined)
      .join(" · ");
    return html`<span
        part="line"
        class="chip ${artifact.deferred === true ? "deferred" : ""}"
        role="group"
        aria-label=${`${name}, ${describeType(artifact)}`}
      >
        <sluice-thumbnail part="picture" .artifact=${artifact} .bytes=${this.bytes}></sluice-thumbnail>
        ${
          offered.includes("preview")
            ? html`<button
                type="button"
                part="name"
                class="name"
                id="preview"
                aria-label=${`Preview ${name}`}
                @click=${this.#preview}
              >
                <bdi>${name}</bdi>
              </button>`
            : html`<span part="name" class="name"><bdi>${name}</bdi></span>`
        }
        <span class="soft">${facts}</span>
        ${this.#isAsking ? html`<span class="row">${question(artifact, this.#answer)}</span>` : nothing}
        ${artifact.deferred === true ? this.#fetchButton(name) : nothing}
        ${offered.length > 0 && !this.#isAsking ? this.#menu.render(this.#entries(artifact, offered), name) : nothing}
        ${status(this.#said)} </span
      >${notes(artifact, this.#problem)}`;
  }

  #buttons(artifact: ShownArtifact): TemplateResult {
    const name = nameArtifact(artifact);
    const [main, ...others] = this.#listOffered(artifact);
    const rest = others.filter((action) => action !== "download");
    const isTelling = this.#isTelling;
    const known: MenuItem = { label: isTelling ? "Hide provenance" : "Provenance", icon: info, run: this.#tellMore };
    return html`${artifact.deferred === true ? this.#fetchButton(name) : nothing}
    ${main === undefined ? nothing : this.#button(artifact, main, name)}
    ${others.includes("download") ? this.#button(artifact, "download", name, true) : nothing}
    ${this.#menu.render([...this.#entries(artifact, rest), known], name)}`;
  }

  #button(artifact: ShownArtifact, action: ArtifactAction, name: string, isIcon = false): TemplateResult {
    const { label, icon: source } = ACTIONS[action];
    const href = action === "download" ? this.bytes?.href : undefined;
    if (href !== undefined) {
      // No `download` attribute: with it the browser bypasses the service worker.
      return html`<a
        class="button ${isIcon ? "plain" : "main"}"
        id="download"
        href=${downloadAddress(href)}
        aria-label=${`${label}: ${name}`}
        >${icon(source)}${isIcon ? nothing : label}</a
      >`;
    }
    const isUnderWay = action === "download" && this.#download !== undefined;
    const words = isUnderWay ? "Preparing…" : isIcon ? nothing : label;
    return html`<button
      type="button"
      class=${isIcon ? "plain" : "main"}
      id=${action}
      aria-label=${`${label}: ${name}`}
      aria-disabled=${isUnderWay}
      @click=${() => this.#act(action)}
    >
      ${icon(source)}${words}
    </button>`;
  }

  #fetchButton(name: string): TemplateResult {
    const ask = (): void => this.#tell("sluice-fetch");
    return html`<button type="button" id="fetch" aria-label=${`Fetch: ${name}`} @click=${ask}>
      ${icon(fetchIcon)}Fetch
    </button>`;
  }

  #entries(artifact: ShownArtifact, actions: readonly ArtifactAction[]): readonly MenuItem[] {
    return actions.map((action) => {
      const href = action === "download" ? this.bytes?.href : undefined;
      return {
        ...ACTIONS[action],
        ...(href === undefined ? { run: () => this.#act(action) } : { href: downloadAddress(href) }),
      };
    });
  }

  /** The requested actions that are possible. */
  #listOffered(artifact: ShownArtifact): readonly ArtifactAction[] {
    if (artifact.deferred === true || !isStored(artifact)) return [];
    return [...new Set(this.actions)].filter(
      (action) => Object.hasOwn(ACTIONS, action) && (action !== "download" || this.bytes !== undefined),
    );
  }

  readonly #preview = (): void => this.#act("preview");

  /** Shows where the artifact came from, or hides it again. */
  readonly #tellMore = (): void => {
    this.#isTelling = !this.#isTelling;
    void this.#focusNext(this.#isTelling ? "#provenance" : "#more");
  };

  #act(action: ArtifactAction): void {
    this.#problem = undefined;
    if (action === "copy") return void this.#copy();
    if (action === "download") return void this.#save();
    if (action === "delete") return this.#ask();
    this.#tell(EVENTS[action]);
  }

  #tell(name: keyof ArtifactEvents): void {
    this.dispatchEvent(new CustomEvent(name, { detail: this.artifact, bubbles: true, composed: true }));
  }

  async #copy(): Promise<void> {
    if (this.artifact === undefined) return;
    const ref = refTo(this.artifact);
    try {
      await navigator.clipboard.writeText(ref);
      this.#say("Copied");
    } catch {
      this.#fail({ sentence: "The browser blocked copying: copy it by hand.", ref });
    }
  }

  async #save(): Promise<void> {
    const { artifact, bytes } = this;
    if (artifact === undefined || bytes === undefined || this.#download !== undefined) return;
    const ending = new AbortController();
    this.#download = ending;
    this.requestUpdate();
    const retry = (): void => this.#act("download");
    let problem: Problem | undefined;
    try {
      if (!(await saveAsFile(artifact, bytes, ending.signal))) problem = { sentence: "It has expired or was deleted." };
    } catch {
      problem = { sentence: "Its bytes could not be read.", retry };
    }
    if (this.#download !== ending) return;
    this.#download = undefined;
    if (problem === undefined) this.#say("Saved as a file");
    else this.#fail(problem);
  }

  #ask(): void {
    this.#isAsking = true;
    void this.#focusNext("#no");
  }

  /** Keeps the focus in the card. */
  readonly #answer = (isYes: boolean): void => {
    this.#isAsking = false;
    if (isYes) this.#tell("sluice-delete");
    void this.#focusNext("#delete, #more");
  };

  async #focusNext(selector: string): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(selector)?.focus();
  }

  #say(sentence: string): void {
    this.#said = sentence;
    this.requestUpdate();
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => {
      this.#said = "";
      this.requestUpdate();
    }, SAID);
  }

  #fail(problem: Problem): void {
    this.#problem = problem;
    this.requestUpdate();
  }

  /** Resets what belongs to the previous artifact. */
  #forget(): void {
    clearTimeout(this.#forgetting);
    this.#download?.abort();
    this.#download = undefined;
    this.#isAsking = false;
    this.#isTelling = false;
    this.#said = "";
    this.#problem = undefined;
  }
}

/** The events of actions that the page performs. */
const EVENTS = { preview: "sluice-preview", save: "sluice-save", open: "sluice-open" } as const;

function describeState(artifact: ShownArtifact): string | undefined {
  if (artifact.deferred === true) return "not fetched yet";
  return isStored(artifact) ? undefined : "not stored";
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-artifact": SluiceArtifact;
  }
}

defineElements({ "sluice-artifact": SluiceArtifact });
