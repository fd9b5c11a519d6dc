/**
 * "Use this in my app": texts that put Sluice in front of the server of a call, with the guardrails that hold. Loaded lazily.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import "../copy-text.js";
import { type ShownCall } from "../state.js";
import { viewStyles } from "../styles.js";
import { tabList, tabStyles, type Tab } from "../tabs.js";
import { ViewElement } from "../view-element.js";
import {
  commandLine,
  CONFIG_FILE,
  configText,
  EXAMPLE,
  hasGaps,
  HOSTS,
  hostText,
  installLine,
  PLACEHOLDER,
  type ProgramId,
  PROGRAMS,
  programText,
  setupServer,
  type SetupServer,
} from "./setup-text.js";

type Way = "command" | "host" | "program";

const WAYS: readonly Tab<Way>[] = [
  ["command", "Command line"],
  ["host", "Host"],
  ["program", "TypeScript"],
];

/** `<playground-setup>`: `.call` is the call whose server is meant. */
class Setup extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    call: { attribute: false },
    way: { state: true },
    host: { state: true },
    program: { state: true },
  };
  static override styles = [
    viewStyles,
    tabStyles,
    css`
      :host {
        display: block;
        min-inline-size: 0;
      }
      .stack {
        gap: 16px;
      }
      [role="tabpanel"] {
        max-inline-size: 840px;
      }
      select {
        max-inline-size: 360px;
      }
      p {
        max-inline-size: 72ch;
      }
    `,
  ];

  declare call: ShownCall;
  declare way: Way;
  declare host: string;
  declare program: ProgramId;

  constructor() {
    super();
    this.way = "command";
    this.host = "claude-desktop";
    this.program = "client";
  }

  override render(): TemplateResult {
    const address = this.actions.addressOf(this.call.server);
    const server = setupServer(address, address?.hasToken === true);
    return html`<div class="stack">
      ${tabList("Ways to use it", WAYS, this.way, (way) => (this.way = way))}
      <div class="stack" role="tabpanel" id="panel-${this.way}" aria-labelledby="tab-${this.way}">
        ${this.#way(server)} ${this.#notes(server)}
      </div>
      ${WAYS.filter(([id]) => id !== this.way).map(([id]) => html`<div hidden id="panel-${id}"></div>`)}
    </div>`;
  }

  #way(server: SetupServer): TemplateResult {
    if (this.way === "host") return this.#host(server);
    return this.way === "program" ? this.#program(server) : this.#command(server);
  }

  #command(server: SetupServer): TemplateResult {
    return html`<p>
        Starts the server behind Sluice and speaks MCP on standard input and output: use it wherever a host takes a
        command.
      </p>
      <playground-copy label="Command" .text=${commandLine(server, this.state.config)}></playground-copy>
      ${this.#file("Save it in the folder that the command runs in.")}`;
  }

  #host(server: SetupServer): TemplateResult {
    const host = HOSTS.find(({ id }) => id === this.host);
    if (host === undefined) return html``;
    return html`<label
        ><span class="label">Host</span>
        <select @change=${(event: Event) => (this.host = (event.target as HTMLSelectElement).value)}>
          ${HOSTS.map(({ id, label }) => html`<option value=${id} ?selected=${id === this.host}>${label}</option>`)}
        </select></label
      >
      <p>${host.label} starts the server behind Sluice. Put this into ${host.file}, then restart it.</p>
      <playground-copy
        label="JSON for ${host.label}"
        .text=${hostText(host, server, this.state.config)}
      ></playground-copy>
      ${this.#file("Save it, and write its absolute path into the JSON.")}`;
  }

  #program(server: SetupServer): TemplateResult {
    return html`<label
        ><span class="label">With</span>
        <select @change=${(event: Event) => (this.program = (event.target as HTMLSelectElement).value as ProgramId)}>
          ${PROGRAMS.map(({ id, label }) => html`<option value=${id} ?selected=${id === this.program}>${label}</option>`)}
        </select></label
      >
      <p>Connects to the server, keeps what is stored in ./artifacts, and prints the names of its tools.</p>
      <playground-copy label="Packages" .text=${installLine(this.program)}></playground-copy>
      <playground-copy
        label="TypeScript"
        .text=${programText(this.program, server, this.state.config)}
      ></playground-copy>`;
  }

  #file(sentence: string): TemplateResult | typeof nothing {
    const text = configText(this.state.config);
    if (text === undefined) return nothing;
    return html`<playground-copy label=${CONFIG_FILE} .text=${text}></playground-copy>
      <p class="soft">Your guardrails, where they differ from the defaults. ${sentence}</p>`;
  }

  #notes(server: SetupServer): TemplateResult | typeof nothing {
    if (server === EXAMPLE) {
      return html`<p class="soft">
        The server of this call cannot be started by an address of its own, so an example that anybody can run stands in
        its place: put yours there.
      </p>`;
    }
    if (!hasGaps(server)) return nothing;
    if (this.way !== "program") {
      return html`<p class="soft">Write your credential in place of ${PLACEHOLDER}: this page never shows it.</p>`;
    }
    return html`<p class="soft">
      ${server.hasToken ? "The program takes the token from the variable MCP_TOKEN." : nothing}
      ${hasGaps({ ...server, hasToken: false }) ? `Write your credential in place of ${PLACEHOLDER}: this page never shows it.` : nothing}
    </p>`;
  }
}

customElements.define("playground-setup", Setup);
