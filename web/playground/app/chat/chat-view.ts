/**
 * The chat: a planner that can call the tools of all connected servers.
 * @module
 */
import { css, html, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { plainLines } from "../../../ui/plain-text.js";
import type { ChatModel } from "../../engine/chat/messages.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import { Conversation } from "./conversation.js";
import type { ModelForm } from "./model-form.js";
import "./model-form.js";
import type { StoppedCall, TurnCard } from "./turn-card.js";
import "./turn-card.js";
import type { ChatTurn } from "./turn.js";

/** Questions that the script answers without a model. */
const SUGGESTIONS = [
  "Which region sold most?",
  "Make the Q3 sales report and draw the chart",
  "Export the orders as CSV and read the first rows",
  "Import the orders, which takes 8 seconds",
  "Ask me something",
];

/** More of them, for the demo server that works with My Files. */
const WITH_FILES = ["Summarize my newest file", "Show the revenue of all regions beside the answer"];

function nameModel(model: ChatModel): string {
  if (model.kind === "endpoint") return `${model.model} at ${new URL(model.url).host}`;
  return model.kind === "served" ? "this page's server" : "the script, offline";
}

/** `<playground-chat>` */
class ChatView extends ViewElement {
  static override properties = { ...ViewElement.properties, draft: { state: true }, heard: { state: true } };
  static override styles = [
    viewStyles,
    css`
      :host {
        block-size: 100%;
        display: grid;
        grid-template-rows: auto minmax(0, 1fr) auto;
      }
      header,
      form {
        padding: 12px 16px;
      }
      header,
      .ask,
      playground-turn {
        --most: 800px;
        inline-size: 100%;
        margin-inline: auto;
        max-inline-size: var(--most);
      }
      header {
        max-inline-size: calc(var(--most) + 32px);
      }
      .said {
        display: flex;
        flex-direction: column;
        gap: 24px;
        overflow: auto;
        padding: 12px 16px 24px;
      }
      .empty {
        flex: 1;
      }
      form {
        background: var(--surface-raised);
        border-block-start: 1px solid var(--line);
      }
      .ask {
        align-items: end;
        display: flex;
        gap: 8px;
      }
      textarea {
        field-sizing: content;
        font-family: inherit;
        max-block-size: 30vh;
        resize: none;
      }
      .empty .title {
        color: var(--text);
      }
      .suggestions {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        justify-content: center;
        max-inline-size: 720px;
      }
      .suggestions button {
        white-space: normal;
      }
      .by {
        overflow-wrap: anywhere;
      }
      @media (max-width: 640px) {
        .by {
          flex-basis: 100%;
        }
        header,
        form,
        .said {
          padding-inline: 12px;
        }
      }
    `,
  ];

  declare draft: string;
  /** Whether the view scrolls with new text; off while the user reads further up. */
  #follows = true;
  #scrollTop = 0;
  /** What is read aloud: the answer that has just come. */
  declare heard: string;
  #isBusy = false;
  /** The question that an address filled in. */
  #filled: string | undefined;
  /** The id of the pause that received the focus. */
  #reached: string | undefined;
  readonly #onChange = (): void => this.requestUpdate();

  constructor() {
    super();
    this.draft = "";
    this.heard = "";
  }

  get #conversation(): Conversation {
    return (this.actions.conversation ??= new Conversation(this.actions, this.store));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#conversation.addEventListener("change", this.#onChange);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#conversation.removeEventListener("change", this.#onChange);
  }

  override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    const { turns, current } = this.#conversation;
    const { question } = this.state;
    if (question !== undefined && question !== this.#filled) this.draft = question;
    this.#filled = question;
    const wasBusy = this.#isBusy;
    this.#isBusy = current !== undefined;
    if (this.#isBusy) this.heard = "";
    else if (wasBusy) void this.#read(turns.at(-1)?.end?.answer ?? "");
  }

  /** Has an answer read aloud without the signs of its Markdown. */
  async #read(answer: string): Promise<void> {
    const { formatMarkdown } = await import("../../../ui/markdown.js");
    if (!this.#isBusy) this.heard = formatMarkdown(plainLines(answer)).textContent;
  }

  override updated(changed: PropertyValues): void {
    super.updated(changed);
    this.#follow();
    void this.#reachPause();
  }

  /** Scrolls to the newest text. */
  readonly #follow = (): void => {
    const said = this.renderRoot.querySelector(".said");
    if (this.#follows) said?.scrollTo({ top: said.scrollHeight });
  };

  /** Focuses a new pause, unless the user is typing. */
  async #reachPause(): Promise<void> {
    const { current } = this.#conversation;
    const pause = this.state.pauses.find(({ question }) => question !== undefined && question === current?.id);
    const before = this.#reached;
    if (pause?.id === before) return;
    this.#reached = pause?.id;
    const turn = this.renderRoot.querySelector<TurnCard>("playground-turn:last-of-type");
    if (pause !== undefined && this.draft === "") await turn?.reachPause();
    if (pause !== undefined || before === undefined) return;
    await turn?.updateComplete;
    // The answered pause is gone, and the focus with it.
    if (this.shadowRoot?.activeElement === null) this.renderRoot.querySelector("textarea")?.focus();
  }

  override render(): TemplateResult {
    const { turns } = this.#conversation;
    return html`
      ${this.#head()}
      <div
        class="said"
        tabindex="0"
        role="region"
        aria-label="Conversation"
        @scroll=${this.#onScroll}
        @playground-formatted=${this.#follow}
      >
        ${
          turns.length === 0
            ? this.#empty()
            : repeat(
                turns,
                ({ id }) => id,
                (turn) => this.#turn(turn),
              )
        }
      </div>
      <p class="unseen" role="status">${this.heard}</p>
      ${this.#form()}
      <playground-model
        .store=${this.store}
        .actions=${this.actions}
        .conversation=${this.#conversation}
      ></playground-model>
    `;
  }

  #head(): TemplateResult {
    const { model, turns, current } = this.#conversation;
    return html`<header class="row">
      <h2 class="unseen">Chat</h2>
      <span class="grow by">Answered by <strong>${nameModel(model)}</strong></span>
      <button @click=${this.#choose}>Model</button>
      <button ?disabled=${turns.length === 0 || current !== undefined} @click=${() => this.#conversation.clear()}>
        New chat
      </button>
    </header>`;
  }

  #empty(): TemplateResult {
    const withFiles = this.state.servers.some(({ name, status }) => name === "files" && status === "ready");
    return html`<div class="empty">
      <h2 class="title">Ask about files that the model never sees</h2>
      <p>It calls the tools of your servers, reads what it needs of their results, and answers.</p>
      <div class="suggestions">
        ${[...SUGGESTIONS, ...(withFiles ? WITH_FILES : [])].map((text) => html`<button @click=${() => this.#ask(text)}>${text}</button>`)}
      </div>
    </div>`;
  }

  #turn(turn: ChatTurn): TemplateResult {
    return html`<playground-turn
      .store=${this.store}
      .actions=${this.actions}
      .turn=${turn}
      @playground-stop=${({ detail }: CustomEvent<StoppedCall>) => this.#conversation.cancel(detail.step, detail.call)}
      @playground-again=${({ detail }: CustomEvent<number | null>) => this.#ask(turn.query, detail ?? turn.timeout)}
      @playground-model=${this.#choose}
    ></playground-turn>`;
  }

  #form(): TemplateResult {
    const isBusy = this.#conversation.current !== undefined;
    return html`<form @submit=${this.#submit}>
      <div class="ask">
        <textarea
          class="grow"
          name="query"
          rows="1"
          aria-label="Your question"
          placeholder="Ask something"
          .value=${this.draft}
          @input=${(event: Event) => (this.draft = (event.target as HTMLTextAreaElement).value)}
          @keydown=${this.#key}
        ></textarea>
        ${
          isBusy
            ? html`<button type="button" @click=${() => this.#conversation.stop()}>Stop</button>`
            : html`<button class="primary" type="submit">Ask</button>`
        }
      </div>
    </form>`;
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    // Elsewhere ⌘↵ repeats the call.
    event.stopPropagation();
    this.#submit(event);
  }

  #submit(event: Event): void {
    event.preventDefault();
    if (this.#conversation.current !== undefined) return;
    this.#ask(this.draft);
    this.draft = "";
  }

  #ask(query: string, timeout?: number): void {
    this.#follows = true;
    this.store.set({ question: undefined });
    void this.#conversation.ask(query, timeout);
    this.renderRoot.querySelector("textarea")?.focus();
  }

  readonly #choose = (): void => {
    void this.renderRoot.querySelector<ModelForm>("playground-model")?.open();
  };

  #onScroll(event: Event): void {
    const { scrollTop, scrollHeight, clientHeight } = event.target as HTMLElement;
    const isBack = scrollTop < this.#scrollTop;
    this.#scrollTop = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < 40) this.#follows = true;
    else if (isBack) this.#follows = false;
  }
}

customElements.define("playground-chat", ChatView);
