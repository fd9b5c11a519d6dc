/**
 * A paused call: it waits for a sign-in, for a page to be opened, for an answer, or for that of a model.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { ShownPause } from "../../engine/messages.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import type { ArgumentsForm } from "./arguments-form.js";
import "./arguments-form.js";
import type { SamplingCard } from "./sampling-card.js";

/** Milliseconds before a sign-in expires. */
const LIFE = 10 * 60_000;

/** `<playground-pause>` */
export class PauseCard extends ViewElement {
  static override properties = { ...ViewElement.properties, pause: { attribute: false } };
  static override styles = [
    viewStyles,
    css`
      .panel {
        border-color: var(--accent);
      }
      .address {
        font-family: var(--font-code);
        overflow-wrap: anywhere;
      }
    `,
  ];

  declare pause: ShownPause;
  readonly #until = Date.now() + LIFE;
  #clock: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#clock = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#clock);
  }

  /** Focuses the first field or button. */
  async reach(): Promise<void> {
    await this.updateComplete;
    const sampling = this.renderRoot.querySelector<SamplingCard>("playground-sampling");
    if (sampling !== null) {
      await import("./sampling-card.js");
      await sampling.updateComplete;
      return sampling.focus();
    }
    const form = this.renderRoot.querySelector<ArgumentsForm>("playground-arguments");
    await form?.updateComplete;
    const field = form?.renderRoot.querySelector<HTMLElement>("input, select, textarea");
    (field ?? this.renderRoot.querySelector<HTMLElement>("button"))?.focus();
  }

  override render(): TemplateResult {
    const { payload } = this.pause;
    return html`<section class="panel stack" role="group" aria-label="A call is waiting for you">
      ${this.#renderQuestion(payload["pause_type"])}
    </section>`;
  }

  #renderQuestion(kind: unknown): TemplateResult {
    if (kind === "elicitation") return this.#question();
    if (kind !== "sampling") return this.#page();
    const { store, actions, pause } = this;
    void import("./sampling-card.js");
    return html`<playground-sampling .store=${store} .actions=${actions} .pause=${pause}></playground-sampling>`;
  }

  #page(): TemplateResult {
    const { server, payload } = this.pause;
    const isConsent = payload["pause_type"] === "oauth";
    const address = text(isConsent ? payload["auth_url"] : payload["url"]);
    const host = URL.canParse(address) ? new URL(address).host : "";
    const left = Math.max(0, Math.round((this.#until - Date.now()) / 1000));
    const open = (event: Event): void => this.#open(event, address, isConsent);
    return html`
      <p>
        <strong>${server}</strong>
        ${isConsent ? html`asks you to sign in at <strong>${host}</strong>.` : html`asks you to open a page of <strong>${host}</strong>.`}
        ${text(payload["message"])}
      </p>
      ${isConsent ? nothing : html`<p class="address" aria-label="Address">${address}</p>`}
      <div class="row">
        <button class="primary" @click=${open}>${isConsent ? "Authorise" : "Open the page"}</button>
        <button @click=${() => this.actions.answer(this.pause.id, null)}>${isConsent ? "Cancel" : "Decline"}</button>
        ${isConsent ? html`<span class="soft" role="timer">${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left</span>` : nothing}
      </div>
    `;
  }

  #question(): TemplateResult {
    const { server, payload } = this.pause;
    return html`
      <p><strong>${server}</strong> asks: ${text(payload["message"])}</p>
      <playground-arguments .schema=${payload["schema"]}>
        <button class="primary" @click=${this.#answer}>Answer</button>
        <button @click=${() => this.actions.answer(this.pause.id, null)}>Decline</button>
      </playground-arguments>
    `;
  }

  /** Opens the page that the server names, for a person's click only. */
  #open({ isTrusted }: Event, address: string, isConsent: boolean): void {
    if (!isTrusted || !/^https?:/.test(address)) return;
    // The callback page answers through a BroadcastChannel, so the window needs no opener.
    window.open(address, "_blank", "noopener,width=560,height=720");
    if (!isConsent) this.actions.answer(this.pause.id, undefined);
  }

  #answer(): void {
    const form = this.renderRoot.querySelector<ArgumentsForm>("playground-arguments");
    const value = form?.read();
    if (value !== undefined) this.actions.answer(this.pause.id, value);
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

customElements.define("playground-pause", PauseCard);
