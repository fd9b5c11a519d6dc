/**
 * Shares a result: as a link, or as a file.
 * @module
 */
import { css, type PropertyValues, type TemplateResult } from "lit";
import download from "lucide-static/icons/download.svg?raw";
import link from "lucide-static/icons/link.svg?raw";
import { Menu, menuStyles } from "../../../ui/artifact/menu.js";
import type { ShareLink } from "./shared-result.js";
import { viewStyles } from "../styles.js";
import type { ShownCall } from "../state.js";
import { ViewElement } from "../view-element.js";

/** `<playground-share>` */
class ShareMenu extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false }, link: { state: true } };
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
  declare link: ShareLink | undefined;
  readonly #menu = new Menu(this);

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("call");
    if (!changed.has("call") || (before?.id === this.call.id && before.result === this.call.result)) return;
    this.link = undefined;
    void this.#find(this.call);
  }

  async #find(call: ShownCall): Promise<void> {
    const found = await this.actions.link(call).catch(() => undefined);
    if (this.call.id === call.id) this.link = found;
  }

  override render(): TemplateResult {
    const { call, actions, link: shared } = this;
    const saved = {
      label: "Download the result",
      icon: download,
      run: () => void this.#say(actions.downloadResult(call)),
    };
    // A result that is too large for a link has no button that would make a dead one.
    const items =
      shared === undefined ? [saved] : [{ label: "Copy link", icon: link, run: () => void this.#copy(shared) }, saved];
    return this.#menu.render(items, call.title, "Share");
  }

  async #copy({ href, said }: ShareLink): Promise<void> {
    await this.#say(navigator.clipboard.writeText(href).then(() => said));
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
