/**
 * What the page remembers between visits; the keys open what this browser itself keeps. Where a browser keeps nothing, nothing is remembered.
 * @module
 */
type Key = "config" | "theme" | "keys" | "drawer" | "model" | "session";

/** What was remembered; undefined where nothing was, or it cannot be read. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- who remembers it knows what it is
export function remembered<T>(key: Key): T | undefined {
  try {
    const text = localStorage.getItem(`sluice.${key}`);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** Remembers it; undefined forgets. */
export function remember(key: Key, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`sluice.${key}`);
    else localStorage.setItem(`sluice.${key}`, JSON.stringify(value));
  } catch {
    // Private windows may forbid it.
  }
}
