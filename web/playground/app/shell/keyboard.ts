/**
 * Keyboard shortcuts for the whole page. In text fields only those with a modifier work.
 * @module
 */
import type { LitElement, ReactiveController } from "lit";
import type { Actions } from "../actions.js";
import { currentCall, type Store, type View } from "../state.js";
import type { ToolsView } from "../views/tools-view.js";

/** The keys that follow `g`. */
const VIEW_KEYS: Readonly<Record<string, View>> = {
  t: "tools",
  r: "resources",
  f: "files",
  c: "chat",
  h: "try",
  g: "guardrails",
  l: "log",
};

/** Listens for keys while the page is shown. */
export class Keyboard implements ReactiveController {
  readonly #host: LitElement;
  readonly #store: Store;
  readonly #actions: Actions;
  #goes = false;

  constructor(host: LitElement, store: Store, actions: Actions) {
    this.#host = host;
    this.#store = store;
    this.#actions = actions;
  }

  hostConnected(): void {
    addEventListener("keydown", this.#listener);
  }

  hostDisconnected(): void {
    removeEventListener("keydown", this.#listener);
  }

  readonly #listener = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const isCommand = event.metaKey || event.ctrlKey;
    const isPlain = !event.altKey && !isWriting(event) && !isOverPage(event);
    const done = isCommand ? this.#command(event.key) : isPlain && this.#plain(event.key);
    if (done) event.preventDefault();
  };

  #command(key: string): boolean {
    if (key.toLowerCase() === "k") this.#find("find");
    else if (key === "Enter" && this.#store.state.view === "tools") {
      return this.#host.renderRoot.querySelector<ToolsView>("playground-tools")?.submit() ?? false;
    } else if (key === "Enter") {
      const call = currentCall(this.#store.state);
      if (call === undefined || call.state === "running") return false;
      void this.#actions.repeat(call);
    } else return false;
    return true;
  }

  #plain(key: string): boolean {
    const view = this.#goes ? VIEW_KEYS[key] : undefined;
    this.#goes = !this.#goes && key === "g";
    if (view !== undefined) this.#host.dispatchEvent(new CustomEvent("playground-show", { detail: { view } }));
    else if (key === "?") this.#find("keys");
    else if (key === "/") return this.#search();
    else if (key === "[" || key === "]") this.#step(key === "[" ? 1 : -1);
    else if (key === "Escape" && this.#store.state.preview !== undefined) this.#actions.preview(undefined);
    else return this.#goes;
    return true;
  }

  /** Calls are listed newest first. */
  #step(by: number): void {
    const { calls, call } = this.#store.state;
    const next = calls[calls.findIndex(({ id }) => id === call) + by];
    if (next !== undefined) this.#store.set({ call: next.id });
  }

  #search(): boolean {
    const work = this.#host.renderRoot.querySelector("main");
    const field = work === null ? undefined : searchIn(work);
    if (field === undefined) this.#find("find");
    else field.focus();
    return true;
  }

  #find(mode: "find" | "keys"): void {
    this.#host.dispatchEvent(new CustomEvent("playground-find", { detail: mode }));
  }
}

/** The first search field, also in nested shadow roots. */
function searchIn(root: ParentNode): HTMLElement | undefined {
  for (const element of root.querySelectorAll<HTMLElement>("*")) {
    if (element.matches("input[type=search]")) return element;
    const inner = element.shadowRoot === null ? undefined : searchIn(element.shadowRoot);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Dialogs and popovers have their own keys. */
function isOverPage(event: KeyboardEvent): boolean {
  return event.composedPath().some((node) => node instanceof HTMLElement && node.matches("dialog, [popover]"));
}

function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.localName))
  );
}
