/**
 * All elements of `mcp-sluice/ui` in all of their states, for those who build with them and those who change them.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { directive, Directive, type ElementPart } from "lit/directive.js";
import { keyed } from "lit/directives/keyed.js";
import "../../../ui/index.js";
import { viewStyles } from "../styles.js";
import { type Tab, tabList, tabStyles } from "../tabs.js";
import { ViewElement } from "../view-element.js";
import { CARDS, FILES, LISTS, METERS, RESULTS } from "./element-samples.js";

type Part = "artifact" | "viewer" | "result" | "resources" | "meter";

const PARTS: readonly Tab<Part>[] = [
  ["artifact", "Artifact"],
  ["viewer", "Viewer"],
  ["result", "Result"],
  ["resources", "Resources"],
  ["meter", "Meter"],
];

/** What the elements tell. */
const EVENTS = ["preview", "save", "open", "delete", "fetch", "view", "select"].map((name) => `sluice-${name}`);

/** Sets properties once: what a person then does to the element stays. */
class Given extends Directive {
  #isSet = false;

  override render(_: object): typeof nothing {
    return nothing;
  }

  override update({ element }: ElementPart, [given]: [object]): typeof nothing {
    if (!this.#isSet) Object.assign(element, given);
    this.#isSet = true;
    return nothing;
  }
}

const give = directive(Given);

/** `<playground-elements>` */
class ElementsView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    tab: { state: true },
    said: { state: true },
    chosen: { state: true },
  };

  static override styles = [
    viewStyles,
    tabStyles,
    css`
      :host {
        display: block;
        padding: 24px 32px 48px;
      }
      .states {
        align-items: start;
        display: grid;
        gap: 32px 24px;
        grid-template-columns: repeat(auto-fill, minmax(min(var(--least, 320px), 100%), 1fr));
      }
      figure {
        display: flex;
        flex-direction: column;
        gap: 8px;
        margin: 0;
        min-inline-size: 0;
      }
      figcaption {
        color: var(--text-soft);
        font-size: var(--size-small);
        font-weight: 600;
      }
      .half {
        --least: 440px;
      }
      .half sluice-viewer,
      .half sluice-resources {
        block-size: 360px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        overflow: auto;
      }
      .half sluice-resources {
        padding: 12px;
      }
      .said {
        color: var(--text-soft);
        font-family: var(--font-code);
        font-size: var(--size-small);
        min-block-size: 1.5em;
        overflow-wrap: anywhere;
      }
      @media (max-width: 1099px) {
        :host {
          padding: 16px;
        }
      }
      @media (max-width: 640px) {
        .tabs button {
          padding-inline: 8px;
        }
      }
    `,
  ];

  declare tab: Part;
  /** The last event. */
  declare said: string;
  /** The result that is shown: their parts are landmarks, of which a page has each once. */
  declare chosen: number;

  constructor() {
    super();
    this.tab = "artifact";
    this.said = "";
    this.chosen = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const name of EVENTS) this.addEventListener(name, this.#onEvent);
  }

  override render(): TemplateResult {
    const { tab } = this;
    return html`<div class="stack">
      <h2 class="title">Elements</h2>
      <p class="soft">
        The parts of this page that any frontend can use, from <code>mcp-sluice/ui</code>, each in all of its states.
      </p>
      ${tabList("Elements", PARTS, tab, (part) => this.#show(part))}
      <div id=${`panel-${tab}`} role="tabpanel" aria-labelledby=${`tab-${tab}`} class="stack">
        <p class="said" role="status">
          ${this.said === "" ? `<sluice-${tab}> tells here what you do to it.` : this.said}
        </p>
        ${this.#states()}
      </div>
    </div>`;
  }

  #states(): TemplateResult {
    switch (this.tab) {
      case "artifact":
        return grid(
          "",
          CARDS.map(([state, sample, given]) => [
            state,
            html`<sluice-artifact ${give({ ...sample, ...given })}></sluice-artifact>`,
          ]),
        );
      case "viewer":
        return grid(
          "half",
          FILES.map(([state, sample]) => [state, html`<sluice-viewer ${give(sample)}></sluice-viewer>`]),
        );
      case "result":
        return this.#result();
      case "resources":
        return grid(
          "half",
          LISTS.map(([state, given]) => [state, html`<sluice-resources ${give(given)}></sluice-resources>`]),
        );
      default:
        return grid(
          "half",
          METERS.map(([state, given]) => [state, html`<sluice-meter ${give(given)}></sluice-meter>`]),
        );
    }
  }

  #result(): TemplateResult {
    const [, given = {}] = RESULTS[this.chosen] ?? [];
    return html`<div class="row" role="group" aria-label="State">
        ${RESULTS.map(
          ([state], at) =>
            html`<button aria-pressed=${at === this.chosen} @click=${() => (this.chosen = at)}>${state}</button>`,
        )}
      </div>
      ${keyed(this.chosen, html`<sluice-result ${give(given)}></sluice-result>`)}`;
  }

  #show(tab: Part): void {
    this.tab = tab;
    this.said = "";
  }

  readonly #onEvent = (event: Event): void => {
    const { detail } = event as CustomEvent<string | { readonly filename?: string | null } | undefined>;
    const about = typeof detail === "object" ? detail.filename : detail;
    this.said = `${event.type}: ${about ?? ""}`;
  };
}

/** States beside each other, as many as fit; each is new with its element. */
function grid(kind: string, states: readonly (readonly [name: string, shown: TemplateResult])[]): TemplateResult {
  return html`<div class="states ${kind}">
    ${states.map(
      ([name, shown]) =>
        html`<figure>
          <figcaption>${name}</figcaption>
          ${shown}
        </figure>`,
    )}
  </div>`;
}

customElements.define("playground-elements", ElementsView);
