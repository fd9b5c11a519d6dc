/**
 * A server asks a model (MCP, "Sampling"): what it says, and the answer that a person writes, or has the chat's model write.
 * Loaded with the first question.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Endpoint } from "../../engine/chat/messages.js";
import type { ShownPause, ShownSampling } from "../../engine/messages.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import { messageStyles, promptMessages } from "./prompt-messages.js";

/** Characters that the library takes of an answer. */
const MAX_ANSWER = 65_536;

/** `<playground-sampling>` */
export class SamplingCard extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    pause: { attribute: false },
    endpoint: { state: true },
    answer: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  static override styles = [
    viewStyles,
    messageStyles,
    css`
      .messages {
        max-block-size: 32dvh;
        overflow: auto;
      }
      .wanted {
        overflow-wrap: anywhere;
      }
      textarea {
        max-block-size: 20dvh;
      }
    `,
  ];

  declare pause: ShownPause;
  /** The chat's model, if it is one at an address. */
  declare endpoint: Endpoint | undefined;
  declare answer: string;
  declare problem: string | undefined;
  declare isBusy: boolean;
  /** What the model wrote, and its name. */
  #written: { readonly text: string; readonly model: string } | undefined;

  constructor() {
    super();
    this.answer = "";
    this.isBusy = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#look();
  }

  /** Focuses the answer. */
  override focus(): void {
    this.renderRoot.querySelector("textarea")?.focus();
  }

  override render(): TemplateResult {
    const { server } = this.pause;
    const { messages, system_prompt, max_tokens, model_hints, tool } = this.#asked;
    const wanted = model_hints.length === 0 ? "" : `, if possible by ${model_hints.join(", ")}`;
    return html`<div class="stack">
      <p><strong>${server}</strong> wants a model to answer, for its tool <strong>${tool}</strong>.</p>
      <p class="soft wanted">
        At most ${max_tokens.toLocaleString("en")} tokens${wanted}. Nothing goes to the server before you answer.
      </p>
      ${promptMessages(this.actions, messages, system_prompt)}
      <label>
        <span class="label">The model's answer</span>
        <textarea
          rows="4"
          maxlength=${MAX_ANSWER}
          aria-busy=${this.isBusy}
          .value=${this.answer}
          @input=${(event: Event) => (this.answer = (event.target as HTMLTextAreaElement).value)}
        ></textarea>
      </label>
      ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      <div class="row">
        <button class="primary" aria-disabled=${this.answer === "" || this.isBusy} @click=${this.#answer}>
          Answer
        </button>
        ${this.endpoint === undefined ? nothing : this.#byModel(this.endpoint)}
        <button @click=${() => this.actions.answer(this.pause.id, null)}>Decline</button>
      </div>
    </div>`;
  }

  get #asked(): ShownSampling {
    return this.pause.payload as ShownSampling;
  }

  #byModel(endpoint: Endpoint): TemplateResult {
    return html`<button aria-disabled=${this.isBusy} @click=${() => this.#ask(endpoint)}>
      ${this.isBusy ? `${endpoint.model} is writing…` : `Let ${endpoint.model} write it`}
    </button>`;
  }

  async #look(): Promise<void> {
    const { Conversation } = await import("../chat/conversation.js");
    const { model } = (this.actions.conversation ??= new Conversation(this.actions, this.store));
    this.endpoint = model.kind === "endpoint" ? model : undefined;
  }

  /** The model's text goes into the field, for a person to read before the server gets it. */
  async #ask(endpoint: Endpoint): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.problem = undefined;
    const { url, model, key } = endpoint;
    const written = await this.actions.engine.reply({ url, model, key }, this.#asked);
    this.isBusy = false;
    if (!written.ok) {
      this.problem = written.problem.message;
      return;
    }
    this.answer = written.value;
    this.#written = { text: written.value, model };
    await this.updateComplete;
    this.focus();
  }

  #answer(): void {
    if (this.isBusy) return;
    if (this.answer === "") return this.focus();
    const isModels = this.#written?.text === this.answer;
    this.actions.answer(this.pause.id, isModels ? this.#written : { text: this.answer });
  }
}

customElements.define("playground-sampling", SamplingCard);
