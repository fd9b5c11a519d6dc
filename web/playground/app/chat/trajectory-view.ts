/**
 * What the model saw, wrote and called at each step.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import { plainLines } from "../../../ui/plain-text.js";
import type { SeenMessage } from "../../engine/chat/messages.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";
import type { ChatStep, ChatTurn } from "./turn.js";

const ROLES = { system: "Instructions", user: "The question", tool: "The result of" } as const;

/** `<playground-trajectory>` */
class TrajectoryView extends ViewElement {
  static override properties = { ...ViewElement.properties, turn: { attribute: false } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
      ol {
        display: grid;
        gap: 8px;
        grid-template-columns: minmax(0, 1fr);
        margin: 0;
        padding: 0;
      }
      li {
        list-style: none;
      }
      summary {
        cursor: pointer;
        min-block-size: var(--target);
        padding-block: 4px;
      }
      .said {
        white-space: pre-wrap;
      }
      pre {
        background: var(--surface-sunken);
        border-radius: calc(var(--radius) - 2px);
        margin: 4px 0 8px;
        max-block-size: 320px;
        overflow: auto;
        overflow-wrap: anywhere;
        padding: 8px;
        white-space: pre-wrap;
      }
    `,
  ];

  declare turn: ChatTurn;

  override render(): TemplateResult {
    const { steps, end } = this.turn;
    return html`<ol aria-label="Steps">
        ${steps.map((step) => html`<li class="panel">${this.#step(step)}</li>`)}
      </ol>
      ${
        end?.trajectory === undefined
          ? nothing
          : html`<p class="row">
              <button @click=${this.#save}>Download the trajectory</button>
              <span class="soft">JSON with references and observations, without bytes.</span>
            </p>`
      }`;
  }

  #step({ step, seen, tools, text, calls, tokens }: ChatStep): TemplateResult {
    const chars = seen.reduce((sum, message) => sum + message.text.length, 0);
    return html`<h3>Step ${step}</h3>
      <p class="soft">
        ${chars.toLocaleString("en")} new
        characters${tools === undefined ? nothing : `, ${tools} tools`}${tokens === undefined ? nothing : `, ${tokens.toLocaleString("en")} tokens`}
      </p>
      ${seen.map(
        (message) =>
          html`<details ?open=${message.role === "tool"}>
            <summary>
              ${nameMessage(message)} <span class="soft">(${message.text.length.toLocaleString("en")} characters)</span>
            </summary>
            <pre tabindex="0" aria-label=${nameMessage(message)}>${plainLines(message.text)}</pre>
          </details>`,
      )}
      ${text === "" ? nothing : html`<p class="said">It said: ${plainLines(text)}</p>`}
      ${calls.length === 0 ? nothing : html`<p>It called ${calls.map(({ tool }) => plainLines(tool)).join(", ")}.</p>`}`;
  }

  #save(): void {
    const { id, end } = this.turn;
    const blob = new Blob([JSON.stringify(end?.trajectory, null, 2)], { type: "application/json" });
    const href = URL.createObjectURL(blob);
    Object.assign(document.createElement("a"), { href, download: `trajectory-${id.slice(0, 8)}.json` }).click();
    URL.revokeObjectURL(href);
  }
}

function nameMessage({ role, tool }: SeenMessage): string {
  return tool === undefined ? ROLES[role] : `${ROLES[role]} ${plainLines(tool)}`;
}

customElements.define("playground-trajectory", TrajectoryView);
