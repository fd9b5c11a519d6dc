/**
 * The JSON-RPC messages between the page and its servers: of all of them, or of one call. Loaded when the view opens.
 * @module
 */
import { humanSize } from "mcp-sluice";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { ShownExchange, ShownMessage } from "../../engine/messages.js";
import { jsonTokens, tokenStyles } from "../../../ui/result/json-tokens.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** Rows shown at first, and more on each request. */
const PAGE = 50;

/** Ends of what is shown in colours; longer text stays plain. */
const MAX_COLOURED = 400;

const STATES = { open: "waiting", done: "answered", error: "failed", cancelled: "cancelled" } as const;

/** `<playground-messages>`; with `call`, the id of a call, only its messages. */
export class MessagesView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    call: { attribute: false },
    listed: { state: true },
    query: { state: true },
    most: { state: true },
    opened: { state: true },
  };

  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
      li {
        border-block-end: 1px solid var(--line);
      }
      .entry {
        align-items: baseline;
        background: none;
        border-color: transparent;
        border-radius: 0;
        column-gap: 12px;
        display: grid;
        grid-template-columns: 7em 1.2em minmax(0, 1fr) minmax(0, 8em) 9em 5em 6em;
        inline-size: 100%;
        min-block-size: var(--target);
        padding: 4px 6px;
        text-align: start;
        white-space: normal;
      }
      .number {
        font-variant-numeric: tabular-nums;
        text-align: end;
      }
      .time {
        white-space: nowrap;
      }
      .method {
        font-family: var(--font-code);
        overflow-wrap: anywhere;
      }
      .error {
        color: var(--bad);
      }
      .sent {
        color: var(--sent, var(--text-soft));
      }
      .received {
        color: var(--seen, var(--accent));
      }
      .both {
        display: grid;
        gap: 12px;
        grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr));
        padding: 4px 6px 12px;
      }
      h3 {
        margin-block-end: 4px;
      }
      @media (max-width: 800px) {
        .entry {
          grid-template-columns: 1.2em minmax(0, 1fr) auto;
        }
        .time,
        .server,
        .size {
          display: none;
        }
        .took {
          grid-column: 2;
          text-align: start;
        }
        .state {
          grid-column: 3;
          grid-row: 1;
        }
      }
    `,
  ];

  /** The id of a call; undefined shows the messages of all servers. */
  declare call: string | undefined;
  declare listed: readonly ShownExchange[] | undefined;
  declare query: string;
  declare most: number;
  declare opened: ReadonlySet<string>;
  #asked = -1;
  #isAsking = false;

  constructor() {
    super();
    this.call = undefined;
    this.listed = undefined;
    this.query = "";
    this.most = PAGE;
    this.opened = new Set();
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("call")) this.#asked = -1;
    if (this.state.exchanges !== this.#asked) void this.#ask();
  }

  override render(): TemplateResult {
    if (this.listed === undefined) return html`<p class="empty" role="status">Loading…</p>`;
    const words = this.query.toLowerCase();
    const found = this.listed.filter(({ method, server, id }) =>
      `${method} ${server} ${id}`.toLowerCase().includes(words),
    );
    return html`<div class="stack">
      ${this.call === undefined ? this.#head() : nothing}
      ${
        found.length === 0
          ? html`<p class="soft" role="status">
              ${this.listed.length > 0 ? "No message matches." : "No messages are recorded here yet."}
            </p>`
          : html`<ul aria-label="Messages">
              ${found.slice(0, this.most).map((each) => this.#entry(each))}
            </ul>`
      }
      ${
        found.length > this.most
          ? html`<button @click=${() => (this.most += PAGE)}>Show more (${found.length - this.most} older)</button>`
          : nothing
      }
    </div>`;
  }

  #head(): TemplateResult {
    return html`<div class="row">
      <input
        class="grow"
        type="search"
        aria-label="Search messages by method or server"
        placeholder="Method or server"
        .value=${this.query}
        @input=${(event: Event) => (this.query = (event.target as HTMLInputElement).value)}
      />
      <button @click=${this.#clear}>Clear</button>
    </div>`;
  }

  #entry(exchange: ShownExchange): TemplateResult {
    const { key, at, method, id, server, isSent, request, answer, duration, state, status, problem } = exchange;
    const isOpen = this.opened.has(key);
    const answered =
      answer === undefined
        ? nothing
        : html`<span aria-hidden="true"> → </span><span class="unseen">, answer </span>${humanSize(answer.size)}`;
    const took = duration === undefined ? "" : milliseconds(duration);
    const said = id === "" ? "" : STATES[state];
    return html`<li>
      <button class="entry" aria-expanded=${isOpen} @click=${() => this.#toggle(key)}>
        <time class="soft number time">${new Date(at).toLocaleTimeString()}</time>
        <span class=${isSent ? "sent" : "received"} aria-hidden="true">${isSent ? "→" : "←"}</span>
        <span
          ><span class="unseen">${isSent ? "to" : "from"} ${server}: </span
          ><span class="method">${method === "" ? "message" : method}</span
          >${id === "" ? nothing : html`<span class="unseen"> id</span> <span class="soft">${id}</span>`}</span
        >
        <span class="soft cut server" aria-hidden="true">${server}</span>
        <span class="soft number size">${humanSize(request.size)}${answered}</span>
        <span class="soft number took">${took}</span>
        <span class="state ${state === "error" ? "error" : "soft"}">${said}</span>
      </button>
      ${
        isOpen
          ? html`<div class="both">
              ${this.#message(isSent ? "Sent" : "Received", request)}
              ${answer === undefined ? nothing : this.#message(isSent ? "Answer of the server" : "Answer of the page", answer)}
              ${problem === undefined ? nothing : html`<p class="problem">${problem}</p>`}
              ${status === undefined || status < 400 ? nothing : html`<p class="soft">HTTP ${status}</p>`}
            </div>`
          : nothing
      }
    </li>`;
  }

  #message(title: string, message: ShownMessage): TemplateResult {
    const cut = message.isCut ? `, the first 8 KB shown` : "";
    return html`<section aria-label=${title}>
      <h3>${title} <span class="soft">${humanSize(message.size)}${cut}</span></h3>
      <playground-message-text .text=${message.text} .label=${title}></playground-message-text>
    </section>`;
  }

  #toggle(key: string): void {
    const opened = new Set(this.opened);
    if (!opened.delete(key)) opened.add(key);
    this.opened = opened;
  }

  async #clear(): Promise<void> {
    await this.actions.engine.forgetExchanges();
    this.opened = new Set();
    await this.#ask();
  }

  /** Asks once at a time; what was reported meanwhile is asked for afterwards. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#asked = this.state.exchanges;
    const { call } = this;
    this.listed = await this.actions.engine.exchanges(call).finally(() => (this.#isAsking = false));
    if (this.call !== call || this.#asked !== this.state.exchanges) this.requestUpdate();
  }
}

customElements.define("playground-messages", MessagesView);

/** `<playground-message-text>`: JSON text, indented and in colours; other text as it is. */
export class JsonText extends LitElement {
  static override properties = { text: { attribute: false }, label: { attribute: false } };

  static override styles = [
    viewStyles,
    tokenStyles,
    css`
      pre {
        background: var(--surface-sunken);
        border-radius: 4px;
        font-family: var(--font-code);
        font-size: 12px;
        margin: 0;
        max-block-size: 420px;
        overflow: auto;
        padding: 8px;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
    `,
  ];

  declare text: string;
  declare label: string;

  constructor() {
    super();
    this.text = "";
    this.label = "JSON";
  }

  override render(): TemplateResult {
    const text = indentJson(this.text);
    return html`<pre tabindex="0" role="group" aria-label=${this.label}><code>${colourText(text)}</code></pre>`;
  }
}

customElements.define("playground-message-text", JsonText);

/** A string, which may be cut off, with the colon of a key; a number or a word; a bracket or a comma. */
const TOKENS = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|-?\d[\d.eE+-]*|true|false|null|[{}[\],]/g;

/** JSON text over several lines, also where its end is cut off. Other text stays as it is. */
function indentJson(text: string): string {
  if (!/^\s*[{[]/.test(text)) return text;
  let depth = 0;
  let out = "";
  for (const [token, quoted, colon] of text.matchAll(TOKENS)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      // An empty object or list stays on its line.
      out = /[{[]\s*$/.test(out) ? out.trimEnd() + token : `${out}${line(depth)}${token}`;
    } else if (token === "{" || token === "[") {
      depth += 1;
      out += token + line(depth);
    } else if (token === ",") out += token + line(depth);
    else out += colon === undefined ? token : `${quoted}: `;
  }
  return out;
}

function line(depth: number): string {
  return `\n${"  ".repeat(Math.max(0, Math.min(depth, 40)))}`;
}

/** The text in colours up to a number of tokens, and the rest without. */
function colourText(text: string): readonly (string | TemplateResult)[] {
  const parts: (string | TemplateResult)[] = [];
  let at = 0;
  for (const { kind, begin, end } of jsonTokens(text)) {
    if (parts.length >= 2 * MAX_COLOURED) break;
    parts.push(text.slice(at, begin), html`<span class=${kind}>${text.slice(begin, end)}</span>`);
    at = end;
  }
  return [...parts, text.slice(at)];
}

function milliseconds(duration: number): string {
  return duration < 1000 ? `${Math.round(duration)} ms` : `${(duration / 1000).toFixed(1)} s`;
}
