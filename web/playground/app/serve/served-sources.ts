/**
 * Sources of the server that the page comes from which are not connected here. Loaded where there is one.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Outcome } from "../../engine/contract.js";
import type { ServedSource } from "../../engine/serve/contract.js";
import { viewStyles } from "../shared-styles.js";
import type { View } from "../state.js";
import { ViewElement } from "../view.js";
import { nameOf } from "./name.js";

/** `<playground-served-sources>` */
export class ServedSources extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    isBusy: { attribute: false },
    tried: { attribute: false },
    signedIn: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
    `,
  ];

  /** Something is being connected. */
  declare isBusy: boolean;
  /** Shows what came of connecting, and then a view. */
  declare tried: (connecting: Promise<Outcome<null>>, view: View) => Promise<Outcome<null>>;
  /** Names of those that a person signed in to in this visit. */
  declare signedIn: ReadonlySet<string>;
  declare problem: string | undefined;

  constructor() {
    super();
    this.signedIn = new Set();
    this.problem = undefined;
  }

  override render(): TemplateResult | typeof nothing {
    const { serve, servers } = this.state;
    const others = serve?.sources.filter((source) => !servers.some(({ name }) => name === nameOf(source))) ?? [];
    if (others.length === 0) return nothing;
    return html`<div class="stack">
      <h3>At this page's server</h3>
      <ul>
        ${others.map((source) => html`<li class="row"><strong class="grow cut">${source.name}</strong>${this.#offer(source)}</li>`)}
      </ul>
      ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
    </div>`;
  }

  #offer(source: ServedSource): TemplateResult {
    const { name, has_mcp, asks_consent } = source;
    if (has_mcp) {
      return html`<button aria-label="Connect ${name}" ?disabled=${this.isBusy} @click=${() => this.#connect(source)}>
        Connect
      </button>`;
    }
    const isAsked = asks_consent && !this.signedIn.has(name);
    return html`<span class="soft">for its chat</span> ${
        isAsked
          ? html`<button aria-label="Sign in to ${name}" ?disabled=${this.isBusy} @click=${() => this.#signIn(source)}>
              Sign in
            </button>`
          : nothing
      }`;
  }

  #connect(source: ServedSource): void {
    const { serving } = this.actions;
    if (serving !== undefined) void this.tried(serving.connect(source), "tools");
  }

  /** The card that asks stands in the page. */
  async #signIn(source: ServedSource): Promise<void> {
    const { serving } = this.actions;
    if (serving === undefined) return;
    this.problem = undefined;
    const outcome = await this.tried(serving.signIn(source), "chat");
    if (outcome.ok) this.signedIn = new Set([...this.signedIn, source.name]);
    else this.problem = outcome.problem.message;
  }
}

customElements.define("playground-served-sources", ServedSources);
