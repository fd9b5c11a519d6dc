/**
 * Elements made in code: renderers draw with these, since what they draw grows with what is read.
 * @module
 */

/** An element with a class, attributes, and what is in it; strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button with a text, and what it does; gone with the signal. */
export function button(text: string, act: () => void, signal: AbortSignal): HTMLButtonElement {
  const made = element("button", "", { type: "button" }, text);
  made.addEventListener("click", act, { signal });
  return made;
}
