/**
 * Names of temporaries, which say who made them.
 * @module
 */
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { systemCode } from "../../errors/storage.js";

/** How long a temporary is left alone, in milliseconds, even when its owner seems gone. */
export const SWEEP_AFTER: number = 60 * 60 * 1000;
// A process id may have been given to another process since, and other machines cannot be asked.
const SWEEP_ANYWAY = 24 * SWEEP_AFTER;

const NAME = /^([0-9a-f]{8})-([0-9]{1,10})-([0-9a-z]{1,12})-[0-9a-f]{16}$/;
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
// In a container every run may have the same process id; when it began tells the runs apart.
const BEGUN = Math.round(Date.now() - process.uptime() * 1000).toString(36);

/** A name no other process gives. */
export function temporaryName(): string {
  return `${HOST}-${process.pid}-${BEGUN}-${randomBytes(8).toString("hex")}`;
}

/**
 * Whether a temporary may be swept: older than an hour and not of a living process, or older than a day.
 *
 * @param age milliseconds since it was last written
 */
export function isStale(name: string, age: number, sweepAfter: number = SWEEP_AFTER): boolean {
  const [, host, pid, begun] = NAME.exec(name) ?? [];
  if (host === undefined || age < sweepAfter) return false;
  return age >= SWEEP_ANYWAY || (host === HOST && !lives(Number(pid), begun));
}

function lives(pid: number, begun: string | undefined): boolean {
  if (pid === process.pid) return begun === BEGUN;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}
