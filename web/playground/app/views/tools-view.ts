/**
 * The tools of a server: a list, and a form for the selected one.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import back from "lucide-static/icons/chevron-left.svg?raw";
import { ButtonList } from "../../../ui/button-list.js";
import { icon } from "../../../ui/icons.js";
import type { ShownServer, ShownTool, ToolHint } from "../../engine/messages.js";
import type { ArgumentsForm } from "../call/arguments-form.js";
import "../call/arguments-form.js";
import "../call/call-card.js";
import { againLabel, isAsked } from "../shell/servers.js";
import { twoPanes, viewStyles } from "../styles.js";
import { currentCall, currentServer } from "../state.js";
import { ViewElement } from "../view-element.js";

/** What a server says of a tool, in words. It may be wrong, and nothing is decided by it. */
const HINTS: Readonly<Record<ToolHint, readonly [word: string, meaning: string]>> = {
  readOnlyHint: ["read-only", "The server says that the tool changes nothing."],
  destructiveHint: ["destructive", "The server says that the tool may delete or overwrite something."],
  idempotentHint: ["idempotent", "The server says that a second call with the same arguments changes nothing more."],
  openWorldHint: ["open world", "The server says that the tool reaches beyond the server, such as the web."],
};

/** `<playground-tools>` */
export class ToolsView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    query: { state: true },
    hasPrompts: { state: true },
    isPrompts: { state: true },
  };

  static override styles = [
    viewStyles,
    twoPanes,
    css`
      playground-prompts {
        grid-column: 1 / -1;
      }
      .kinds [aria-pressed="true"] {
        border-color: var(--accent);
        box-shadow: inset 0 -2px var(--accent);
      }
      @media (forced-colors: active) {
        .kinds [aria-pressed="true"] {
          background: Highlight;
          color: HighlightText;
          forced-color-adjust: none;
        }
      }
      .said {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 2;
      }
      .back {
        display: none;
      }
      /* A narrow window has the list, or the tool that was chosen of it. */
      @media (max-width: 1099px) {
        aside {
          border: 0;
          padding: 12px;
        }
        .has-tool aside,
        .is-list .work {
          display: none;
        }
        .back {
          display: inline-flex;
        }
      }
      .panes {
        display: contents;
      }
    `,
  ];

  declare query: string;
  /** Whether the server has prompts, which are shown beside its tools. */
  declare hasPrompts: boolean;
  declare isPrompts: boolean;
  #shown: string | undefined;
  readonly #long = new ButtonList(this, { few: 30, height: 58 });
  #hasLooked = false;
  /** The server, and its status, that was looked into. */
  #inspected = "";

  constructor() {
    super();
    this.query = "";
    this.hasPrompts = false;
    this.isPrompts = false;
  }

  override willUpdate(): void {
    const current = currentServer(this.state);
    const inspected = `${this.state.server} ${current?.status ?? ""}`;
    if (inspected === this.#inspected || current === undefined) return;
    const isOther = this.#inspected.split(" ")[0] !== this.state.server;
    if (isOther) this.isPrompts = false;
    this.#inspected = inspected;
    if (isOther) void this.actions.engine.check(current.name);
    void this.#inspect(current.name, inspected);
  }

  async #inspect(server: string, inspected: string): Promise<void> {
    const about = await this.actions.engine.about(server);
    if (this.#inspected === inspected) this.hasPrompts = about?.capabilities["prompts"] !== undefined;
  }

  override render(): TemplateResult {
    const { store, actions } = this;
    const current = currentServer(this.state);
    if (this.isPrompts) {
      return html`<playground-prompts .store=${store} .actions=${actions}>${this.#kinds()}</playground-prompts>`;
    }
    const tools = current?.tools ?? [];
    const tool = tools.find(({ name }) => name === this.state.tool) ?? tools[0];
    const call = currentCall(this.state);
    const isList = this.state.tool === undefined && current?.status !== "failed";
    return html`<div class="panes ${isList ? "is-list" : "has-tool"}">
      <aside aria-label="Tools">
        <div class="stack">
          ${this.hasPrompts ? this.#kinds() : nothing}
          <input
            type="search"
            aria-label="Search tools"
            placeholder="Search tools"
            .value=${this.query}
            @input=${(event: Event) => (this.query = (event.target as HTMLInputElement).value)}
          />
          ${this.#list(tools, tool)}
        </div>
      </aside>
      <div class="work stack">
        <div class="row back">
          <button @click=${this.#showList}>${icon(back)}All tools</button>
        </div>
        ${current?.status === "failed" ? this.#renderLost(current) : nothing}
        ${tool === undefined ? html`<p class="empty">The server has no tools.</p>` : this.#form(tool)}
        ${
          call === undefined || call.tool !== tool?.name
            ? nothing
            : html`<playground-call .store=${store} .actions=${actions} .call=${call}></playground-call>`
        }
      </div>
    </div>`;
  }

  /** Back from a tool to the list, at that tool. */
  async #showList(): Promise<void> {
    this.store.set({ tool: undefined });
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(".list [aria-current=true]")?.focus();
  }

  /** Shows a tool, and begins at its name where the list is not beside it any more. */
  async #showTool({ name }: ShownTool): Promise<void> {
    this.store.set({ tool: name });
    await this.updateComplete;
    const list = this.renderRoot.querySelector("aside");
    if (list?.checkVisibility() === false) this.focus();
  }

  /** The server does not answer any more. */
  #renderLost(server: ShownServer): TemplateResult {
    const { name, problem } = server;
    const ask = (): boolean =>
      this.dispatchEvent(new CustomEvent("playground-connect", { detail: name, bubbles: true, composed: true }));
    return html`<div class="problem stack" role="alert">
      <p>${problem?.message ?? `${name} is not connected.`}</p>
      <div class="row">
        <button class="primary" @click=${() => (isAsked(server) ? ask() : this.actions.reconnect(name))}>
          ${againLabel(server)}
        </button>
      </div>
    </div>`;
  }

  #kinds(): TemplateResult {
    const kind = (title: string, isPrompts: boolean): TemplateResult =>
      html`<button aria-pressed=${this.isPrompts === isPrompts} @click=${() => this.#show(isPrompts)}>
        ${title}
      </button>`;
    return html`<div class="row kinds" role="group" aria-label="What is shown">
      ${kind("Tools", false)} ${kind("Prompts", true)}
    </div>`;
  }

  /** The pressed button is drawn again elsewhere, so it is given the focus. */
  async #show(isPrompts: boolean): Promise<void> {
    if (isPrompts) await import("./prompts-view.js");
    this.isPrompts = isPrompts;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(".kinds [aria-pressed=true]")?.focus();
  }

  /** Focuses the form of the selected tool. */
  override focus(): void {
    this.renderRoot.querySelector<HTMLElement>("section")?.focus();
  }

  /** Runs the selected tool with what its form says. Returns whether there is one. */
  submit(): boolean {
    const tools = currentServer(this.state)?.tools ?? [];
    const tool = tools.find(({ name }) => name === this.state.tool) ?? tools[0];
    if (tool !== undefined) this.#run(tool);
    return tool !== undefined;
  }

  #list(tools: readonly ShownTool[], chosen: ShownTool | undefined): TemplateResult {
    const query = this.query.toLowerCase();
    const found = tools.filter(({ name, title = "", description }) =>
      `${name} ${title} ${description}`.toLowerCase().includes(query),
    );
    if (found.length === 0) return html`<p class="soft" role="status">No tool matches.</p>`;
    const at = chosen === undefined ? -1 : found.indexOf(chosen);
    if (at !== -1 && chosen?.name !== this.#shown) this.#long.show(at);
    this.#shown = chosen?.name;
    const items = this.#long.items(found.length, (index) => found[index]?.name ?? index);
    return html`<ul class="list" .style=${this.#long.style} @keydown=${this.#long.onKey}>
      ${repeat(
        items,
        ({ index }) => found[index]?.name,
        ({ index, style }) => {
          const tool = found[index] as ShownTool;
          return html`<li data-index=${index} aria-setsize=${found.length} aria-posinset=${index + 1} .style=${style}>
            <button
              aria-current=${tool === chosen}
              aria-describedby="title-${index} said-${index}"
              @click=${() => this.#showTool(tool)}
            >
              <strong>${dropPrefix(tool)}</strong>
              <span class="soft" id="title-${index}" aria-hidden="true">${tool.title}</span>
              ${tool.isAdded === true ? html`<span class="chip">added by Sluice</span>` : nothing}
              <span class="soft said" id="said-${index}" aria-hidden="true">${tool.description}</span>
            </button>
          </li>`;
        },
      )}
    </ul>`;
  }

  #form(tool: ShownTool): TemplateResult {
    return html`<section
      class="panel stack"
      tabindex="-1"
      aria-label=${dropPrefix(tool)}
      @arguments-submit=${() => this.#run(tool)}
    >
      <div class="row">
        <h2>${dropPrefix(tool)}</h2>
        ${tool.title === undefined ? nothing : html`<span class="soft">${tool.title}</span>`}
        ${tool.hints?.map((hint) => this.#hint(hint))}
      </div>
      <p class="soft">${tool.description}</p>
      ${keyed(
        tool.name,
        html`<playground-arguments .schema=${tool.schema} .files=${this.#files()} .initial=${this.#findFilled(tool)}>
          <button class="primary" @click=${() => this.#run(tool)}>Run</button>
        </playground-arguments>`,
      )}
    </section>`;
  }

  #hint(hint: ToolHint): TemplateResult {
    const [word, meaning] = HINTS[hint];
    return html`<span class="chip ${hint === "destructiveHint" ? "warn" : ""}" title=${meaning}>${word}</span>`;
  }

  /** The arguments that an address filled in. */
  #findFilled({ name }: ShownTool): Readonly<Record<string, unknown>> | undefined {
    const { filled } = this.state;
    return filled?.tool === name ? filled.args : undefined;
  }

  /** Names of My Files for file arguments; undefined if the server does not work with My Files. */
  #files(): readonly string[] | undefined {
    const { files, fileCount } = this.state;
    if (currentServer(this.state)?.userFiles !== true) return undefined;
    if (files.length !== fileCount && !this.#hasLooked) void this.actions.loadFiles();
    this.#hasLooked = true;
    return files.map(({ filename }) => filename);
  }

  #run(tool: ShownTool): void {
    const args = this.renderRoot.querySelector<ArgumentsForm>("playground-arguments")?.read();
    if (args !== undefined) void this.actions.run(tool.name, args);
  }
}

/** The name without the server's prefix. */
function dropPrefix({ name }: ShownTool): string {
  return name.slice(name.indexOf(".") + 1);
}

customElements.define("playground-tools", ToolsView);
