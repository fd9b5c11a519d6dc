/**
 * The prompts of a server: a list, a form for the arguments, and the messages that a prompt gives, with their roles.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Problem, ShownPrompt, ShownPromptMessage } from "../../engine/messages.js";
import type { ArgumentsForm } from "../call/arguments-form.js";
import "../call/arguments-form.js";
import { messageStyles, promptMessages } from "../call/prompt-messages.js";
import { twoPanes, viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** `<playground-prompts>`; the slot is above the list. */
class PromptsView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    prompts: { state: true },
    problem: { state: true },
    chosen: { state: true },
    messages: { state: true },
    isBusy: { state: true },
  };

  static override styles = [
    viewStyles,
    twoPanes,
    messageStyles,
    css`
      @media (max-width: 1099px) {
        aside {
          border: 0;
          border-block-end: 1px solid var(--line);
          max-block-size: 40dvh;
          padding: 12px;
        }
      }
    `,
  ];

  declare prompts: readonly ShownPrompt[] | undefined;
  declare problem: Problem | undefined;
  declare chosen: string | undefined;
  declare messages: readonly ShownPromptMessage[] | undefined;
  declare isBusy: boolean;
  /** The server that was asked. */
  #server = "";

  constructor() {
    super();
    this.isBusy = false;
  }

  override willUpdate(): void {
    if (this.state.server !== this.#server) void this.#list();
  }

  override render(): TemplateResult {
    const { prompts } = this;
    const prompt = prompts?.find(({ name }) => name === this.chosen) ?? prompts?.[0];
    return html`
      <aside aria-label="Prompts">
        <div class="stack">
          <slot></slot>
          ${
            prompts === undefined
              ? html`<p class="soft" role="status">
                  ${this.problem === undefined ? "Asking for the prompts…" : nothing}
                </p>`
              : html`<ul class="list">
                  ${prompts.map(
                    (each) =>
                      html`<li>
                        <button aria-current=${each === prompt} @click=${() => this.#choose(each.name)}>
                          <strong>${each.title}</strong> <span class="soft">${each.description}</span>
                        </button>
                      </li>`,
                  )}
                </ul>`
          }
        </div>
      </aside>
      <div class="work stack">
        ${prompt === undefined ? nothing : this.#form(prompt)}
        ${
          this.problem === undefined
            ? nothing
            : html`<p class="problem" role="alert">${this.problem.message}</p>
                ${prompts === undefined ? html`<button @click=${() => this.#list()}>Try again</button>` : nothing}`
        }
        ${prompts?.length === 0 ? html`<p class="empty">The server has no prompts.</p>` : nothing}
        ${this.messages === undefined ? nothing : promptMessages(this.actions, this.messages)}
      </div>
    `;
  }

  #form(prompt: ShownPrompt): TemplateResult {
    return html`<section class="panel stack" aria-label=${prompt.title} @arguments-submit=${() => this.#get(prompt)}>
      <h2>${prompt.title}</h2>
      ${prompt.description === "" ? nothing : html`<p class="soft">${prompt.description}</p>`}
      <playground-arguments .schema=${prompt.schema} .subject=${"prompt"}>
        <button class="primary" aria-disabled=${this.isBusy} @click=${() => this.#get(prompt)}>Get the prompt</button>
      </playground-arguments>
    </section>`;
  }

  #choose(name: string): void {
    this.chosen = name;
    this.messages = undefined;
    this.problem = undefined;
  }

  async #list(): Promise<void> {
    const { server } = this.state;
    this.#server = server;
    this.prompts = undefined;
    this.messages = undefined;
    this.problem = undefined;
    const listed = await this.actions.engine.prompts(server);
    if (server !== this.#server) return;
    if (listed.ok) this.prompts = listed.value;
    else this.problem = listed.problem;
  }

  async #get({ name }: ShownPrompt): Promise<void> {
    const args = this.renderRoot.querySelector<ArgumentsForm>("playground-arguments")?.read();
    if (args === undefined || this.isBusy) return;
    const server = this.#server;
    this.problem = undefined;
    this.isBusy = true;
    const got = await this.actions.engine.prompt(server, name, args as Readonly<Record<string, string>>);
    this.isBusy = false;
    if (server !== this.#server) return;
    if (got.ok) this.messages = got.value;
    else this.problem = got.problem;
  }
}

customElements.define("playground-prompts", PromptsView);
