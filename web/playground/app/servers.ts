/**
 * The server switcher: which one is shown, how it is, and how to connect another.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "mcp-sluice/ui/theme";
import server from "lucide-static/icons/server.svg?raw";
import type { Outcome, ShownServer } from "../engine/contract.js";
import { textIn } from "./form-text.js";
import { dialogStyles, viewStyles } from "./shared-styles.js";
import { currentServer } from "./state.js";
import { ViewElement } from "./view.js";

const WORDS = { ready: "connected", connecting: "connecting", failed: "not connected" } as const;

/** `<playground-servers>` */
export class Servers extends ViewElement {
  static override properties = { ...ViewElement.properties, problem: { state: true }, isBusy: { state: true } };

  static override styles = [
    viewStyles,
    dialogStyles,
    css`
      .dot {
        border-radius: 50%;
        block-size: 9px;
        inline-size: 9px;
      }
      .ready {
        background: var(--good);
      }
      .connecting {
        border: 2px solid var(--warn);
      }
      .failed {
        background: var(--bad);
        border-radius: 0;
      }
      .name {
        max-inline-size: 140px;
      }
      li .grow {
        min-inline-size: 96px;
      }
      li {
        border-block-end: 1px solid var(--line);
        padding-block: 6px;
      }
      pre {
        background: var(--surface-sunken);
        border-radius: 4px;
        margin: 0;
        overflow-x: auto;
        padding: 6px 8px;
      }
    `,
  ];

  declare problem: string | undefined;
  declare isBusy: boolean;

  constructor() {
    super();
    this.problem = undefined;
    this.isBusy = false;
  }

  /** Shows the dialog; its form has the focus. */
  open(): void {
    this.problem = undefined;
    this.#dialog?.showModal();
    this.renderRoot.querySelector<HTMLElement>("input[name=url]")?.focus();
  }

  override willUpdate(): void {
    // What a server wants to know stands in the page, which nobody reaches below a dialog.
    if (this.isBusy && this.state.pauses.length > 0) this.#dialog?.close();
  }

  override render(): TemplateResult {
    const current = currentServer(this.state);
    const status = current?.status ?? "connecting";
    return html`
      <button @click=${this.open} aria-haspopup="dialog">
        ${icon(server)}<span class="name cut">${current?.name ?? this.state.server}</span>
        <span class="dot ${status}"></span><span class="unseen">${WORDS[status]}. Servers</span>
      </button>
      <dialog aria-labelledby="servers" @close=${() => (this.problem = undefined)}>
        <div class="stack">
          <div class="row">
            <h2 id="servers" class="grow">Servers</h2>
            <button class="plain" id="close" @click=${() => this.#dialog?.close()}>Close</button>
          </div>
          <ul>
            ${this.state.servers.map((each) => this.#item(each))}
          </ul>
          ${this.#form()}
        </div>
      </dialog>
    `;
  }

  #item({ name, kind, status, problem, tools }: ShownServer): TemplateResult {
    const isCurrent = name === this.state.server;
    return html`<li>
      <div class="row">
        <span class="dot ${status}"></span>
        <strong class="grow cut">${name}</strong>
        <span class="soft">${status === "ready" ? `${tools.length} tools` : WORDS[status]}</span>
        <button
          ?disabled=${status === "connecting" || (isCurrent && status === "ready")}
          @click=${(event: Event) => (status === "failed" ? this.#redial(name, event) : this.#choose(name))}
        >
          ${status === "failed" ? "Try again" : isCurrent ? "Shown" : "Show"}
        </button>
        ${kind === "demo" ? nothing : html`<button @click=${() => this.#leave(name)}>Leave</button>`}
      </div>
      ${problem === undefined || problem.message === this.problem ? nothing : html`<p class="problem" role="alert">${problem.message}</p>`}
    </li>`;
  }

  #form(): TemplateResult {
    return html`<form class="stack" @submit=${this.#connect}>
      <h3>Connect my server</h3>
      <label>
        <span class="label">Address</span>
        <input name="url" type="url" required placeholder="https://mcp.example.com/mcp" autocomplete="url" />
      </label>
      <label>
        <span class="label">Token, if it wants one</span>
        <input name="token" type="password" autocomplete="off" />
      </label>
      <p class="soft">The token stays in memory. Where a server wants you to sign in, you are asked.</p>
      <p class="soft">A server that is a program? Start it behind the bridge, and paste the address that it prints:</p>
      <pre tabindex="0"><code>npx mcp-sluice bridge -- npx -y @modelcontextprotocol/server-everything</code></pre>
      ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      <button class="primary" aria-disabled=${this.isBusy}>${this.isBusy ? "Connecting…" : "Connect"}</button>
    </form>`;
  }

  #choose(name: string): void {
    this.store.set({ server: name, tool: undefined });
    this.#dialog?.close();
  }

  /** Its own button goes with it. */
  async #leave(name: string): Promise<void> {
    await this.actions.disconnect(name);
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>("#close")?.focus();
  }

  async #connect(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    // The button keeps the focus: it is not disabled.
    if (this.isBusy) return;
    const form = event.target as HTMLFormElement;
    const outcome = await this.#tried(this.actions.dial(textIn(form, "url"), textIn(form, "token")));
    this.problem = outcome.ok ? undefined : outcome.problem.message;
    if (outcome.ok) form.reset();
  }

  async #redial(name: string, { currentTarget }: Event): Promise<void> {
    const { ok } = await this.#tried(this.actions.redial(name));
    if (ok) return;
    // The button was disabled meanwhile.
    await this.updateComplete;
    (currentTarget as HTMLElement).focus();
  }

  /** Shows what there is when a server is connected; else what can be done about it. */
  async #tried(connecting: Promise<Outcome<null>>): Promise<Outcome<null>> {
    this.problem = undefined;
    this.isBusy = true;
    const outcome = await connecting;
    this.isBusy = false;
    if (outcome.ok) {
      this.#dialog?.close();
      this.dispatchEvent(
        new CustomEvent("playground-show", { detail: { view: "tools" }, bubbles: true, composed: true }),
      );
    } else if (this.#dialog?.open === false) this.#dialog.showModal();
    return outcome;
  }

  get #dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector("dialog");
  }
}

customElements.define("playground-servers", Servers);
