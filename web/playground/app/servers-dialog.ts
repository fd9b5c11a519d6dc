/**
 * The servers that are connected, and how to connect another. Loaded when it is first opened.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Outcome, ShownServer } from "../engine/contract.js";
import { textIn } from "./form-text.js";
import { dialogStyles, viewStyles } from "./shared-styles.js";
import type { View } from "./state.js";
import { statusDot, WORDS } from "./status-dot.js";
import { ViewElement } from "./view.js";

/** A page that comes from a static host reaches no program. */
const PROGRAM = html`<p class="soft">A server that is a program? Open the playground of a server that starts it:</p>
  <pre tabindex="0"><code>npx mcp-sluice serve -- npx -y @modelcontextprotocol/server-everything</code></pre>`;

/** `<playground-servers-dialog>` */
export class ServersDialog extends ViewElement {
  static override properties = { ...ViewElement.properties, problem: { state: true }, isBusy: { state: true } };

  static override styles = [
    viewStyles,
    dialogStyles,
    statusDot,
    css`
      label.row {
        flex-wrap: nowrap;
        min-block-size: var(--target);
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
    return html`
      <dialog aria-labelledby="servers" @close=${() => (this.problem = undefined)}>
        <div class="stack">
          <div class="row">
            <h2 id="servers" class="grow">Servers</h2>
            <button class="plain" id="close" @click=${() => this.#dialog?.close()}>Close</button>
          </div>
          <ul>
            ${this.state.servers.map((each) => this.#item(each))}
          </ul>
          ${
            this.state.servers.some(({ name }) => name === "files")
              ? nothing
              : html`<div class="row">
                  <span class="grow">A demo whose tools work with My Files</span>
                  <button @click=${() => this.#tried(this.actions.dialFiles())}>Add it</button>
                </div>`
          }
          ${this.state.serve === undefined ? nothing : this.#served()} ${this.#form()}
        </div>
      </dialog>
    `;
  }

  #item({ name, status, problem, tools, userFiles }: ShownServer): TemplateResult {
    const isCurrent = name === this.state.server;
    return html`<li>
      <div class="row">
        <span class="dot ${status}"></span>
        <strong class="grow cut">${name}</strong>
        <span class="soft"
          >${status === "ready" ? `${tools.length} tools` : WORDS[status]}${userFiles === true ? ", my files" : nothing}</span
        >
        <button
          ?disabled=${status === "connecting" || (isCurrent && status === "ready")}
          @click=${(event: Event) => (status === "failed" ? this.#redial(name, event) : this.#choose(name))}
        >
          ${status === "failed" ? "Try again" : isCurrent ? "Shown" : "Show"}
        </button>
        ${name === "demo" ? nothing : html`<button @click=${() => this.#leave(name)}>Leave</button>`}
      </div>
      ${problem === undefined || problem.message === this.problem ? nothing : html`<p class="problem" role="alert">${problem.message}</p>`}
    </li>`;
  }

  #served(): TemplateResult {
    void import("./serve/served-sources.js");
    return html`<playground-served-sources
      .store=${this.store}
      .actions=${this.actions}
      .isBusy=${this.isBusy}
      .tried=${(connecting: Promise<Outcome<null>>, view: View) => this.#tried(connecting, view)}
    ></playground-served-sources>`;
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
      <label class="row">
        <input name="files" type="checkbox" />
        <span class="grow">Works with my files: its tools get those that a call names, and theirs are kept</span>
      </label>
      <p class="soft">The token stays in memory. Where a server wants you to sign in, you are asked.</p>
      ${this.state.serve === undefined ? PROGRAM : nothing}
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
    const withFiles = textIn(form, "files") === "on";
    const outcome = await this.#tried(this.actions.dial(textIn(form, "url"), textIn(form, "token"), withFiles));
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
  async #tried(connecting: Promise<Outcome<null>>, view: View = "tools"): Promise<Outcome<null>> {
    this.problem = undefined;
    this.isBusy = true;
    const outcome = await connecting;
    this.isBusy = false;
    if (outcome.ok) {
      this.#dialog?.close();
      this.dispatchEvent(new CustomEvent("playground-show", { detail: { view }, bubbles: true, composed: true }));
    } else if (this.#dialog?.open === false) this.#dialog.showModal();
    return outcome;
  }

  get #dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector("dialog");
  }
}

customElements.define("playground-servers-dialog", ServersDialog);
