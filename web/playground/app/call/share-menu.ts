/**
 * Shares a result: as a link, or as a file.
 * @module
 */
import { css, type TemplateResult } from "lit";
import download from "lucide-static/icons/download.svg?raw";
import link from "lucide-static/icons/link.svg?raw";
import { Menu, menuStyles } from "../../../ui/artifact/menu.js";
import { viewStyles } from "../styles.js";
import type { ShownCall } from "../state.js";
import { ViewElement } from "../view-element.js";

/** `<playground-share>` */
class ShareMenu extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false } };
  static override styles = [
    viewStyles,
    menuStyles,
    css`
      :host {
        display: block;
      }
    `,
  ];

  declare call: ShownCall;
  readonly #menu = new Menu(this);

  override render(): TemplateResult {
    const { call, actions } = this;
    const items = [
      { label: "Copy link", icon: link, run: () => void this.#say(actions.copyLink(call)) },
      { label: "Download result", icon: download, run: () => void this.#say(actions.downloadResult(call)) },
    ];
    return this.#menu.render(items, call.title, "Share");
  }

  async #say(work: Promise<string | void>): Promise<void> {
    try {
      const text = await work;
      if (typeof text === "string") this.store.set({ answer: { text, isBad: false } });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.store.set({ answer: { text: `The result could not be shared: ${why}`, isBad: true } });
    }
  }
}

customElements.define("playground-share", ShareMenu);
