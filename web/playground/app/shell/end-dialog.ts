/**
 * The question before a session ends. Loaded when it is first asked.
 * @module
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { serverOfPage } from "../browser.js";
import { dialogStyles, viewStyles } from "../styles.js";

/** `<playground-end>`: asks before a session ends. */
class EndDialog extends LitElement {
  static override styles = [
    viewStyles,
    dialogStyles,
    css`
      .row {
        justify-content: flex-end;
      }
    `,
  ];

  override render(): TemplateResult {
    return html`<dialog aria-labelledby="title" aria-describedby="told">
      <form class="stack" method="dialog">
        <h2 id="title">End session</h2>
        <p id="told">
          All calls, and the files that results stored in this session, are deleted in every tab; My Files
          stay.${serverOfPage() === undefined ? nothing : " What the session stored on this page's server is deleted too."}
        </p>
        <div class="row">
          <button autofocus>Cancel</button>
          <button class="primary" value="end">End session</button>
        </div>
      </form>
    </dialog>`;
  }

  override firstUpdated(): void {
    const dialog = this.renderRoot.querySelector("dialog");
    dialog?.addEventListener("close", () => {
      this.dispatchEvent(new CustomEvent("answer", { detail: dialog.returnValue === "end" }));
    });
    dialog?.showModal();
  }
}

customElements.define("playground-end", EndDialog);

/** Asks whether to end the session; closing the dialog means no. */
export async function confirmEnd(): Promise<boolean> {
  const question = new EndDialog();
  const answered = new Promise<boolean>((resolve) => {
    question.addEventListener("answer", (event) => resolve((event as CustomEvent<boolean>).detail), { once: true });
  });
  document.body.append(question);
  const isYes = await answered;
  question.remove();
  return isYes;
}
