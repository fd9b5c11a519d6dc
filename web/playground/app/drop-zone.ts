/**
 * The whole window takes files: dropped or pasted.
 * @module
 */
import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Listens for files as long as the page is shown. */
export class DropZone implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #take: (files: readonly File[]) => void;
  /** Entered and not left: elements within the window tell of both. */
  #depth = 0;

  constructor(host: ReactiveControllerHost, take: (files: readonly File[]) => void) {
    this.#host = host;
    this.#take = take;
    host.addController(this);
  }

  /** Whether a file is held over the window. */
  get isOver(): boolean {
    return this.#depth > 0;
  }

  hostConnected(): void {
    for (const kind of EVENTS) addEventListener(kind, this.#listener);
  }

  hostDisconnected(): void {
    for (const kind of EVENTS) removeEventListener(kind, this.#listener);
  }

  readonly #listener = (event: Event): void => {
    if (event instanceof ClipboardEvent) this.#pasted(event);
    else if (event instanceof DragEvent && event.dataTransfer?.types.includes("Files") === true) this.#dragged(event);
  };

  #dragged(event: DragEvent): void {
    if (event.type === "dragenter") this.#depth += 1;
    if (event.type === "dragleave") this.#depth -= 1;
    if (event.type === "dragover") event.preventDefault();
    if (event.type === "drop") {
      event.preventDefault();
      this.#depth = 0;
      this.#take([...(event.dataTransfer?.files ?? [])]);
    }
    this.#host.requestUpdate();
  }

  #pasted(event: ClipboardEvent): void {
    const [target] = event.composedPath();
    if (target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea)$/i.test(target.localName)))
      return;
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (files.length > 0) this.#take(files);
    else if (text !== "") this.#take([new File([text], "pasted.json", { type: "application/json" })]);
    else return;
    event.preventDefault();
  }
}

const EVENTS = ["dragenter", "dragleave", "dragover", "drop", "paste"] as const;
