/**
 * `<sluice-thumbnail>`: a small picture of what an artifact holds.
 * @module
 */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { chooseIcon } from "./icons.js";
import { defineElements } from "./registry.js";
import { type ArtifactBytes, isStored, type ShownArtifact } from "./shown.js";
import { baseStyles, themeTokens } from "./theme.js";
import type { Drawing } from "./thumbnail/drawing.js";

/** CSS pixels below which tables and texts are not read: their icon says more. */
const LEGIBLE = 64;

/**
 * A picture of an artifact: the image, the first page of a PDF, the head of a table, the beginning of a text; for anything else the
 * icon of its type, or what is put into its slot. Drawn while it is in view, and decorative: its name stands beside it. Its size is that of the element, in CSS.
 */
export class SluiceThumbnail extends LitElement {
  /** @hidden */
  static override properties = {
    artifact: { attribute: false },
    bytes: { attribute: false },
    drawing: { state: true },
  };
  /** @hidden */
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        background: var(--surface-sunken);
        block-size: 40px;
        border: 1px solid var(--line);
        border-radius: calc(var(--radius) - 2px);
        container-type: size;
        display: inline-block;
        flex: none;
        inline-size: 40px;
        overflow: hidden;
      }
      div {
        block-size: 100%;
        display: grid;
        inline-size: 100%;
        place-items: center;
      }
      svg.icon {
        block-size: min(50cqb, 40px);
        color: var(--text-soft);
        inline-size: min(50cqb, 40px);
      }
      /* Never larger than it is. */
      canvas,
      img,
      ::slotted(img) {
        block-size: 100cqb;
        inline-size: 100cqi;
        object-fit: scale-down;
      }
      .page,
      ::slotted(img) {
        box-sizing: border-box;
        object-fit: contain;
        padding-block: 4cqb;
      }
      pre,
      table {
        color: var(--text-soft);
        font-family: var(--font-code);
        font-size: var(--size-small);
        line-height: 1.4;
        margin: 0;
        place-self: start;
        text-align: start;
        white-space: pre;
        zoom: 0.75;
      }
      pre {
        padding: 12px 16px;
        tab-size: 2;
      }
      table {
        background: var(--surface-raised);
        border-collapse: collapse;
        margin: 14px 16px;
        min-inline-size: calc(100% - 32px);
      }
      :is(td, th) {
        border: 1px solid var(--line);
        font-weight: 400;
        max-inline-size: 16ch;
        overflow: hidden;
        padding: 3px 8px;
        text-align: start;
        text-overflow: ellipsis;
      }
      th {
        background: var(--surface-sunken);
        color: var(--text);
        font-weight: 600;
      }
      @container (min-width: 400px) {
        pre,
        table {
          zoom: 1;
        }
      }
    `,
  ];

  /** The artifact to show. */
  declare artifact: ShownArtifact | undefined;
  /** Its bytes. Without them its icon is shown. */
  declare bytes: ArtifactBytes | undefined;
  /** What was drawn of it; undefined for its icon. */
  declare protected drawing: Drawing | undefined;

  #inView = false;
  #shown = "";
  #run: AbortController | undefined;

  constructor() {
    super();
    this.artifact = undefined;
    this.bytes = undefined;
    this.drawing = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    observer().observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    observer().unobserve(this);
    this.seen(false);
  }

  /** Draws what comes into view, and lets go of what left it. */
  seen(inView: boolean): void {
    this.#inView = inView;
    if (inView) this.#draw();
    else this.#end();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("artifact") && !changed.has("bytes")) return;
    // Compared by value: callers may create new objects for each render.
    const { artifact, bytes } = this;
    const { id, sha256, size_bytes, mime_type, filename } = artifact ?? { id: "" };
    const shown = JSON.stringify([id, sha256, size_bytes, mime_type, filename, bytes !== undefined]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#end();
    this.#draw();
  }

  protected override render(): TemplateResult {
    return html`<div aria-hidden="true">${this.#picture()}</div>`;
  }

  #picture(): TemplateResult | Node {
    const { drawing } = this;
    switch (drawing?.kind) {
      case "picture":
        return this.#canvas(drawing.picture, drawing.isPage);
      case "address":
        return html`<img src=${drawing.address} alt="" decoding="async" />`;
      case "text":
        return html`<pre>${drawing.text}</pre>`;
      case "table":
        return renderTable(drawing.rows);
      default:
        return html`<slot>${chooseIcon(this.artifact?.mime_type ?? null)}</slot>`;
    }
  }

  /** The picture in the size of the element. It is kept itself for others of the same artifact. */
  #canvas(picture: ImageBitmap, isPage: boolean): HTMLCanvasElement {
    const scale = Math.min(
      1,
      (this.clientWidth * devicePixelRatio) / picture.width,
      (this.clientHeight * devicePixelRatio) / picture.height,
    );
    const canvas = document.createElement("canvas");
    if (isPage) canvas.className = "page";
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    const context = canvas.getContext("2d");
    if (context !== null) context.imageSmoothingQuality = "high";
    context?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  #draw(): void {
    const { artifact, bytes } = this;
    if (!this.#inView || this.#run !== undefined || artifact === undefined || bytes === undefined) return;
    if (artifact.deferred === true || !isStored(artifact)) return;
    const run = new AbortController();
    this.#run = run;
    void this.#drawArtifact(artifact, bytes, run.signal);
  }

  async #drawArtifact(artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal): Promise<void> {
    try {
      // What is to be read comes first.
      await idle();
      signal.throwIfAborted();
      const { drawArtifact } = await import("./thumbnail/drawing.js");
      const { clientWidth: width, clientHeight: height } = this;
      const drawing = await drawArtifact({ artifact, bytes, width, height, isLegible: width >= LEGIBLE }, signal);
      if (!signal.aborted) this.drawing = drawing;
    } catch {
      // It left the view, or cannot be loaded or drawn: the icon stays.
    }
  }

  #end(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.drawing = undefined;
  }
}

function renderTable([head = [], ...rows]: readonly (readonly string[])[]): TemplateResult {
  return html`<table>
    <thead>
      <tr>
        ${head.map((cell) => html`<th>${cell}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Milliseconds after which a busy page draws anyway. */
const BUSY = 500;

/** Waits until the page has nothing else to do; for a moment, where the browser does not tell. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => resolve(), { timeout: BUSY });
    else setTimeout(resolve, BUSY / 10);
  });
}

let shared: IntersectionObserver | undefined;

/** One observer for all thumbnails, made in browsers only. */
function observer(): IntersectionObserver {
  shared ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) (target as SluiceThumbnail).seen(isIntersecting);
    },
    { rootMargin: "200px" },
  );
  return shared;
}

declare global {
  interface HTMLElementTagNameMap {
    "sluice-thumbnail": SluiceThumbnail;
  }
}

defineElements({ "sluice-thumbnail": SluiceThumbnail });
