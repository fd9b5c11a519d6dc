/**
 * The base class of every part of the page, and the names of views and shelves.
 * @module
 */
import { LitElement } from "lit";
import type { Shelf } from "../engine/shelves.js";
import type { Actions } from "./actions.js";
import { StoreController, type State, type Store, type View } from "./state.js";

/** An element that shows the state and updates with it. */
export abstract class ViewElement extends LitElement {
  static override properties = { store: { attribute: false }, actions: { attribute: false } };

  declare store: Store;
  declare actions: Actions;

  constructor() {
    super();
    this.addController(new StoreController(this, () => this.store));
  }

  /** The current state. */
  protected get state(): State {
    return this.store.state;
  }
}

/** Names of the views. */
export const TITLES: Readonly<Record<View, string>> = {
  try: "Try",
  tools: "Tools",
  resources: "Resources",
  files: "My Files",
  chat: "Chat",
  guardrails: "Guardrails",
  log: "Log",
  elements: "Elements",
};

/** Headings for the shelves. */
export const SHELF_LABELS: Readonly<Record<Shelf, string>> = {
  session: "Stored in this session",
  files: "In My Files",
  served: "Stored by this page's server",
  "served-files": "In your files on this page's server",
};

/** The text of a form field; empty if there is none. */
export function textIn(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value : "";
}
