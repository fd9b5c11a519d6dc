/**
 * How long tests wait for what comes late on a machine that does much else. `vi.waitFor` has no setting for it.
 * @module
 */
import { vi } from "vitest";

/** Milliseconds, as `expect.poll` waits by `vitest.config.ts`. */
const TIMEOUT = 20_000;

/** Marks the functions that wait as long, since many files may run in one process. */
const PATIENT = Symbol.for("sluice.tests.patient");

if (!(PATIENT in vi)) {
  const { waitFor, waitUntil } = vi;
  Object.assign(vi, {
    [PATIENT]: true,
    waitFor: (...[check, options]: Parameters<typeof waitFor>) => waitFor(check, withTimeout(options)),
    waitUntil: (...[check, options]: Parameters<typeof waitUntil>) => waitUntil(check, withTimeout(options)),
  });
}

function withTimeout(options: Parameters<typeof vi.waitFor>[1]): Parameters<typeof vi.waitFor>[1] {
  return typeof options === "number" ? options : { timeout: TIMEOUT, ...options };
}
