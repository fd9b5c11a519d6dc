/**
 * A question, the calls that were made for it, and the answer.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import { viewStyles } from "../shared-styles.js";
import { ViewElement } from "../view.js";
import "./said.js";
import "./tool-card.js";
import "./trajectory-view.js";
import { keptOut, seenChars, type ChatStep, type ChatTurn } from "./turn.js";

/** What is to be said of how an answer ended. */
const ENDS = {
  answered: "",
  empty: "The model said nothing.",
  length: "The answer is cut: the model came to its own limit.",
  content_filter: "The model's server kept some of the answer back.",
  steps: "It came to the limit of steps.",
  tokens: "It came to the limit of tokens.",
  seconds: "It came to the limit of time.",
} as const;

/** The call of a turn that a person cancels. */
export interface StoppedCall {
  readonly step: number;
  readonly call: string;
}

/**
 * `<playground-turn>`; dispatches `playground-stop` with a `StoppedCall`, `playground-again`, perhaps with seconds that servers
 * may be silent, and `playground-model`.
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
      ${state === "cancelled" ? html`<p class="panel">It was stopped.</p>` : nothing}
      ${state === "failed" ? this.#failed() : nothing} ${steps.length === 0 ? nothing : this.#sum()}
    `;
  }

  #step({ step, text, calls }: ChatStep, next: ChatStep | undefined): TemplateResult {
    const isWhole = this.turn.state !== "running" || calls.length > 0;
    return html`${text === "" ? nothing : html`<playground-said class="text" .text=${text} .isWhole=${isWhole}></playground-said>`}
    ${calls.map(
      (call) =>
        html`<playground-tool
          .store=${this.store}
          .actions=${this.actions}
          .call=${call}
          .observation=${next?.seen.find((message) => message.call === call.id)?.text}
          @playground-patience=${({ detail }: CustomEvent<number>) => this.#say("playground-again", detail)}
          @playground-cancel=${() => this.#say("playground-stop", { step, call: call.id })}
        ></playground-tool>`,
    )}`;
  }

  /** Moves the focus to what the run waits for. */
  async reachPause(): Promise<void> {
    const { PauseCard } = await import("../pause-card.js");
    await this.updateComplete;
    const pause = this.renderRoot.querySelector("playground-pause");
    if (!(pause instanceof PauseCard)) return;
    await pause.reach();
    pause.scrollIntoView({ block: "nearest" });
  }

  #pauses(): readonly TemplateResult[] {
    const own = this.state.pauses.filter(({ question }) => question === this.turn.id);
    if (own.length > 0) void import("../pause-card.js");
    return own.map(
      (pause) =>
        html`<playground-pause .store=${this.store} .actions=${this.actions} .pause=${pause}></playground-pause>`,
    );
  }

  /** Between two words of the model's nothing says that it goes on. */
  #waits(): TemplateResult | typeof nothing {
    const { steps, state } = this.turn;
    const last = steps.at(-1);
    const isThinking = last === undefined || (last.text === "" && last.calls.length === 0);
    return state === "running" && isThinking ? html`<p class="soft">The model is asked…</p>` : nothing;
  }

  #failed(): TemplateResult {
    const { problem, model } = this.turn;
    return html`<div class="problem stack" role="alert">
      <p><strong>${problem?.code}</strong> ${problem?.message}</p>
      <div class="row">
        <button @click=${() => this.#say("playground-again")}>Ask again</button>
        ${model.kind === "endpoint" ? html`<button @click=${() => this.#say("playground-model")}>Change the model</button>` : nothing}
      </div>
    </div>`;
  }

  #sum(): TemplateResult {
    const { turn } = this;
    const { steps, end } = turn;
    const calls = steps.reduce((sum, step) => sum + step.calls.length, 0);
    const [chars, bytes] = [seenChars(turn), keptOut(turn)];
    const parts = [
      `${steps.length} ${steps.length === 1 ? "step" : "steps"}`,
      `${calls} ${calls === 1 ? "call" : "calls"}`,
      ...(chars === 0 ? [] : [`${chars.toLocaleString("en")} characters of results seen`]),
      ...(bytes === 0 ? [] : [`${humanSize(bytes)} kept out`]),
      ...(end === undefined ? [] : [`≈ ${end.spent.tokens.toLocaleString("en")} tokens`]),
    ];
    return html`<div class="row">
        <span class="soft grow">${parts.join(" · ")}</span>
        <button aria-expanded=${this.isOpen} @click=${this.#toggle}>What the model saw</button>
      </div>
      ${this.isOpen ? html`<playground-trajectory .store=${this.store} .actions=${this.actions} .turn=${turn}></playground-trajectory>` : nothing}`;
  }

  async #toggle(): Promise<void> {
    this.isOpen = !this.isOpen;
    await this.updateComplete;
    this.renderRoot.querySelector("playground-trajectory")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  #say(name: string, detail?: StoppedCall | number): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

customElements.define("playground-turn", TurnCard);
