/**
 * What Lit imports for servers, in the place of `@lit-labs/ssr-dom-shim`: there is nothing to render there, and its DOM would be
 * 3 KB more, compressed, for every page.
 * @module
 */

/** What elements extend where there is no DOM. */
export const HTMLElement: ObjectConstructor = Object;

/** Lit makes this a global if there is none: servers stay without. */
export const customElements = undefined;
