/**
 * A note under a result: its files are in My Files, or the tool was silent for too long.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { plainLines } from "../../../ui/plain-text.js";
import { longer, type ReportedTimeout, timeoutIn } from "../../engine/time-limit.js";
import { viewStyles } from "../styles.js";
import { findShelf, type ShownCall } from "../state.js";
import { ViewElement } from "../view-element.js";

/** `<playground-filed>` */
class FiledNote extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false } };
  static override styles = viewStyles;

  declare call: ShownCall;

  /** In a narrow window the viewer takes the lower half: scroll the result into the upper one. */
  override firstUpdated(): void {
    const isHalf = this.call.result?.filed?.mode === "split" && matchMedia("(max-width: 1099px)").matches;
    if (isHalf) this.scrollIntoView({ block: "start" });
  }

  override render(): TemplateResult | typeof nothing {
    const { result } = this.call;
    const timeout = result?.isError === true ? timeoutIn(result.observation) : undefined;
    if (timeout !== undefined) return this.#renderTimeout(timeout);
    if (result?.filed === undefined) return nothing;
    const { notification, category_hint: category } = result.filed;
    const count = result.artifacts.filter((artifact) => findShelf(artifact) === "files").length;
    if (notification === undefined && category === undefined && count === 0) return nothing;
    return html`<div class="stack">
      ${notification === undefined ? nothing : html`<p>${result.server} says: ${plainLines(notification)}</p>`}
      ${
        count === 0
          ? nothing
          : html`<p class="soft">
              ${count === 1 ? "Its file is" : `Its ${count} files are`} in My Files: the result has names in place of
              bytes.
            </p>`
      }
      <div class="row">
        ${category === undefined ? nothing : html`<span class="chip">Filed under ${category}</span>`}
        ${count === 0 ? nothing : html`<button @click=${() => this.actions.go("files")}>Show My Files</button>`}
      </div>
    </div>`;
  }

  #renderTimeout({ seconds, lastProgress }: ReportedTimeout): TemplateResult {
    const { timeout, progress } = this.call;
    const more = longer(timeout);
    return html`<div class="problem stack" role="alert">
      <p><strong>E_TIMEOUT</strong> ${progress?.wait?.message ?? "The tool did not answer."}</p>
      <p>
        The limit was ${seconds} s.
        ${lastProgress === null ? "It reported no progress." : `Last progress: ${plainLines(lastProgress)}`}
      </p>
      ${
        more > timeout
          ? html`<div class="row">
              <button @click=${() => this.actions.repeat(this.call, "more")}>Retry with ${more} s</button>
            </div>`
          : nothing
      }
    </div>`;
  }
}

customElements.define("playground-filed", FiledNote);
