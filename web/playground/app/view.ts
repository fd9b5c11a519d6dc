/**
 * What every part of the page is: an element that shows the state, and is given what changes it.
 * @module
 */
import { LitElement } from "lit";
import type { Actions } from "./actions.js";
import { Showing, type State, type Store } from "./state.js";

/** An element with the state at hand. */
export abstract class ViewElement extends LitElement {
  static override properties = { store: { attribute: false }, actions: { attribute: false } };

  declare store: Store;
  declare actions: Actions;

  constructor() {
    super();
    this.addController(new Showing(this, () => this.store));
  }

  /** What it shows. */
  protected get state(): State {
    return this.store.state;
  }
}
