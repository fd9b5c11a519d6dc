/**
 * The dialog that lists the connected servers and connects another. Loaded when it is first opened.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { cleanNamespace } from "mcp-sluice";
import "../copy-text.js";
import type { Outcome, ServerAddress, ShownAbout, ShownServer } from "../../engine/messages.js";
import { textIn, ViewElement } from "../view-element.js";
import { dialogStyles, viewStyles } from "../styles.js";
import type { View } from "../state.js";
import { againLabel, isAsked, statusDot, STATUS_LABELS } from "./servers.js";

/** A static page cannot start programs. */
const PROGRAM = html`<p class="soft">To use a server that is a program, start the playground with it:</p>
  <playground-copy
    label="Command"
    .text=${"npx mcp-sluice serve -- npx -y @modelcontextprotocol/server-everything"}
  ></playground-copy>`;

/** `<playground-servers-dialog>` */
export class ServersDialog extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    problem: { state: true },
    wrong: { state: true },
    isBusy: { state: true },
    about: { state: true },
  };

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
      .wrong {
        color: var(--bad);
        display: block;
      }
      summary {
        cursor: pointer;
        min-block-size: var(--target);
        padding-block: 4px;
      }
      dl {
        display: grid;
        gap: 4px 12px;
        grid-template-columns: auto minmax(0, 1fr);
        margin: 0;
      }
      dt {
        color: var(--text-soft);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .instructions {
        white-space: pre-wrap;
      }
    `,
  ];

  declare problem: string | undefined;
  /** Why the address that was typed cannot be used. */
  declare wrong: string | undefined;
  declare isBusy: boolean;
  /** How servers introduced themselves, by name. */
  declare about: ReadonlyMap<string, ShownAbout>;

  constructor() {
    super();
    this.problem = undefined;
    this.isBusy = false;
    this.about = new Map();
  }

  /** Opens the dialog; its form has the focus, filled in for a server that needs something again. */
  open(server?: string): void {
    this.problem = undefined;
    this.wrong = undefined;
    for (const { name } of this.state.servers) void this.actions.engine.check(name);
    this.#dialog?.showModal();
    const again = this.state.servers.find(({ name }) => name === server);
    if (again?.lacks === undefined) this.renderRoot.querySelector<HTMLElement>("input[name=url]")?.focus();
    else this.#fill(again);
  }

  /** Fills in what is known of a server, and has the rest typed. */
  #fill({ name, lacks, userFiles = false }: ShownServer): void {
    const field = (named: string): HTMLInputElement | null => this.renderRoot.querySelector(`input[name=${named}]`);
    const [url, files] = [field("url"), field("files")];
    if (url === null || files === null) return;
    url.value = this.actions.addressOf(name)?.url ?? "";
    files.checked = userFiles;
    field(lacks === "token" ? "token" : "url")?.focus();
  }

  override willUpdate(): void {
    // Pauses are shown in the page, which an open dialog blocks.
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
                  <button @click=${() => this.#tryConnecting(this.actions.connectFileDemo())}>Add it</button>
                </div>`
          }
          ${this.state.serve === undefined ? nothing : this.#renderServed()} ${this.#form()}
        </div>
      </dialog>
    `;
  }

  #item(server: ShownServer): TemplateResult {
    const { name, status, problem, tools, userFiles } = server;
    const isCurrent = name === this.state.server;
    return html`<li>
      <div class="row">
        <span class="dot ${status}"></span>
        <strong class="grow cut">${name}</strong>
        <span class="soft"
          >${status === "ready" ? `${tools.length} tools` : STATUS_LABELS[status]}${userFiles === true ? ", my files" : nothing}</span
        >
        <button
          ?disabled=${status === "connecting" || (isCurrent && status === "ready")}
          @click=${(event: Event) => (status === "failed" ? this.#again(server, event) : this.#choose(name))}
        >
          ${status === "failed" ? againLabel(server) : isCurrent ? "Shown" : "Show"}
        </button>
        ${name === "demo" ? nothing : html`<button @click=${() => this.#leave(name)}>Leave</button>`}
      </div>
      ${status === "ready" ? this.#details(name) : nothing}
      ${problem === undefined || problem.message === this.problem ? nothing : html`<p class="problem" role="alert">${problem.message}</p>`}
    </li>`;
  }

  /** How the server introduced itself. */
  #details(name: string): TemplateResult {
    const about = this.about.get(name);
    return html`<details @toggle=${(event: Event) => this.#look(name, event.target as HTMLDetailsElement)}>
      <summary>About ${name}</summary>
      ${
        about === undefined
          ? html`<p class="soft">It is not known how the server introduced itself.</p>`
          : html`<dl>
              <dt>Name</dt>
              <dd>${about.name} ${about.version}</dd>
              <dt>Protocol</dt>
              <dd>${about.protocol}</dd>
              <dt>Capabilities</dt>
              <dd>${capabilities(about.capabilities)}</dd>
              ${
                about.instructions === ""
                  ? nothing
                  : html`<dt>Instructions</dt>
                      <dd class="instructions">${about.instructions.slice(0, MAX_INSTRUCTIONS)}</dd>`
              }
            </dl>`
      }
    </details>`;
  }

  async #look(name: string, { open }: HTMLDetailsElement): Promise<void> {
    const about = open ? await this.actions.engine.about(name) : undefined;
    if (about !== undefined) this.about = new Map(this.about).set(name, about);
  }

  #renderServed(): TemplateResult {
    return html`<playground-served-sources
      .store=${this.store}
      .actions=${this.actions}
      .isBusy=${this.isBusy}
      .tried=${(connecting: Promise<Outcome<null>>, view: View) => this.#tryConnecting(connecting, view)}
    ></playground-served-sources>`;
  }

  #form(): TemplateResult {
    return html`<form class="stack" novalidate @submit=${this.#connect}>
      <h3>Connect my server</h3>
      <label>
        <span class="label" id="address">Address</span>
        <input
          name="url"
          aria-labelledby="address"
          type="url"
          required
          placeholder="https://mcp.example.com/mcp"
          autocomplete="url"
          aria-invalid=${this.wrong !== undefined}
          aria-describedby=${this.wrong === undefined ? nothing : "wrong"}
          @input=${() => (this.wrong = undefined)}
        />
        ${this.wrong === undefined ? nothing : html`<span id="wrong" class="wrong" role="alert">${this.wrong}</span>`}
      </label>
      <label>
        <span class="label">Token (optional)</span>
        <input name="token" type="password" autocomplete="off" />
      </label>
      <label class="row">
        <input name="files" type="checkbox" />
        <span class="grow"
          >Use my files: its tools get the files that a call names, and the files that they make are saved</span
        >
      </label>
      <p class="soft">
        The token stays in memory, so it is needed again after a reload. If the server needs you to sign in, you are
        asked.
      </p>
      ${this.state.serve === undefined ? PROGRAM : nothing}
      ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      <button class="primary" aria-disabled=${this.isBusy}>${this.isBusy ? "Connecting…" : "Connect"}</button>
    </form>`;
  }

  #choose(name: string): void {
    this.store.set({ server: name, tool: undefined });
    this.#dialog?.close();
  }

  /** Moves the focus, as the pressed button disappears. */
  async #leave(name: string): Promise<void> {
    await this.actions.disconnect(name);
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>("#close")?.focus();
  }

  async #connect(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    // The button is not disabled meanwhile, so that it keeps the focus.
    if (this.isBusy) return;
    const form = event.target as HTMLFormElement;
    const withFiles = textIn(form, "files") === "on";
    const url = textIn(form, "url").trim();
    this.wrong = addressProblem(url);
    if (this.wrong !== undefined) {
      form.querySelector<HTMLElement>("[name=url]")?.focus();
      return;
    }
    const outcome = await this.#tryConnecting(this.actions.connectUrl(url, textIn(form, "token"), withFiles));
    this.problem = outcome.ok ? undefined : outcome.problem.message;
    if (outcome.ok) form.reset();
  }

  async #again(server: ShownServer, { currentTarget }: Event): Promise<void> {
    const { name } = server;
    if (isAsked(server)) return this.#fill(server);
    const { ok } = await this.#tryConnecting(this.actions.reconnect(name));
    if (ok) return;
    // The button lost the focus while it was disabled.
    await this.updateComplete;
    (currentTarget as HTMLElement).focus();
  }

  /** Shows a view once a server is connected; reopens the dialog if it fails. */
  async #tryConnecting(connecting: Promise<Outcome<null>>, view: View = "tools"): Promise<Outcome<null>> {
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

/** Characters shown of a server's instructions. */
const MAX_INSTRUCTIONS = 4000;

/** The names of capabilities, with what each can do beside. */
function capabilities(offered: Readonly<Record<string, unknown>>): string {
  const names = Object.entries(offered).map(([name, value]) => {
    const can = typeof value === "object" && value !== null ? Object.keys(value) : [];
    return can.length === 0 ? name : `${name} (${can.slice(0, 10).join(", ")})`;
  });
  return names.length === 0 ? "none" : names.slice(0, 30).join(", ");
}

/** Why an address cannot be the one of a server, or undefined. */
export function addressProblem(url: string): string | undefined {
  if (url === "") return "Type the address of an MCP server, such as https://mcp.example.com/mcp.";
  if (!URL.canParse(url)) return "This is not an address: it begins with https:// or http://.";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:")
    return `A page cannot connect over ${protocol.slice(0, -1)}: use the server's https:// or http:// address.`;
  if (username !== "" || password !== "")
    return "Browsers send no user name or password that is in an address: write a token below.";
  return undefined;
}

/** Local hosts, which are named by their port. */
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The address with a name that is not taken. */
export function addressFrom(url: string, token: string, taken: readonly string[]): ServerAddress {
  const { hostname, port } = new URL(url);
  const isHere = LOOPBACK.has(hostname);
  const wanted = cleanNamespace(isHere ? `local-${port}` : hostname).slice(0, 40);
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}-${number}`;
  return { name, kind: "http", url, ...(token !== "" && { token }) };
}
