/**
 * Waiting for somebody who may never be done.
 * @module
 */

/** Settles when the work does, or after so many milliseconds; what the work fails with is of no matter. */
export async function patiently(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => undefined), over]);
  clearTimeout(timer);
}
