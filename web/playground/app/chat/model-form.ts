/**
 * The dialog that chooses who answers: the script, the page's server, or a model at a given address.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { ChatModel, Endpoint } from "../../engine/chat/messages.js";
import { dialogStyles, viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import { type Conversation, endpointProblem } from "./conversation.js";

const EMPTY: Endpoint = { url: "", model: "", key: "" };

/** `<playground-model>` */
export class ModelForm extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    conversation: { attribute: false },
    isOpen: { state: true },
    kind: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    dialogStyles,
    css`
      dialog {
        --wide: 520px;
      }
      fieldset {
        border: 0;
        margin: 0;
        padding: 0;
      }
      .choice {
        align-items: flex-start;
        display: flex;
        gap: 8px;
        min-block-size: var(--target);
      }
    `,
  ];

  declare conversation: Conversation;
  declare isOpen: boolean;
  declare kind: ChatModel["kind"];
  declare problem: string;

  constructor() {
    super();
    this.isOpen = false;
    this.kind = "scripted";
    this.problem = "";
  }

  /** Opens the dialog; closing it restores the focus. */
  async open(): Promise<void> {
    this.kind = this.conversation.model.kind;
    this.problem = "";
    this.isOpen = true;
    await this.updateComplete;
    this.renderRoot.querySelector("dialog")?.showModal();
  }

  override render(): TemplateResult {
    return html`<dialog aria-label="Model" @close=${() => (this.isOpen = false)}>
      ${this.isOpen ? this.#form() : nothing}
    </dialog>`;
  }

  /** Rendered only while open, so that no API key stays in the document. */
  #form(): TemplateResult {
    const { model, isRemembered } = this.conversation;
    const endpoint = model.kind === "endpoint" ? model : EMPTY;
    return html`<form class="stack" novalidate @submit=${this.#submit}>
      <h2>Choose a model</h2>
      <fieldset class="stack">
        <legend class="unseen">Model</legend>
        ${this.#choice("scripted", "The script", "Works offline. It calls the tools that you name, and does not think.")}
        ${this.state.serve?.chat === true ? this.#choice("served", "This page's server", "Its own model, with the tools of all its sources. Its guardrails hold, and what it stores is kept there until the session ends.") : nothing}
        ${this.#choice("endpoint", "A model of your own", "Any server that speaks OpenAI's chat completions and accepts requests from this page: OpenAI, OpenRouter, Ollama, vLLM, LM Studio.")}
      </fieldset>
      ${this.kind === "endpoint" ? this.#endpoint(endpoint, isRemembered) : nothing}
      ${this.problem === "" ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      <div class="row">
        <button class="primary" type="submit">Use it</button>
        <button type="button" @click=${this.#close}>Cancel</button>
      </div>
    </form>`;
  }

  #choice(kind: ChatModel["kind"], name: string, about: string): TemplateResult {
    return html`<label class="choice">
      <input
        type="radio"
        name="kind"
        value=${kind}
        aria-labelledby="name-${kind}"
        aria-describedby="about-${kind}"
        .checked=${this.kind === kind}
        @change=${() => (this.kind = kind)}
      />
      <span><strong id="name-${kind}">${name}</strong><br /><span class="soft" id="about-${kind}">${about}</span></span>
    </label>`;
  }

  #endpoint({ url, model, key }: Endpoint, isRemembered: boolean): TemplateResult {
    return html`
      <label
        ><span class="label">Address</span
        ><input name="url" type="url" .value=${url} placeholder="http://localhost:11434/v1" autocomplete="off" />
      </label>
      <label
        ><span class="label">Model</span
        ><input name="model" .value=${model} placeholder="llama3.2" autocomplete="off" />
      </label>
      <label
        ><span class="label">Key (optional)</span><input name="key" type="password" .value=${key} autocomplete="off" />
      </label>
      <label class="choice">
        <input
          name="remember"
          type="checkbox"
          aria-labelledby="remember"
          aria-describedby="otherwise"
          .checked=${isRemembered}
        />
        <span
          ><span id="remember">Remember it and the key in this browser</span><br /><span class="soft" id="otherwise"
            >Otherwise it is forgotten when the page is closed.</span
          ></span
        >
      </label>
      <p class="soft">Questions and results that the model sees only go to that server.</p>
    `;
  }

  #submit(event: Event): void {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    const endpoint = { url: text("url"), model: text("model"), key: text("key") };
    this.problem = this.kind === "endpoint" ? endpointProblem(endpoint) : "";
    if (this.problem !== "") return;
    const model: ChatModel = this.kind === "endpoint" ? { kind: "endpoint", ...endpoint } : { kind: this.kind };
    this.conversation.choose(model, data.has("remember"));
    this.#close();
  }

  #close(): void {
    this.renderRoot.querySelector("dialog")?.close();
  }
}

customElements.define("playground-model", ModelForm);
