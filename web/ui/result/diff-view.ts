/**
 * `<sluice-result-diff>`: what was taken out and what stands there instead, line by line.
 * @module
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { base, tokens } from "../theme.js";
import { diffLines, MOST_LINES, type DiffLine, type DiffLines } from "./diff-lines.js";
import type { MarkedText } from "./marked-text.js";
import type { Artifacts } from "./names.js";

const SIGNS: Record<DiffLine["side"], string> = { both: " ", sent: "−", model: "+" };

/** The comparison of both sides. */
export class SluiceResultDiff extends LitElement {
  static override properties = {
    sent: { attribute: false },
    observation: { attribute: false },
    artifacts: { attribute: false },
    compared: { state: true },
    isBroken: { state: true },
  };
  static override styles = [
    tokens,
    base,
    css`
      :host {
        display: grid;
        gap: 8px;
      }
      p {
        margin: 0;
      }
    `,
  ];

  /** What was sent. */
  declare sent: MarkedText;
  /** What the model sees. */
  declare observation: string;
  /** Artifacts by their ids. */
  declare artifacts: Artifacts;
  declare protected compared: DiffLines | undefined;
  declare protected isBroken: boolean;

  constructor() {
    super();
    this.sent = { text: "", holes: [] };
    this.observation = "";
    this.artifacts = new Map();
    this.compared = undefined;
    this.isBroken = false;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (["sent", "observation", "artifacts"].some((name) => changed.has(name))) void this.#compare();
  }

  protected override render(): TemplateResult {
    if (this.isBroken)
      return html`<p role="alert">The comparison could not be loaded. Try again when you are online.</p>`;
    const { compared } = this;
    if (compared === undefined) return html`<p class="soft" role="status">Comparing…</p>`;
    const count = (side: DiffLine["side"]): number => compared.lines.filter((each) => each.side === side).length;
    return html`<p class="soft">
        <b>−</b> ${count("sent")} lines only the server sent, <b>+</b> ${count("model")} lines only the model sees.
        ${compared.whole ? nothing : `Only the first ${MOST_LINES.toLocaleString("en")} lines of each side are compared.`}
      </p>
      <sluice-result-lines
        .count=${compared.lines.length}
        .line=${(index: number) => line(compared.lines[index])}
        .label=${"Differences"}
      ></sluice-result-lines>`;
  }

  async #compare(): Promise<void> {
    const { sent, observation } = this;
    this.compared = undefined;
    this.isBroken = false;
    try {
      const compared = await diffLines(sent, observation, this.artifacts);
      if (sent === this.sent && observation === this.observation) this.compared = compared;
    } catch {
      this.isBroken = true;
    }
  }
}

function line(of: DiffLine | undefined): TemplateResult {
  if (of === undefined) return html``;
  const { side, text } = of;
  if (side === "sent") return html`<del class="sent"><b>${SIGNS.sent}</b>${text}</del>`;
  return side === "model"
    ? html`<ins class="model"><b>${SIGNS.model}</b>${text}</ins>`
    : html`<b>${SIGNS.both}</b>${text}`;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-result-diff": SluiceResultDiff;
  }
}
