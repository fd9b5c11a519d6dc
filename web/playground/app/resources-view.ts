/**
 * What a server has to read.
 * @module
 */
import { css, html, type TemplateResult } from "lit";
import "mcp-sluice/ui/resources";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Problem, ShownResources } from "../engine/contract.js";
import { resourceReader } from "./resource-reader.js";
import { viewStyles } from "./shared-styles.js";
import { ViewElement } from "./view.js";

/** `<playground-resources>` */
export class ResourcesView extends ViewElement {
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
        padding: 16px;
      }
      h2 {
        margin-block-end: 8px;
      }
    `,
  ];

  declare listed: ShownResources | undefined;
  declare problem: Problem | undefined;
  /** What the lists are of: a server's name, and how often they changed. */
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
    return html`<h2>Resources of ${server}</h2>
      <sluice-resources
        .resources=${this.listed.resources}
        .templates=${this.listed.templates}
        .reader=${this.#reader}
        .updates=${new Set(own)}
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail)}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "session", true)}
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
