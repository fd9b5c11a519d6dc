/**
 * The registry of elements.
 * @module
 */

/** Defines elements unless their names are taken, as they are when the module is loaded twice; on servers nothing. */
export function defineElements(elements: Readonly<Record<string, CustomElementConstructor>>): void {
  const registry = (globalThis as { readonly customElements?: CustomElementRegistry }).customElements;
  for (const [name, element] of Object.entries(elements)) {
    if (registry?.get(name) === undefined) registry?.define(name, element);
  }
}
