/**
 * One call: its progress while it runs, then its result or its error.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import "../../../ui/meter.js";
import "../../../ui/thumbnail.js";
import type { ShownArtifact } from "mcp-sluice/ui";
import { isStored } from "../../../ui/shown.js";
import { toSafeName } from "../../../ui/plain-text.js";
import type { ShownResult } from "../../engine/messages.js";
import { FIRST } from "../actions.js";
import { viewStyles } from "../styles.js";
import { findShelf, type ShownCall } from "../state.js";
import { type Tab, tabList, tabStyles } from "../tabs.js";
import { ViewElement } from "../view-element.js";
import { artifactCards } from "./artifact-cards.js";
import { resultSides } from "./result-parts.js";
import "./gain.js";

/** Milliseconds after which a call can continue in the background. */
const LONG = 10_000;
/** Milliseconds between messages of progress that are read aloud. */
const UNHURRIED = 5000;
type Part = "result" | "setup" | "messages";

const PARTS: readonly Tab<Part>[] = [
  ["result", "Result"],
  ["setup", "Use this in my app"],
  ["messages", "JSON-RPC"],
];

/** Milliseconds between updates of the elapsed time. */
const TICK = 1000;

/** `<playground-call>` */
class CallCard extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    call: { attribute: false },
    hasPicture: { attribute: false },
    isHeadline: { attribute: false },
    shownPart: { state: true },
  };

  static override styles = [
    viewStyles,
    tabStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        gap: 24px;
        min-inline-size: 0;
      }
      .head {
        flex-wrap: nowrap;
        margin-block-end: -16px;
      }
      @media (max-width: 640px) {
        .head {
          flex-wrap: wrap;
          margin-block-end: 0;
        }
      }
      .sentence {
        font-size: var(--size-display);
        letter-spacing: -0.022em;
        line-height: 1.15;
      }
      .head h2 {
        font-size: var(--size-small);
        max-inline-size: 60%;
      }
      .head .args {
        font-size: var(--size-small);
      }
      .wide {
        container-type: inline-size;
      }
      .opening {
        display: grid;
        gap: 16px 32px;
        grid-template-columns: minmax(0, 1fr);
      }
      .lead {
        display: flex;
        flex-direction: column;
        gap: 16px;
      }
      .thing {
        background: none;
        border: 0;
        border-radius: 14px;
        min-inline-size: 0;
        padding: 0;
      }
      .thing sluice-thumbnail {
        block-size: 240px;
        border-radius: 14px;
        inline-size: 100%;
      }
      .player {
        --sluice-viewer-height: 280px;
        min-inline-size: 0;
      }
      @container (min-width: 760px) {
        .opening:has(.thing, .player) {
          align-items: end;
          grid-template-columns: minmax(0, 1fr) minmax(0, 360px);
        }
      }
      .part {
        display: flex;
        flex-direction: column;
        gap: 24px;
        margin-block-start: -8px;
        min-inline-size: 0;
      }
      .stored {
        display: grid;
        gap: 4px;
      }
      .code {
        font-family: var(--font-code);
        font-size: var(--size-small);
      }
      progress {
        accent-color: var(--accent);
        inline-size: 100%;
      }
    `,
  ];

  declare call: ShownCall;
  /** Whether what was stored is shown beside the numbers. */
  declare hasPicture: boolean;
  /** Whether its sentence is the heading of the view. */
  declare isHeadline: boolean;
  declare shownPart: Part;
  #clock: ReturnType<typeof setInterval> | undefined;
  /** What was read aloud last of which call, and when. */
  #heard = { id: "", text: "", at: 0 };

  constructor() {
    super();
    this.hasPicture = false;
    this.isHeadline = false;
    this.shownPart = "result";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#clock = setInterval(() => {
      if (this.call.state === "running") this.requestUpdate();
    }, TICK);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#clock);
  }

  override render(): TemplateResult {
    const { call } = this;
    return html`
      <div class="row head">
        <h2 class="soft cut">${call.title}</h2>
        <span class="grow cut soft args">${describeArguments(call)}</span>
        ${
          call.state === "running"
            ? nothing
            : html`${this.#share()}<button @click=${() => this.actions.repeat(call)}>Run again</button>`
        }
      </div>
      <p class="unseen" aria-live="polite">${call.state === "done" ? `${call.title} is done.` : nothing}</p>
      ${call.state === "running" ? this.#running() : nothing}
      ${call.result === undefined ? html`<slot></slot>` : nothing}
      ${call.problem === undefined ? nothing : this.#renderFailure()}
      ${call.result === undefined ? nothing : this.#result(call.result)}
    `;
  }

  #share(): TemplateResult | typeof nothing {
    if (this.call.result === undefined) return nothing;
    return html`<playground-share .store=${this.store} .actions=${this.actions} .call=${this.call}></playground-share>`;
  }

  #running(): TemplateResult {
    const { id, title, startedAt, progress, inBackground } = this.call;
    const seconds = Math.floor((Date.now() - startedAt) / 1000);
    const said = progress?.wait?.message ?? progress?.message ?? `${title} is running`;
    return html`<div class="panel stack">
      <div class="row">
        <span class="grow" aria-hidden="true">${said}</span>
        <span class="unseen" role="status">${this.#aloud(said)}</span>
        <span class="soft">${seconds} s</span>
        <button @click=${() => this.actions.cancel(id)}>Cancel</button>
      </div>
      <progress
        aria-label=${title}
        max=${progress?.total ?? nothing}
        value=${progress?.total === undefined ? nothing : progress.progress}
      ></progress>
      ${
        seconds * 1000 < LONG || inBackground === true
          ? nothing
          : html`<div class="row">
              <button @click=${this.#aside}>Continue in background</button>
              <span class="soft">You will be notified when it ends.</span>
            </div>`
      }
      ${inBackground === true ? html`<p class="soft">It continues in the background. You will be notified when it ends.</p>` : nothing}
    </div>`;
  }

  /** Of a progress that is told twice a second, a message now and then; what is said about silence at once. */
  #aloud(text: string): string {
    const { id, progress } = this.call;
    const now = Date.now();
    const isDue = id !== this.#heard.id || now - this.#heard.at >= UNHURRIED || progress?.wait !== undefined;
    if (isDue && text !== this.#heard.text) this.#heard = { id, text, at: now };
    return this.#heard.text;
  }

  #renderFailure(): TemplateResult {
    const { problem, file, state } = this.call;
    if (problem === undefined) return html``;
    if (state === "cancelled")
      return html`<p class="panel" role="status">
        ${problem.code === "E_CANCELLED" ? "Cancelled." : problem.message}
      </p>`;
    const where = problem.line === undefined ? "" : ` (line ${problem.line}, column ${problem.column ?? 1})`;
    return html`${this.isHeadline ? html`<h1 class="sentence">The tool failed.</h1>` : nothing}
      <div class="problem stack" role="alert">
        <p>${problem.message}${where} <span class="soft code">${problem.code}</span></p>
        ${
          file === undefined
            ? nothing
            : html`<div class="row">
                <button @click=${() => this.actions.take(file, "file")}>Treat it as a file anyway</button>
              </div>`
        }
      </div>`;
  }

  #result(result: ShownResult): TemplateResult {
    return html`
      <div class="wide">
        <div class="opening">
          <div class="lead">
            <playground-gain
              .store=${this.store}
              .actions=${this.actions}
              .result=${result}
              .server=${this.call.server}
              .isHeadline=${this.isHeadline}
            ></playground-gain>
            <slot></slot>
          </div>
          ${this.hasPicture ? this.#thing(result.artifacts) : nothing}
        </div>
      </div>
      ${this.call.isExpired === true ? html`<p class="chip warn">The artifacts of this call have expired: run it again.</p>` : nothing}
      ${result.filed === undefined && !result.isError ? nothing : this.#renderFiled()}
      ${result.failures.map((failure) => html`<p class="problem" role="alert">Not everything was stored: ${failure}</p>`)}
      ${this.isHeadline ? html`<h2 class="unseen">What is shown of it</h2>` : nothing}
      ${tabList("What is shown of the call", this.#parts, this.#shown, (part) => (this.shownPart = part))}
      <div class="part" role="tabpanel" id=${`panel-${this.#shown}`} aria-labelledby=${`tab-${this.#shown}`}>
        ${this.#part(result)}
      </div>
    `;
  }

  /** The thing itself, as large as it fits. */
  #thing(artifacts: readonly ShownArtifact[]): TemplateResult | typeof nothing {
    const artifact = artifacts.find((each) => isStored(each) && VISIBLE.test(each.mime_type ?? ""));
    if (artifact === undefined || this.call.isExpired === true) return nothing;
    const images = artifacts.filter((each) => isStored(each) && each.mime_type?.startsWith("image/") === true);
    if (images.length >= SHEET) return this.#sheet(images);
    if (PLAYED.test(artifact.mime_type ?? "")) return this.#player(artifact);
    const label = `Preview what was stored: ${toSafeName(artifact.filename, artifact.id)}`;
    return html`<button class="thing" aria-label=${label} @click=${() => this.actions.preview(artifact)}>
      <sluice-thumbnail .artifact=${artifact} .bytes=${this.actions.bytesOf(findShelf(artifact), artifact)}
        >${hasStill(this.call) ? html`<img src="./sales-report.jpg" alt="" />` : nothing}</sluice-thumbnail
      >
    </button>`;
  }

  #sheet(images: readonly ShownArtifact[]): TemplateResult {
    void import("./contact-sheet.js");
    return html`<playground-contact-sheet
      class="thing"
      .store=${this.store}
      .actions=${this.actions}
      .images=${images}
    ></playground-contact-sheet>`;
  }

  /** Sound and film play where they are seen, and a page is shown before its source. */
  #player(artifact: ShownArtifact): TemplateResult {
    void import("../../../ui/viewer.js");
    return html`<sluice-viewer
      class="player"
      .artifact=${artifact}
      .bytes=${this.actions.bytesOf(findShelf(artifact), artifact)}
    ></sluice-viewer>`;
  }

  /** A dropped file came over no connection. */
  get #parts(): readonly Tab<Part>[] {
    return this.call.server === "dropped" ? PARTS.filter(([part]) => part !== "messages") : PARTS;
  }

  get #shown(): Part {
    return this.#parts.some(([part]) => part === this.shownPart) ? this.shownPart : "result";
  }

  #part(result: ShownResult): TemplateResult {
    const { store, actions, call } = this;
    switch (this.#shown) {
      case "setup":
        void import("./setup.js");
        return html`<playground-setup .store=${store} .actions=${actions} .call=${call}></playground-setup>`;
      case "messages":
        void import("../views/messages-view.js");
        return html`<playground-messages .store=${store} .actions=${actions} .call=${call.id}></playground-messages>`;
      default:
        return this.#sides(result);
    }
  }

  #sides(result: ShownResult): TemplateResult {
    return html`
      ${resultSides(this.actions, result)}
      ${result.artifacts.length === 0 ? nothing : this.#artifacts(result.artifacts)}
      ${result.links.length === 0 || this.call.server === "dropped" ? nothing : this.#links()}
    `;
  }

  #links(): TemplateResult {
    void import("./link-cards.js");
    return html`<playground-links .store=${this.store} .actions=${this.actions} .call=${this.call}></playground-links>`;
  }

  #renderFiled(): TemplateResult {
    void import("./filed-note.js");
    return html`<playground-filed .store=${this.store} .actions=${this.actions} .call=${this.call}></playground-filed>`;
  }

  #artifacts(artifacts: readonly ShownArtifact[]): TemplateResult {
    return html`<section class="stored" aria-labelledby="stored">
      <h3 class="title" id="stored">Stored</h3>
      <p class="soft">Whole and untouched, for you and for the next tool.</p>
      ${artifactCards(this.actions, artifacts)}
    </section>`;
  }

  #aside(): void {
    this.store.setCall(this.call.id, { inBackground: true });
  }
}

/** Whether the site has a picture of what a call stores, to be seen before its first page is drawn. */
function hasStill({ tool, args }: ShownCall): boolean {
  return tool === FIRST.tool && args["quarter"] === FIRST.args.quarter;
}

/** Types of which more than an icon can be drawn. */
const VISIBLE = /^(?:image|text|audio|video)\/|pdf|json|csv|xml|javascript/;

/** Images that are shown beside each other; of fewer, the first. */
const SHEET = 4;

/** Those of which a picture says less than the thing itself. */
const PLAYED = /^(?:audio|video)\/|html/;

/** Characters of arguments beside the title. */
const MAX_ARGUMENTS = 120;

/** The arguments of a call in short: `quarter Q3 · rows 10`. */
function describeArguments({ args }: ShownCall): string {
  const words = Object.entries(args).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return words.join(" · ").slice(0, MAX_ARGUMENTS);
}

customElements.define("playground-call", CallCard);
