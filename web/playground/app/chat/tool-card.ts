/**
 * A tool call of the model: its progress, what was stored, and how much of it the model sees.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import { plainLines } from "../../../ui/plain-text.js";
import bad from "lucide-static/icons/circle-alert.svg?raw";
import good from "lucide-static/icons/circle-check.svg?raw";
import busy from "lucide-static/icons/loader.svg?raw";
import off from "lucide-static/icons/circle-off.svg?raw";
import person from "lucide-static/icons/circle-user.svg?raw";
import { longer, type ReportedTimeout, timeoutIn } from "../../engine/time-limit.js";
import { artifactCards } from "../call/artifact-cards.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import type { ChatCall } from "./turn.js";

/** Milliseconds between updates of the elapsed time. */
const TICK = 1000;

const STATES = {
  wanted: [busy, "waits for its turn"],
  running: [busy, "is running"],
  waiting: [person, "waits for you"],
  done: [good, "is done"],
  failed: [bad, "failed"],
  cancelled: [off, "was cancelled"],
} as const;

const METHODS: Readonly<Record<string, string>> = {
  stored: "the rest is stored",
  step: "the step was too long",
  repeated: "the model has seen it before",
};

/** `<playground-tool>`. Dispatches `playground-cancel`, and `playground-longer` with a time limit in seconds. */
class ToolCard extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    call: { attribute: false },
    observation: { attribute: false },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
      .state {
        display: inline-flex;
      }
      .done .state {
        color: var(--good);
      }
      .failed .state {
        color: var(--bad);
      }
      .waiting .state {
        color: var(--warn);
      }
      progress {
        accent-color: var(--accent);
        inline-size: 100%;
      }
      .args {
        color: var(--text-soft);
        margin: 0;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
    `,
  ];

  declare call: ChatCall;
  /** What the model saw of the result. */
  declare observation: string | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#clock = setInterval(() => {
      if (this.#isRunning) this.requestUpdate();
    }, TICK);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#clock);
  }

  get #isRunning(): boolean {
    return this.call.state === "running" || this.call.state === "wanted";
  }

  override render(): TemplateResult {
    const { args, state, problem, artifacts } = this.call;
    const tool = plainLines(this.call.tool);
    const [sign, words] = STATES[state];
    return html`<section class="panel stack ${state}" role="group" aria-label="Call of ${tool}">
      <div class="row">
        <span class="state">${icon(sign)}</span>
        <strong class="cut" aria-hidden="true">${tool}</strong>
        <span class="soft grow"
          ><span role="status"><span class="unseen">${tool} </span><span>${words}</span></span
          >${this.#seconds()}</span
        >
        ${this.#isRunning ? html`<button @click=${this.#cancel}>Cancel</button>` : nothing}
      </div>
      ${args === "{}" ? nothing : html`<pre class="args">${short(args)}</pre>`} ${this.#progress()}
      ${problem === undefined ? nothing : html`<p class="problem"><strong>${problem.code}</strong> ${problem.message}</p>`}
      ${problem === undefined && state === "failed" ? this.#reason() : nothing} ${this.#sizes()}
      ${artifacts.length === 0 ? nothing : artifactCards(this.actions, artifacts)}
    </section>`;
  }

  /** The reason that a failed tool gives in its result. */
  #reason(): TemplateResult | typeof nothing {
    const { observation } = this;
    if (observation === undefined) return nothing;
    const timeout = timeoutIn(observation);
    return timeout === undefined ? html`<pre class="args">${short(observation)}</pre>` : this.#renderTimeout(timeout);
  }

  #renderTimeout({ seconds, lastProgress }: ReportedTimeout): TemplateResult {
    const more = longer(seconds);
    return html`<div class="problem stack">
      <p><strong>E_TIMEOUT</strong> ${this.call.progress?.wait?.message ?? "The tool did not answer in time."}</p>
      <p>
        The limit was ${seconds} s.
        ${lastProgress === null ? "It reported no progress." : `Last progress: ${plainLines(lastProgress)}`}
      </p>
      ${more > seconds ? html`<div class="row"><button @click=${() => this.#again(more)}>Ask again with ${more} s</button></div>` : nothing}
    </div>`;
  }

  #again(seconds: number): void {
    this.dispatchEvent(new CustomEvent("playground-longer", { detail: seconds }));
  }

  #seconds(): string {
    const { startedAt, endedAt } = this.call;
    const seconds = Math.floor(((endedAt ?? Date.now()) - startedAt) / 1000);
    return seconds < 1 ? "" : `, ${seconds} s`;
  }

  #progress(): TemplateResult | typeof nothing {
    const { progress, tool } = this.call;
    if (!this.#isRunning || progress === undefined) return nothing;
    return html`<progress
        aria-label=${tool}
        max=${progress.total ?? nothing}
        value=${progress.total === undefined ? nothing : progress.progress}
      ></progress>
      <p class="soft">${plainLines(progress.message ?? "")}</p>
      <p role="status">${progress.wait?.message}</p>`;
  }

  #sizes(): TemplateResult | typeof nothing {
    const { chars, clamped } = this.call;
    if (chars === undefined) return nothing;
    const method = clamped === undefined ? "" : (METHODS[clamped.method] ?? "shortened by the guardrail");
    return html`<p class="row">
      <span class="chip">The model sees ${count(chars)} characters</span>
      ${clamped === undefined ? nothing : html`<span class="chip warn">of ${count(clamped.original)}: ${method}</span>`}
    </p>`;
  }

  #cancel(): void {
    this.dispatchEvent(new CustomEvent("playground-cancel"));
  }
}

/** Characters of arguments and errors that are shown. */
const MAX_ARGS = 500;

function short(text: string): string {
  const seen = plainLines(text.slice(0, MAX_ARGS));
  return text.length > MAX_ARGS ? `${seen}… (${count(text.length)} characters)` : seen;
}

function count(number: number): string {
  return number.toLocaleString("en");
}

customElements.define("playground-tool", ToolCard);
