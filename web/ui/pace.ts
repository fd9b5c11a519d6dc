/**
 * Long work in parts, so that the page stays responsive.
 * @module
 */

/** Milliseconds of work between yields. */
const STRETCH = 10;

/** Yields to the page during long work. */
export class Pace {
  #since = performance.now();

  /** Yields if the work has run for long. */
  async rest(): Promise<void> {
    if (performance.now() - this.#since < STRETCH) return;
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", () => {
        port1.close();
        resolve();
      });
      port1.start();
      port2.postMessage(null);
    });
    this.#since = performance.now();
  }
}

/** Characters above which a text is processed in parts. */
export const LARGE = 500_000;

/** Yields to the page, so that it can render and respond. */
export function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}
