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
    this.#page = this.#limitPage(page);
    this.#number.value = String(this.#page);
    const wanted = this.#page;
    this.#said.textContent = "Loading…";
    const label = this.#count === undefined ? `Page ${wanted}` : `Page ${wanted} of ${this.#count}`;
    const text = this.#artifact.text(wanted).then((words) => words.trim());
    // Its failure matters only where there is no picture.
    text.catch(() => {});
    const picture = await this.#artifact.picture(wanted).catch((error: unknown) => ({ error }));
    if (typeof picture !== "string") return this.#write(wanted, text, picture.error);
    if (!this.#isWanted(wanted)) return {};
    const image = element("img", "", { src: picture, alt: label });
    const sheet = element("div", "sheet", {}, image);
    this.#put(element("div", "sheets", {}, sheet));
    await image.decode().catch(() => {});
    // For screen readers. It takes longer, since all pages are read for it.
    void text.then(
      (words) => words !== "" && sheet.append(element("p", "unseen", {}, words)),
      () => undefined,
    );
    return {};
  }

  /** Shows the text of a page that has no picture, because of `cause`. */
  async #write(page: number, text: Promise<string>, cause: unknown): Promise<Drawn> {
    const words = await text.catch(() => {
      throw cause;
    });
    if (!this.#isWanted(page)) return {};
    this.#put(element("pre", "words", {}, words === "" ? "This page has no text." : words));
    return { note: "The server draws no pictures of pages, so their text is shown." };
  }

  /** Whether a page is still the one to show. Throws the signal's reason. */
  #isWanted(page: number): boolean {
    this.#signal.throwIfAborted();
    return page === this.#page;
  }

  #put(content: HTMLElement): void {
    this.#said.textContent = "";
    this.#frame.replaceChildren(content);
    this.#frame.scrollTop = 0;
  }

  #go(page: number): void {
    if (this.#limitPage(page) === this.#page) {
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

  #limitPage(page: number): number {
    return Math.min(this.#count ?? Infinity, Math.max(1, Math.round(page) || this.#page));
  }
}

/** The number of pages in a description such as `PDF, 12 pages, 340 KB`. */
function pagesIn(description: string | undefined): number | undefined {
  const [, count] = /\b([\d,]+) pages?\b/.exec(description ?? "") ?? [];
  return count === undefined ? undefined : Number(count.replaceAll(",", ""));
}
