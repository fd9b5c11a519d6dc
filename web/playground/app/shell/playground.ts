/**
 * The page as a whole: top bar, rail, the chosen view and the drawer. It also takes dropped files and asks before a session ends.
 * @module
 */
import {
  css,
  html,
  nothing,
  type PropertyValues,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from "lit";
import { keyed } from "lit/directives/keyed.js";
import { viewStyles } from "../styles.js";
import type { TryView } from "../views/try-view.js";
import "../views/try-view.js";
import { currentCall, type State, type View } from "../state.js";
import { TITLES, ViewElement } from "../view-element.js";
import type { Bar } from "./bar.js";
import "./bar.js";
import { Keyboard } from "./keyboard.js";
import type { Palette } from "./palette.js";
import "./rail.js";

/** Accepts files that are dropped on or pasted into the window. */
class DropZone implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #take: (files: readonly File[]) => void;
  /** Counts dragenter minus dragleave events, which nested elements fire too. */
  #depth = 0;

  constructor(host: ReactiveControllerHost, take: (files: readonly File[]) => void) {
    this.#host = host;
    this.#take = take;
    host.addController(this);
  }

  /** Whether a file is being dragged over the window. */
  get isOver(): boolean {
    return this.#depth > 0;
  }

  hostConnected(): void {
    for (const kind of EVENTS) addEventListener(kind, this.#listener);
  }

  hostDisconnected(): void {
    for (const kind of EVENTS) removeEventListener(kind, this.#listener);
  }

  readonly #listener = (event: Event): void => {
    if (event instanceof ClipboardEvent) this.#onPaste(event);
    else if (event instanceof DragEvent && event.dataTransfer?.types.includes("Files") === true) this.#onDrag(event);
  };

  #onDrag(event: DragEvent): void {
    if (event.type === "dragenter") this.#depth += 1;
    if (event.type === "dragleave") this.#depth -= 1;
    if (event.type === "dragover") event.preventDefault();
    if (event.type === "drop") {
      event.preventDefault();
      this.#depth = 0;
      this.#take([...(event.dataTransfer?.files ?? [])]);
    }
    this.#host.requestUpdate();
  }

  #onPaste(event: ClipboardEvent): void {
    const [target] = event.composedPath();
    if (target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea)$/i.test(target.localName)))
      return;
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (files.length > 0) this.#take(files);
    else if (text !== "") this.#take([new File([text], "pasted.json", { type: "application/json" })]);
    else return;
    event.preventDefault();
  }
}

const EVENTS = ["dragenter", "dragleave", "dragover", "drop", "paste"] as const;

type Part = View | "drawer" | "pause";

interface Shown {
  readonly view: View;
  readonly part?: "form";
}

/** Loads the parts that are not shown at first. */
const LAZY: Partial<Record<Part, () => Promise<unknown>>> = {
  drawer: () => import("./drawer.js"),
  pause: () => import("../call/pause-card.js"),
  tools: () => import("../views/tools-view.js"),
  resources: () => import("../views/resources-view.js"),
  files: () => import("../views/files-view.js"),
  chat: () => import("../chat/chat-view.js"),
  guardrails: () => import("../views/guardrails-view.js"),
  log: () => import("../views/log-view.js"),
  elements: () => import("../views/elements-view.js"),
};

/** `<sluice-playground>` */
export class Playground extends ViewElement {
  static override styles = [
    viewStyles,
    css`
      :host {
        background: var(--surface);
        display: grid;
        grid-template: auto minmax(0, 1fr) / 88px minmax(0, 1fr) auto;
        grid-template-areas: "bar bar bar" "rail work drawer";
      }
      playground-bar {
        grid-area: bar;
      }
      playground-rail {
        grid-area: rail;
      }
      main {
        grid-area: work;
        min-block-size: 0;
        min-inline-size: 0;
        overflow: auto;
      }
      /* The chat's form stays at the bottom, below any pause. */
      main.chat {
        display: flex;
        flex-direction: column;
      }
      playground-chat {
        flex: 1;
        min-block-size: 0;
      }
      main:focus-visible {
        outline-offset: -2px;
      }
      /* One that is taller than the window would never show its end. */
      .pauses {
        background: var(--surface);
        inset-block-start: 0;
        max-block-size: 80dvh;
        overflow: auto;
        position: sticky;
        z-index: 5;
      }
      playground-pause {
        display: block;
        padding: 12px 16px 0;
      }
      .answer {
        background: var(--surface-sunken);
        border: 1px solid var(--line-strong);
        border-radius: var(--radius);
        box-shadow: 0 4px 16px #0004;
        grid-area: work;
        margin: 12px;
        overflow-wrap: anywhere;
        padding: 10px 14px;
        place-self: end center;
        pointer-events: none;
        z-index: 11;
      }
      .answer.bad {
        background: var(--bad-soft);
        border-color: var(--bad);
      }
      .skip {
        background: var(--accent);
        color: var(--on-accent);
        inset-block-start: 4px;
        inset-inline-start: 4px;
        padding: 12px;
        position: absolute;
        z-index: 30;
      }
      .skip:not(:focus) {
        clip-path: inset(50%);
      }
      .drop {
        align-items: center;
        background: color-mix(in oklab, var(--accent-soft) 92%, transparent);
        border: 3px dashed var(--accent);
        display: flex;
        font-size: var(--size-title);
        inset: 0;
        justify-content: center;
        pointer-events: none;
        position: fixed;
        z-index: 20;
      }
      @media (max-width: 1099px) {
        :host {
          grid-template: auto minmax(0, 1fr) var(--half, 0) / 72px minmax(0, 1fr);
          grid-template-areas: "bar bar" "rail work" "rail drawer";
        }
      }
      @media (max-width: 640px) {
        :host {
          grid-template: auto minmax(0, 1fr) var(--half, 0) auto / minmax(0, 1fr);
          grid-template-areas: "bar" "work" "drawer" "rail";
        }
      }
      :host([half]) {
        --half: minmax(0, 1fr);
      }
    `,
  ];

  readonly #drop = new DropZone(this, (files) => this.#onDrop(files));
  readonly #loaded = new Set<Part>(["try"]);
  #keyboard: Keyboard | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#keyboard ??= new Keyboard(this, this.store, this.actions);
    this.addController(this.#keyboard);
    this.addEventListener(
      "playground-find",
      (event) => void this.#find((event as CustomEvent<"find" | "keys" | null>).detail),
    );
    this.addEventListener("playground-connect", (event) => {
      const { detail } = event as CustomEvent<string | null>;
      this.renderRoot.querySelector<Bar>("playground-bar")?.connect(detail ?? undefined);
    });
    this.addEventListener("playground-pick", () => this.#pick());
    this.addEventListener("playground-end", () => void this.#end());
    // An answer is shown until the next action.
    this.addEventListener("click", () => this.#forget(), { capture: true });
    this.addEventListener("playground-show", (event) => void this.#show(event as CustomEvent<Shown>));
  }

  /** Shows a view and moves the focus to it, if the person has not moved it meanwhile. */
  async #show({ detail: { view, part } }: CustomEvent<Shown>): Promise<void> {
    const root = this.renderRoot as ShadowRoot;
    const before = root.activeElement;
    this.actions.go(view);
    await this.#load(view);
    await this.updateComplete;
    const work = root.querySelector("main");
    const shown = part === "form" ? work?.querySelector<ViewElement>("playground-tools") : undefined;
    await shown?.updateComplete;
    if (root.activeElement === null || root.activeElement === before) (shown ?? work)?.focus();
  }

  async #find(mode: "find" | "keys" | null): Promise<void> {
    await import("./palette.js");
    this.renderRoot.querySelector<Palette>("playground-palette")?.open(mode ?? "find");
  }

  #forget(): void {
    if (this.state.answer !== undefined) this.store.set({ answer: undefined });
  }

  async #end(): Promise<void> {
    const { confirmEnd } = await import("./end-dialog.js");
    if (!(await confirmEnd())) return;
    await this.actions.end();
    await this.updateComplete;
    this.renderRoot.querySelector("main")?.focus();
  }

  #pick(): void {
    this.actions.go("try");
    void this.updateComplete.then(() => this.renderRoot.querySelector<TryView>("playground-try")?.pick());
  }

  override willUpdate(): void {
    const { view, theme, preview, pauses } = this.state;
    this.toggleAttribute("half", preview?.isHalf === true);
    document.documentElement.style.colorScheme = theme === "system" ? "" : theme;
    void this.#load(view);
    if (preview !== undefined) void this.#load("drawer");
    if (pauses.length > 0) void this.#load("pause");
  }

  override updated(changed: PropertyValues): void {
    super.updated(changed);
    document.title = `${TITLES[this.state.view]} · Sluice playground`;
  }

  override render(): TemplateResult {
    const { store, actions } = this;
    const { view, preview, pauses, answer, serve } = this.state;
    return html`
      ${keyed(
        this.state.session,
        html`<playground-bar .store=${store} .actions=${actions}
          ><a class="skip" href="#work" @click=${this.#skip}>Skip to the content</a></playground-bar
        >`,
      )}
      <playground-rail .store=${store} .actions=${actions}></playground-rail>
      <main id="work" class=${view} tabindex="-1" aria-label=${TITLES[view]} ?inert=${preview?.isWide}>
        <div class="pauses" aria-live="polite">
          ${pauses
            .filter(({ question }) => view !== "chat" || question === undefined)
            .map(
              (pause) =>
                html`<playground-pause .store=${store} .actions=${actions} .pause=${pause}></playground-pause>`,
            )}
        </div>
        ${hasHeadline(this.state) ? nothing : html`<h1 class="unseen">${TITLES[view]}</h1>`}
        ${serve?.problem === undefined ? nothing : html`<playground-session .store=${store} .actions=${actions}></playground-session>`}
        ${this.#loaded.has(view) ? this.#view(view) : html`<p class="empty" role="status">Loading…</p>`}
      </main>
      <p class="answer ${answer === undefined ? "unseen" : ""} ${answer?.isBad === true ? "bad" : ""}" role="status">
        ${answer?.text}
      </p>
      ${preview === undefined || !this.#loaded.has("drawer") ? nothing : html`<playground-drawer .store=${store} .actions=${actions}></playground-drawer>`}
      <playground-palette .store=${store} .actions=${actions}></playground-palette>
      ${this.#drop.isOver ? html`<div class="drop">Drop a CallToolResult, a JSON-RPC response, or any file</div>` : nothing}
    `;
  }

  /** Loads a part and renders it. */
  async #load(part: Part): Promise<void> {
    const load = LAZY[part];
    if (this.#loaded.has(part) || load === undefined) return;
    await load();
    if (this.#loaded.has(part)) return;
    this.#loaded.add(part);
    this.requestUpdate();
  }

  #view(view: View): TemplateResult {
    const { store, actions } = this;
    switch (view) {
      case "try":
        return html`<playground-try .store=${store} .actions=${actions}
          ><slot name="still" slot="still"></slot
        ></playground-try>`;
      case "tools":
        return html`<playground-tools .store=${store} .actions=${actions}></playground-tools>`;
      case "resources":
        return html`<playground-resources .store=${store} .actions=${actions}></playground-resources>`;
      case "files":
        return html`<playground-files .store=${store} .actions=${actions}></playground-files>`;
      case "chat":
        return html`<playground-chat .store=${store} .actions=${actions}></playground-chat>`;
      case "guardrails":
        return html`<playground-guardrails .store=${store} .actions=${actions}></playground-guardrails>`;
      case "elements":
        return html`<playground-elements .store=${store} .actions=${actions}></playground-elements>`;
      default:
        return html`<playground-log .store=${store} .actions=${actions}></playground-log>`;
    }
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.renderRoot.querySelector<HTMLElement>("main")?.focus();
  }

  #onDrop(files: readonly File[]): void {
    if (this.state.view === "files") void this.actions.keep(files);
    else for (const file of files) void this.actions.take(file);
  }
}

/** Whether the view has a heading of its own: the sentence of a result. */
function hasHeadline(state: State): boolean {
  const call = currentCall(state);
  return state.view === "try" && (call?.result !== undefined || call?.state === "failed");
}

customElements.define("sluice-playground", Playground);
