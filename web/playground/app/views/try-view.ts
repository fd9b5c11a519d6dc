/**
 * The first view: three ways to start, the list of calls, and the current call.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import drop from "lucide-static/icons/file-down.svg?raw";
import plug from "lucide-static/icons/plug.svg?raw";
import play from "lucide-static/icons/play.svg?raw";
import "../call/call-card.js";
import { twoPanes, viewStyles } from "../styles.js";
import { currentCall, type ShownCall } from "../state.js";
import { ViewElement } from "../view-element.js";

const STATES = { running: "running", done: "done", failed: "failed", cancelled: "cancelled" } as const;

/** `<playground-try>` */
export class TryView extends ViewElement {
  static override styles = [
    viewStyles,
    twoPanes,
    css`
      :host {
        --list: 240px;
      }
      .begin {
        display: grid;
        gap: 10px;
        grid-template-columns: repeat(3, minmax(0, 1fr));
      }
      .begin button {
        align-items: flex-start;
        border-color: var(--line);
        flex-direction: row;
        gap: 10px;
        justify-content: flex-start;
        padding: 10px 12px;
        text-align: start;
        white-space: normal;
      }
      .begin svg.icon {
        block-size: 20px;
        color: var(--accent);
        inline-size: 20px;
        margin-block-start: 2px;
      }
      .begin strong {
        display: block;
      }
      .chosen {
        display: none;
      }
      @media (max-width: 1099px) {
        aside {
          display: none;
        }
        .chosen {
          display: block;
        }
      }
      @media (max-width: 640px) {
        .begin {
          grid-template-columns: minmax(0, 1fr);
        }
        .begin .soft {
          display: none;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return html`
      <aside aria-label="Calls">${this.#calls()}</aside>
      <div class="work stack">${this.#begin()} ${this.#chosen()} ${this.#now()}</div>
      <input type="file" hidden multiple @change=${this.#picked} />
    `;
  }

  /** Opens the file picker. */
  pick(): void {
    this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click();
  }

  #now(): TemplateResult {
    const { store, actions } = this;
    const { isReady, problem } = this.state;
    const current = currentCall(this.state);
    if (current !== undefined) {
      return html`<playground-call .store=${store} .actions=${actions} .call=${current}></playground-call>`;
    }
    if (problem !== undefined) {
      return html`<div class="problem stack" role="alert">
        <p>Nothing can be stored here: ${problem.message}</p>
        <div class="row"><button @click=${() => location.reload()}>Try again</button></div>
      </div>`;
    }
    return html`<p class="empty" role="status">${isReady ? "There is no result yet: run a tool." : "Starting…"}</p>`;
  }

  #begin(): TemplateResult {
    return html`<div class="begin">
      <button @click=${() => this.actions.run("demo.sales_report", { quarter: "Q3" })} ?disabled=${!this.state.isReady}>
        ${icon(play)}<span
          ><strong>Run the 4 MB PDF demo</strong><span class="soft">A report as base64 inside JSON text</span></span
        >
      </button>
      <button @click=${this.pick}>
        ${icon(drop)}<span
          ><strong>Drop a CallToolResult</strong><span class="soft">Or a JSON-RPC response, or any file</span></span
        >
      </button>
      <button @click=${this.#connect}>
        ${icon(plug)}<span><strong>Connect my server</strong><span class="soft">By its address</span></span>
      </button>
    </div>`;
  }

  #calls(): TemplateResult {
    const { calls, call } = this.state;
    return html`<div class="row"><h2 class="grow">Calls</h2></div>
      ${calls.length === 0 ? html`<p class="soft">None yet.</p>` : nothing}
      <ul class="list">
        ${calls.map((each) => this.#item(each, each.id === call))}
      </ul>`;
  }

  /** The list of calls as a select, for narrow windows. */
  #chosen(): TemplateResult | typeof nothing {
    const { calls, call } = this.state;
    if (calls.length < 2) return nothing;
    return html`<label class="chosen"
      ><span class="label">Call</span>
      <select @change=${(event: Event) => this.store.set({ call: (event.target as HTMLSelectElement).value })}>
        ${calls.map(
          ({ id, title, state, startedAt }) =>
            html`<option value=${id} .selected=${id === call}>
              ${title.replace(/^demo\./, "")} · ${new Date(startedAt).toLocaleTimeString()} · ${STATES[state]}
            </option>`,
        )}
      </select>
    </label>`;
  }

  #item({ id, title, state, startedAt, result }: ShownCall, isCurrent: boolean): TemplateResult {
    const kept = result === undefined ? undefined : Math.max(0, 1 - result.bytesOut / Math.max(1, result.bytesIn));
    return html`<li>
      <button aria-current=${isCurrent} @click=${() => this.store.set({ call: id })}>
        <span class="row">
          <strong class="grow cut">${title.replace(/^demo\./, "")}</strong>
          ${kept === undefined ? nothing : html`<span class="soft">−${Math.floor(kept * 100)} %</span>`}
        </span>
        <span class="soft"><time>${new Date(startedAt).toLocaleTimeString()}</time> · ${STATES[state]}</span>
      </button>
    </li>`;
  }

  #connect(): void {
    this.dispatchEvent(new CustomEvent("playground-connect", { bubbles: true, composed: true }));
  }

  #picked(event: Event): void {
    const field = event.target as HTMLInputElement;
    for (const file of field.files ?? []) void this.actions.take(file);
    field.value = "";
  }
}

customElements.define("playground-try", TryView);
