/**
 * Previews of PDF in an app: pages as pictures that the server draws, as PDF.js would be larger than everything else in the app.
 * @module
 */
import { button, type Drawn, element, type PreviewInput, PreviewProblem, type Renderer } from "../viewer/preview.js";
import type { HostArtifact } from "./host-artifact.js";

/** Draws pages of an artifact, from `first` on. */
export function pdfPages(artifact: () => HostArtifact | undefined, first: () => number): Renderer {
  return async (host, input, signal) => {
    const from = artifact();
    if (from === undefined) throw new PreviewProblem("It could not be read.", "retry");
    const pages = new PdfPages(host, input, from, signal);
    return pages.show(first());
  };
}

/** One page at a time, with a toolbar. */
class PdfPages {
  readonly #artifact: HostArtifact;
  readonly #signal: AbortSignal;
  /** How many pages there are; undefined if nothing tells. */
  readonly #count: number | undefined;
  readonly #number = element("input", "", { type: "number", min: "1", value: "1", "aria-label": "Page" });
  readonly #frame: HTMLElement;
  readonly #said = element("span", "soft", { role: "status" });
  /** The page that was asked for last. */
  #page = 1;

  constructor(host: HTMLElement, input: PreviewInput, artifact: HostArtifact, signal: AbortSignal) {
    this.#artifact = artifact;
    this.#signal = signal;
    this.#count = pagesIn(input.artifact.source?.description);
    if (this.#count !== undefined) this.#number.max = String(this.#count);
    this.#number.addEventListener("change", () => this.#go(this.#number.valueAsNumber), { signal });
    this.#frame = element("div", "pdf", { tabindex: "0", role: "group", "aria-label": `Pages of ${input.name}` });
    this.#frame.addEventListener("keydown", ({ key }) => this.#onKey(key), { signal });
    const bar = element("div", "bar", { role: "group", "aria-label": "Pages" });
    bar.append(
      button("Previous", () => this.#go(this.#page - 1), signal),
      this.#number,
      ...(this.#count === undefined ? [] : [element("span", "soft", {}, `of ${this.#count.toLocaleString("en")}`)]),
      button("Next", () => this.#go(this.#page + 1), signal),
      this.#said,
    );
    host.append(bar, this.#frame);
  }

  /** Shows a page. Throws a `PreviewProblem` if neither a picture nor a text of it can be had. */
  async show(page: number): Promise<Drawn> {
    this.#page = this.#bounded(page);
    this.#number.value = String(this.#page);
    const wanted = this.#page;
    this.#said.textContent = "Loading…";
    const label = this.#count === undefined ? `Page ${wanted}` : `Page ${wanted} of ${this.#count}`;
    // The text is for screen readers, and for servers that draw no pictures.
    const [picture, text] = await Promise.allSettled([this.#artifact.picture(wanted), this.#artifact.text(wanted)]);
    this.#signal.throwIfAborted();
    if (wanted !== this.#page) return {};
    this.#said.textContent = "";
    const words = text.status === "fulfilled" ? text.value.trim() : "";
    if (picture.status === "fulfilled") {
      const image = element("img", "", { src: picture.value, alt: label });
      const sheet = element("div", "sheet", {}, image, ...(words === "" ? [] : [element("p", "unseen", {}, words)]));
      this.#frame.replaceChildren(element("div", "sheets", {}, sheet));
      this.#frame.scrollTop = 0;
      await image.decode().catch(() => {});
      return {};
    }
    if (text.status === "rejected") throw picture.reason;
    this.#frame.replaceChildren(element("pre", "words", {}, words === "" ? "This page has no text." : words));
    return { note: "The server draws no pictures of pages, so their text is shown." };
  }

  #go(page: number): void {
    if (this.#bounded(page) === this.#page) {
      this.#number.value = String(this.#page);
      return;
    }
    void this.show(page).catch((error: unknown) => {
      if (this.#signal.aborted) return;
      this.#said.textContent = "";
      const sentence = error instanceof PreviewProblem ? error.message : "This page could not be read.";
      this.#frame.replaceChildren(element("p", "empty", { role: "alert" }, sentence));
    });
  }

  #onKey(key: string): void {
    if (key === "ArrowLeft" || key === "ArrowRight") this.#go(this.#page + (key === "ArrowLeft" ? -1 : 1));
  }

  #bounded(page: number): number {
    return Math.min(this.#count ?? Infinity, Math.max(1, Math.round(page) || this.#page));
  }
}

/** The number of pages in a description such as `PDF, 12 pages, 340 KB`. */
function pagesIn(description: string | undefined): number | undefined {
  const [, count] = /\b([\d,]+) pages?\b/.exec(description ?? "") ?? [];
  return count === undefined ? undefined : Number(count.replaceAll(",", ""));
}
