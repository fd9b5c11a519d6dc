/**
 * A question, the calls that were made for it, and the answer.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { markdownStyles } from "../../../ui/markdown-styles.js";
import { plainLines } from "../../../ui/plain-text.js";
import { humanSize } from "mcp-sluice";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import "./tool-card.js";
import "./trajectory-view.js";
import { writeRoute } from "../route.js";
import { type ChatStep, type ChatTurn, countKeptOut, countSeenChars } from "./turn.js";

/** `<playground-text>`: Markdown of the model, also while it streams. Dispatches `playground-formatted` each time it is formatted. */
class ModelText extends LitElement {
  static override properties = { text: {}, isWhole: { attribute: false }, content: { state: true } };
  static override styles = [
    viewStyles,
    markdownStyles,
    css`
      :host {
        display: block;
        max-inline-size: 80ch;
        overflow-wrap: anywhere;
      }
      .plain {
        white-space: pre-wrap;
      }
    `,
  ];

  /** Markdown text. */
  declare text: string;
  /** The text is complete. */
  declare isWhole: boolean;
  declare content: DocumentFragment | undefined;
  #shown = "";

  constructor() {
    super();
    this.text = "";
    this.isWhole = false;
    this.content = undefined;
  }

  override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    const text = this.isWhole ? this.text : closeMarks(this.text);
    if (text !== this.#shown) void this.#format(text);
  }

  override render(): TemplateResult {
    return this.content === undefined
      ? html`<p class="plain">${plainLines(this.text.replaceAll(/[*_`#]+/g, ""))}</p>`
      : html`<div class="formatted">${this.content}</div>`;
  }

  async #format(text: string): Promise<void> {
    this.#shown = text;
    const { formatMarkdown } = await import("../../../ui/markdown.js");
    if (this.#shown !== text) return;
    this.content = formatMarkdown(plainLines(text));
    await this.updateComplete;
    this.dispatchEvent(new Event("playground-formatted", { bubbles: true, composed: true }));
  }
}

customElements.define("playground-text", ModelText);

/** Markdown that is cut off anywhere, so that the last line shows no signs: what is open there is closed, half of a link left out. */
export function closeMarks(text: string): string {
  const at = text.lastIndexOf("\n") + 1;
  let line = text
    .slice(at)
    .replace(/!?\[[^\]]*(?:\]\([^)]*)?$/, "")
    .replace(/[*_`~#]+$/, "");
  for (const mark of ["`", "**", "~~"]) if (line.split(mark).length % 2 === 0) line += mark;
  return text.slice(0, at) + line;
}

/** Notes on how an answer ended. */
const ENDS = {
  answered: "",
  empty: "The model gave no answer.",
  length: "The answer is cut off: the model reached its own limit.",
  content_filter: "The model's server withheld part of the answer.",
  limit: "The model was not asked again.",
  steps: "It reached the limit of steps.",
  tokens: "It reached the limit of tokens.",
  seconds: "It reached the time limit.",
} as const;

/** A cancelled call of a turn. */
export interface StoppedCall {
  readonly step: number;
  readonly call: string;
}

/**
 * `<playground-turn>`. Dispatches `playground-stop` with a `StoppedCall`, `playground-again`, optionally with a time limit in
 * seconds, and `playground-model`.
 */
export class TurnCard extends ViewElement {
  static override properties = { ...ViewElement.properties, turn: { attribute: false }, isOpen: { state: true } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        gap: var(--gap);
        min-inline-size: 0;
      }
      .code {
        font-family: var(--font-code);
        font-size: var(--size-small);
      }
      h2 {
        background: var(--accent-soft);
        border-radius: var(--radius);
        font-weight: 400;
        max-inline-size: 80ch;
        overflow-wrap: anywhere;
        padding: 8px 12px;
        place-self: end;
        white-space: pre-wrap;
      }
    `,
  ];

  declare turn: ChatTurn;
  declare isOpen: boolean;

  constructor() {
    super();
    this.isOpen = false;
  }

  override render(): TemplateResult {
    const { query, steps, state, end } = this.turn;
    return html`
      <h2><span class="unseen">You asked: </span>${query}</h2>
      ${steps.map((step, at) => this.#step(step, steps[at + 1]))} ${this.#pauses()} ${this.#waits()}
      ${end === undefined || end.outcome === "answered" ? nothing : html`<p class="soft">${ENDS[end.outcome]}</p>`}
      ${state === "cancelled" ? html`<p class="panel">Stopped.</p>` : nothing}
      ${state === "failed" ? this.#renderFailure() : nothing} ${steps.length === 0 ? nothing : this.#sum()}
    `;
  }

  #step({ step, text, calls }: ChatStep, next: ChatStep | undefined): TemplateResult {
    const isWhole = this.turn.state !== "running" || calls.length > 0;
    return html`${text === "" ? nothing : html`<playground-text class="text" .text=${text} .isWhole=${isWhole}></playground-text>`}
    ${calls.map(
      (call) =>
        html`<playground-tool
          .store=${this.store}
          .actions=${this.actions}
          .call=${call}
          .observation=${next?.seen.find((message) => message.call === call.id)?.text}
          @playground-longer=${({ detail }: CustomEvent<number>) => this.#dispatch("playground-again", detail)}
          @playground-cancel=${() => this.#dispatch("playground-stop", { step, call: call.id })}
        ></playground-tool>`,
    )}`;
  }

  /** Focuses the pause of the turn. */
  async reachPause(): Promise<void> {
    const { PauseCard } = await import("../call/pause-card.js");
    await this.updateComplete;
    const pause = this.renderRoot.querySelector("playground-pause");
    if (!(pause instanceof PauseCard)) return;
    await pause.reach();
    pause.scrollIntoView({ block: "nearest" });
  }

  #pauses(): readonly TemplateResult[] {
    const own = this.state.pauses.filter(({ question }) => question === this.turn.id);
    if (own.length > 0) void import("../call/pause-card.js");
    return own.map(
      (pause) =>
        html`<playground-pause .store=${this.store} .actions=${this.actions} .pause=${pause}></playground-pause>`,
    );
  }

  /** Shown before the model's first output of a step. */
  #waits(): TemplateResult | typeof nothing {
    const { steps, state } = this.turn;
    const last = steps.at(-1);
    const isThinking = last === undefined || (last.text === "" && last.calls.length === 0);
    if (state !== "running" || !isThinking) return nothing;
    return html`<p class="soft">
      ${this.turn.by === undefined ? "The page is starting. It asks the model as soon as it is ready." : "Asking the model…"}
    </p>`;
  }

  #renderFailure(): TemplateResult {
    const { problem, by } = this.turn;
    return html`<div class="problem stack" role="alert">
      <p>${problem?.message} <span class="soft code">${problem?.code}</span></p>
      <div class="row">
        <button @click=${() => this.#dispatch("playground-again")}>Ask again</button>
        ${by === "endpoint" ? html`<button @click=${() => this.#dispatch("playground-model")}>Change the model</button>` : nothing}
      </div>
    </div>`;
  }

  #sum(): TemplateResult {
    const { turn } = this;
    const { steps, end } = turn;
    const calls = steps.reduce((sum, step) => sum + step.calls.length, 0);
    const [chars, bytes] = [countSeenChars(turn), countKeptOut(turn)];
    const parts = [
      `${steps.length} ${steps.length === 1 ? "step" : "steps"}`,
      `${calls} ${calls === 1 ? "call" : "calls"}`,
      ...(chars === 0 ? [] : [`${chars.toLocaleString("en")} characters of results seen`]),
      ...(bytes === 0 ? [] : [`${humanSize(bytes)} kept out`]),
      ...(end === undefined ? [] : [`≈ ${end.spent.tokens.toLocaleString("en")} tokens`]),
    ];
    return html`<div class="row">
        <span class="soft grow">${parts.join(" · ")}</span>
        ${turn.by === "scripted" ? html`<button @click=${this.#copyLink}>Copy link</button>` : nothing}
        <button aria-expanded=${this.isOpen} @click=${this.#toggle}>What the model saw</button>
      </div>
      ${this.isOpen ? html`<playground-trajectory .store=${this.store} .actions=${this.actions} .turn=${turn}></playground-trajectory>` : nothing}`;
  }

  /** A link with the question, which waits there for "Ask": whose tools it would call, the link does not know. */
  async #copyLink(): Promise<void> {
    const href = new URL(writeRoute({ view: "chat", question: this.turn.query }), location.href).href;
    await navigator.clipboard.writeText(href);
    this.store.set({ answer: { text: "The link is copied: it opens the chat with this question.", isBad: false } });
  }

  async #toggle(): Promise<void> {
    this.isOpen = !this.isOpen;
    await this.updateComplete;
    this.renderRoot.querySelector("playground-trajectory")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  #dispatch(name: string, detail?: StoppedCall | number): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

customElements.define("playground-turn", TurnCard);
