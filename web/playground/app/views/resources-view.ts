/**
 * The resources of a server.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { ResourceReader } from "../../../ui/resources.js";
import "../../../ui/resources.js";
import { css, html, type TemplateResult } from "lit";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Outcome, Problem, ShownResources } from "../../engine/messages.js";
import type { Actions } from "../actions.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** A reader of a server's resources through the engine. */
function resourceReader(actions: Actions, server: string): ResourceReader {
  const { resources } = actions;
  return {
    supports: { subscribe: true, complete: true },
    async read(uri) {
      const reading = valueOf(await resources.read(server, uri));
      actions.seen(server, uri);
      return reading;
    },
    async subscribe(uri) {
      valueOf(await resources.subscribe(server, uri, true));
    },
    async unsubscribe(uri) {
      valueOf(await resources.subscribe(server, uri, false));
    },
    complete: (template, variable, value) => resources.complete(server, template, variable, value),
    variables: async (template) => valueOf(await resources.variables(template)),
    expand: async (template, values) => valueOf(await resources.expand(template, values)),
    bytes: (artifact) => actions.bytesOf("session", artifact),
  };
}

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.problem;
  throw new SluiceError(code as SluiceError["code"], message);
}

/** `<playground-resources>` */
class ResourcesView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    listed: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 24px 32px 48px;
      }
      @media (max-width: 1099px) {
        :host {
          padding: 16px;
        }
      }
      h2 {
        margin-block-end: 8px;
      }
    `,
  ];

  declare listed: ShownResources | undefined;
  declare problem: Problem | undefined;
  /** The server and the number of changes that the lists were requested for. */
  #asked = "";
  #reader: ReturnType<typeof resourceReader> | undefined;

  override willUpdate(): void {
    const { server, changes } = this.state;
    const asking = `${server} ${changes}`;
    if (asking === this.#asked) return;
    const { readers } = this.actions;
    this.#reader = readers.get(server) ?? resourceReader(this.actions, server);
    readers.set(server, this.#reader);
    this.#asked = asking;
    void this.#ask(server, asking);
  }

  override render(): TemplateResult {
    const { server, updates } = this.state;
    if (this.problem !== undefined) {
      return html`<div class="empty">
        <p>${this.problem.message}</p>
        <button class="primary" @click=${() => this.#ask(server, this.#asked)}>Try again</button>
      </div>`;
    }
    if (this.listed === undefined) return html`<p class="empty" role="status">Asking ${server}…</p>`;
    const own = [...updates]
      .filter((each) => each.startsWith(`${server} `))
      .map((each) => each.slice(server.length + 1));
    return html`<h2 class="title">Resources of ${server}</h2>
      <sluice-resources
        .resources=${this.listed.resources}
        .templates=${this.listed.templates}
        .reader=${this.#reader}
        .updates=${new Set(own)}
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail)}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail, "session", true)}
        @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.save(detail)}
      ></sluice-resources>`;
  }

  async #ask(server: string, asking: string): Promise<void> {
    this.problem = undefined;
    const outcome = await this.actions.resources.resources(server);
    if (asking !== this.#asked) return;
    if (outcome.ok) this.listed = outcome.value;
    else this.problem = outcome.problem;
  }
}

customElements.define("playground-resources", ResourcesView);
