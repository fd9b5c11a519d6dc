/**
 * The first view: what Sluice is, the current call with the ways to begin another one, and the list of calls.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { icon } from "../../../ui/icons.js";
import drop from "lucide-static/icons/file-down.svg?raw";
import plug from "lucide-static/icons/plug.svg?raw";
import "../call/call-card.js";
import { twoPanes, viewStyles } from "../styles.js";
import { currentCall, findShelf, type ShownCall } from "../state.js";
import { FIRST } from "../actions.js";
import { measureGain } from "../call/gain.js";
import { ViewElement } from "../view-element.js";

/** Calls of the demo that a visitor may want to see next. */
const EXAMPLES: readonly (readonly [label: string, tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ["A PDF of 4 MB", "sales_report", { quarter: "Q3" }],
  ["A chart", "sales_chart", { kind: "line" }],
  ["60,000 rows", "export_csv", { rows: 60_000 }],
  ["A web page with a script in it", "web_page", {}],
  ["A sound", "jingle", {}],
  ["A program of 40 KB", "source_code", {}],
  ["Something that needs nothing", "small_talk", {}],
];

/** What Sluice is, for a first visit. */
const WHAT =
  "Sluice keeps the files and long texts that MCP tools send out of your model's context: the model reads a short reference, and you keep every byte.";

/** Tools of the person's own server that the first screen names. */
const SERVED = 6;

/** Pixels at the top of the window that lie below the bar. */
const BAR = 40;

const STATES = { running: "running", done: "done", failed: "failed", cancelled: "cancelled" } as const;

/** `<playground-try>` */
export class TryView extends ViewElement {
  static override styles = [
    viewStyles,
    twoPanes,
    css`
      :host {
        --list: 248px;
      }
      aside h2 {
        color: var(--text-soft);
        font-size: var(--size-small);
        margin: 0 8px 12px;
      }
      .work {
        display: flex;
        flex-direction: column;
        gap: 24px;
      }
      .work > * {
        inline-size: 100%;
        margin-inline: auto;
        max-inline-size: 1240px;
      }
      playground-call {
        scroll-margin-block-start: 16px;
      }
      /* What follows stays where it is when the result comes. */
      .awaited {
        min-block-size: 100dvh;
      }
      .row {
        min-inline-size: 0;
      }
      .call .row {
        flex-wrap: nowrap;
      }
      .begin {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      .what {
        color: var(--text-soft);
      }
      .what span {
        display: block;
        max-inline-size: 88ch;
      }
      .gain {
        color: var(--stored);
        font-size: var(--size-small);
        font-weight: 600;
      }
      .gain.unchanged {
        color: var(--text-soft);
        font-weight: 400;
      }
      .gain.grew {
        color: var(--warn);
      }
      .list .call {
        align-items: center;
        column-gap: 10px;
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
      }
      .call sluice-thumbnail {
        block-size: 36px;
        grid-row: span 2;
        inline-size: 36px;
      }
      .failed {
        color: var(--bad);
        font-weight: 600;
      }
      .when {
        font-size: var(--size-small);
      }
      .another {
        border-block-start: 1px solid var(--line);
        padding-block-start: 24px;
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
        .work {
          gap: 16px;
        }
        .begin button {
          flex: 1 1 40%;
        }
      }
    `,
  ];

  #isStill = true;
  /** The call that is in view. */
  #looked: string | undefined;

  override render(): TemplateResult {
    return html`
      <aside aria-label="Calls">${this.#calls()}</aside>
      <div class="work">
        ${
          this.#isStill
            ? html`<slot name="still"></slot>`
            : html`<p class="what"><span>${WHAT}</span></p>
                ${this.#renderServed()} ${this.#renderChoice()} ${this.#now()} ${this.#another()}`
        }
      </div>
      <input type="file" hidden multiple @change=${this.#onPick} />
    `;
  }

  /** The picture of the first result is shown until that is there, or something else is. */
  override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    const { calls, problem } = this.state;
    const isRunning = calls.length === 1 && calls[0]?.state === "running" && calls[0].tool === FIRST.tool;
    const slot = this.querySelector("slot");
    this.#isStill &&=
      problem === undefined && (calls.length === 0 || isRunning) && slot?.assignedElements().length === 1;
  }

  /** Another call is looked at from its heading on, wherever the one before was left. */
  override updated(): void {
    const { call } = this.state;
    if (call === this.#looked) return;
    this.#looked = call;
    const card = this.renderRoot.querySelector("playground-call");
    if (card !== null && card.getBoundingClientRect().top < BAR) card.scrollIntoView({ block: "start" });
  }

  /** Opens the file picker. */
  pick(): void {
    this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click();
  }

  /** The person's own server comes first: the one that `sluice serve` was started for. */
  #renderServed(): TemplateResult | typeof nothing {
    const server = this.state.servers.find(({ kind, status }) => kind === "serve" && status === "ready");
    if (server === undefined) return nothing;
    const { name, tools } = server;
    const own = tools.filter(({ isAdded }) => isAdded !== true);
    const show = (tool?: string): void => {
      this.store.set({ server: name, tool });
      this.actions.go("tools");
    };
    return html`<section class="served panel stack" aria-labelledby="served">
      <h2 id="served">Your server ${name} is connected: ${own.length} ${own.length === 1 ? "tool" : "tools"}</h2>
      <div class="row">
        ${own
          .slice(0, SERVED)
          .map(
            (tool) =>
              html`<button @click=${() => show(tool.name)}>${tool.title ?? tool.name.slice(name.length + 1)}</button>`,
          )}
        ${own.length > SERVED ? html`<button @click=${() => show()}>All ${own.length} tools</button>` : nothing}
      </div>
    </section>`;
  }

  #now(): TemplateResult {
    const { store, actions } = this;
    const { isReady, problem } = this.state;
    const current = currentCall(this.state);
    if (current !== undefined) {
      return html`<playground-call
        .store=${store}
        .actions=${actions}
        .call=${current}
        .hasPicture=${true}
        .isHeadline=${true}
        class=${current.state === "running" ? "awaited" : ""}
        >${this.#begin()}</playground-call
      >`;
    }
    if (problem !== undefined) {
      return html`<div class="problem stack" role="alert">
        <p>Nothing can be stored here: ${problem.message}</p>
        <div class="row"><button @click=${() => location.reload()}>Try again</button></div>
      </div>`;
    }
    return html`${this.#begin()}
      <p class="empty ${isReady ? "" : "awaited"}" role="status">
        ${isReady ? "There is no result yet: run a tool." : "Starting…"}
      </p>`;
  }

  #begin(): TemplateResult {
    return html`<div class="begin">
      <button class="primary" @click=${this.pick}>${icon(drop)}Drop your own file</button>
      <button @click=${this.#connect}>${icon(plug)}Connect my server</button>
    </div>`;
  }

  #another(): TemplateResult {
    return html`<section class="another stack" aria-labelledby="another">
      <h2 class="title" id="another">Try another</h2>
      <div class="row">${EXAMPLES.map(([label, tool, args]) => this.#example(label, tool, args))}</div>
    </section>`;
  }

  #example(label: string, tool: string, args: Readonly<Record<string, unknown>>): TemplateResult {
    return html`<button ?disabled=${!this.state.isReady} @click=${() => this.actions.run(`demo.${tool}`, args)}>
      ${label}
    </button>`;
  }

  #calls(): TemplateResult {
    const { calls, call } = this.state;
    return html`<h2>Calls</h2>
      ${calls.length === 0 ? html`<p class="soft">None yet.</p>` : nothing}
      <ul class="list">
        ${calls.map((each) => this.#item(each, each.id === call))}
      </ul>`;
  }

  /** The list of calls as a select, for narrow windows. */
  #renderChoice(): TemplateResult | typeof nothing {
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
    // What a failure says is all that there is to read.
    const gain = result && state !== "failed" ? measureGain(result) : undefined;
    const artifact = result?.artifacts[0];
    return html`<li>
      <button class="call" aria-current=${isCurrent} @click=${() => this.store.set({ call: id })}>
        <sluice-thumbnail
          .artifact=${artifact}
          .bytes=${artifact && this.actions.bytesOf(findShelf(artifact), artifact)}
        ></sluice-thumbnail>
        <span class="row">
          <strong class="grow cut">${title.replace(/^demo\./, "")}</strong>
          ${gain === undefined ? nothing : html`<span class="gain ${gain.kind}">${gain.words.replace(/ kept out$/, "")}</span>`}
          ${gain?.kind === "kept" ? html`<span class="unseen">kept out</span>` : nothing}
        </span>
        <span class="soft when"
          ><time>${new Date(startedAt).toLocaleTimeString()}</time> ·
          <span class=${state === "failed" ? "failed" : ""}>${STATES[state]}</span></span
        >
      </button>
    </li>`;
  }

  #connect(): void {
    this.dispatchEvent(new CustomEvent("playground-connect", { bubbles: true, composed: true }));
  }

  #onPick(event: Event): void {
    const field = event.target as HTMLInputElement;
    for (const file of field.files ?? []) void this.actions.take(file);
    field.value = "";
  }
}

customElements.define("playground-try", TryView);
