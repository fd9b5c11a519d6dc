/**
 * Long work that leaves the page its turns.
 * @module
 */

/** Milliseconds of work after which the page has its turn. */
const STRETCH = 10;

/** Lets the page have its turn in the midst of long work. */
export class Pace {
  #since = performance.now();

  /** Waits for a turn if the work has been going on for long. */
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
