/**
 * ⌘K: tools, calls, files, actions and views by name; and the keys.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { dialogStyles, viewStyles } from "../styles.js";
import { IS_APPLE } from "../browser.js";
import { type View, VIEWS } from "../state.js";
import { TITLES, ViewElement } from "../view-element.js";
import type { ShownFile } from "../../engine/messages.js";

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly run: () => void;
}

const action = (name: string, run: () => void): Entry => ({ name, kind: "action", run });

/** Entries shown at a time. */
const MAX_SHOWN = 16;

/** `<playground-palette>` */
export class Palette extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    mode: { state: true },
    query: { state: true },
    active: { state: true },
  };

  static override styles = [
    viewStyles,
    dialogStyles,
    css`
      dialog {
        --wide: 560px;
        margin-block-start: 12vh;
        max-block-size: 70vh;
        padding: 12px;
      }
      [role="listbox"] {
        margin-block-start: 8px;
      }
      [role="option"] {
        border-radius: 6px;
        cursor: pointer;
        display: flex;
        gap: 8px;
        min-block-size: var(--target);
        padding: 6px 10px;
      }
      [aria-selected="true"] {
        background: var(--accent-soft);
        outline: 1px solid var(--accent);
      }
      dl {
        display: grid;
        gap: 6px 16px;
        grid-template-columns: auto 1fr;
        margin: 12px 0 0;
      }
      dd {
        margin: 0;
      }
      @media (max-width: 640px) {
        dl {
          grid-template-columns: 2fr 3fr;
        }
      }
    `,
  ];

  declare mode: "find" | "keys";
  declare query: string;
  declare active: number;

  constructor() {
    super();
    this.mode = "find";
    this.query = "";
    this.active = 0;
  }

  /** Opens the dialog; closing it restores the focus. */
  open(mode: "find" | "keys"): void {
    if (this.state.files.length !== this.state.fileCount) void this.actions.loadFiles();
    this.mode = mode;
    this.query = "";
    this.active = 0;
    this.requestUpdate();
    void this.#onOpen();
  }

  async #onOpen(): Promise<void> {
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog?.open === false) dialog.showModal();
    this.renderRoot.querySelector("input")?.focus();
  }

  override render(): TemplateResult {
    return html`<dialog aria-label=${this.mode === "find" ? "Find" : "Keys"}>
      ${this.mode === "find" ? this.#find() : this.#keys()}
    </dialog>`;
  }

  #find(): TemplateResult {
    const entries = this.#entries();
    const active = Math.min(this.active, entries.length - 1);
    return html`<input
        type="search"
        role="combobox"
        aria-label="Find a tool, a view or an action"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant=${`found-${active}`}
        placeholder="Find a tool, a view or an action"
        .value=${this.query}
        @input=${this.#onInput}
        @keydown=${(event: KeyboardEvent) => this.#key(event, entries, active)}
      />
      <div id="found" role="listbox" aria-label="Found">
        ${entries.map(
          ({ name, kind, run }, at) =>
            html`<div id=${`found-${at}`} role="option" aria-selected=${at === active} @click=${() => this.#run(run)}>
              <span class="grow cut">${name}</span><span class="soft">${kind}</span>
            </div>`,
        )}
      </div>
      <p class="soft" role="status">${entries.length === 0 ? "No matches." : ""}</p>`;
  }

  #keys(): TemplateResult {
    return html`<div class="row">
        <h2 class="grow">Keys</h2>
        <button @click=${() => this.renderRoot.querySelector("dialog")?.close()}>Close</button>
      </div>
      <dl>
        ${KEYS.map(
          ([keys, does, read]) =>
            html`<dt>
                <kbd aria-hidden=${read === undefined ? nothing : "true"}>${keys}</kbd>
                ${read === undefined ? nothing : html`<span class="unseen">${read}</span>`}
              </dt>
              <dd>${does}</dd>`,
        )}
      </dl>`;
  }

  #onInput(event: InputEvent): void {
    this.query = (event.target as HTMLInputElement).value;
    this.active = 0;
  }

  #key(event: KeyboardEvent, entries: readonly Entry[], active: number): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) this.active = (active + by + entries.length) % Math.max(1, entries.length);
    else if (event.key === "Enter") {
      const chosen = entries[active];
      if (chosen !== undefined) this.#run(chosen.run);
    } else return;
    event.preventDefault();
  }

  #run(run: () => void): void {
    this.renderRoot.querySelector("dialog")?.close();
    run();
  }

  #entries(): readonly Entry[] {
    const { servers, calls, files } = this.state;
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    const tools = servers.flatMap(({ tools: offered }) =>
      offered.map(({ name }) => ({ name, kind: "tool", run: () => this.#tool(name) })),
    );
    const views = ([...VIEWS, "elements"] as const).map((view) => ({
      name: TITLES[view],
      kind: "view",
      run: () => this.#show(view),
    }));
    const made = calls.map(({ id, title, startedAt }) => ({
      name: `${title}, ${new Date(startedAt).toLocaleTimeString()}`,
      kind: "call",
      run: () => this.store.set({ view: "try", call: id }),
    }));
    const kept = files.map((file) => ({ name: file.filename, kind: "file", run: () => this.#file(file) }));
    // Before anything is typed, some of each kind.
    const most = words.length === 0 ? 4 : MAX_SHOWN;
    return [tools, made, kept, this.#actions(), views]
      .flatMap((entries) =>
        entries
          .filter(({ name, kind }) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)))
          .slice(0, most),
      )
      .slice(0, MAX_SHOWN);
  }

  #actions(): readonly Entry[] {
    return [
      action("Connect my server", () =>
        this.dispatchEvent(new CustomEvent("playground-connect", { bubbles: true, composed: true })),
      ),
      action("Drop a file", () =>
        this.dispatchEvent(new CustomEvent("playground-pick", { bubbles: true, composed: true })),
      ),
      action("Theme: light", () => this.actions.setTheme("light")),
      action("Theme: dark", () => this.actions.setTheme("dark")),
      action("Theme: as the system", () => this.actions.setTheme("system")),
      action("Keys", () => this.open("keys")),
      action("End session", () =>
        this.dispatchEvent(new CustomEvent("playground-end", { bubbles: true, composed: true })),
      ),
    ];
  }

  #tool(name: string): void {
    this.store.set({ server: name.slice(0, name.indexOf(".")), tool: name });
    this.#show("tools", "form");
  }

  #file(file: ShownFile): void {
    this.actions.go("files");
    this.actions.preview(file, "files");
  }

  #show(view: View, part?: "form"): void {
    this.dispatchEvent(new CustomEvent("playground-show", { detail: { view, part }, bubbles: true, composed: true }));
  }
}

customElements.define("playground-palette", Palette);

/** Keyboard shortcuts, what they do, and how signs that many screen readers leave out are read. */
const KEYS: readonly (readonly [keys: string, does: string, read?: string])[] = [
  [IS_APPLE ? "⌘K" : "Ctrl K", "Find a tool, a view or an action"],
  [IS_APPLE ? "⌘ Return" : "Ctrl Enter", "Run the tool again"],
  ["/", "Search the list", "slash"],
  ["↑ ↓, Home and End", "Go through the list", "up and down arrows, Home and End"],
  ["g then h, t, r, f, c, g, l", "Try (home), Tools, Resources, My Files, Chat, Guardrails, Log"],
  ["[ and ]", "Previous result, next result", "left and right bracket"],
  ["?", "These keys", "question mark"],
  ["Esc", "Close"],
];
