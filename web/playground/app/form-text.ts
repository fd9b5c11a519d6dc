/**
 * What is written in a form.
 * @module
 */

/** The text of a field; empty where there is none. */
export function textIn(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value : "";
}
