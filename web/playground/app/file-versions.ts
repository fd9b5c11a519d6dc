/**
 * The versions of a file, which are looked for when somebody wants to see them.
 * @module
 */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import "mcp-sluice/ui/artifact";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownFile } from "../engine/contract.js";
import { viewStyles } from "./shared-styles.js";
import { ViewElement } from "./view.js";

const ACTIONS = ["preview", "download"] as const;

/** `<playground-versions>` */
export class FileVersions extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    file: { attribute: false },
    found: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      li {
        padding-block: 2px;
      }
    `,
  ];

  declare file: ShownFile;
  declare found: readonly ShownFile[] | undefined;
  declare problem: string;

  constructor() {
    super();
    this.found = undefined;
    this.problem = "";
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("file");
    if (before !== undefined && before.id !== this.file.id) this.found = undefined;
  }

  override render(): TemplateResult {
    const { found, file } = this;
    return html`<button
        class="plain"
        aria-expanded=${found !== undefined}
        aria-label="Versions of ${file.filename}"
        @click=${this.#toggle}
      >
        Versions
      </button>
      ${this.problem === "" ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
      ${
        found === undefined
          ? nothing
          : html`<ul>
              ${found.map((version) => this.#version(version))}
            </ul>`
      }`;
  }

  #version(version: ShownFile): TemplateResult {
    return html`<li @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.look(detail, "files")}>
      <sluice-artifact
        compact
        .artifact=${version}
        .bytes=${this.actions.bytesOf("files", version)}
        .actions=${ACTIONS}
      ></sluice-artifact>
      <span class="soft">${version.origin}, ${new Date(version.stored_at).toLocaleString()}</span>
    </li>`;
  }

  async #toggle(): Promise<void> {
    this.problem = "";
    if (this.found !== undefined) {
      this.found = undefined;
      return;
    }
    const outcome = await this.actions.engine.versions(this.file.id);
    if (outcome.ok) this.found = outcome.value;
    else this.problem = outcome.problem.message;
  }
}

customElements.define("playground-versions", FileVersions);
