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
const BEGUN = Math.round(Date.now() - process.uptime() * 1000);
/** Milliseconds by which the threads of one process differ about when it began, and the next one begins later. */
const SAME_START = 1000;

/** A name no other process gives. */
export function temporaryName(): string {
  return `${HOST}-${process.pid}-${BEGUN.toString(36)}-${randomBytes(8).toString("hex")}`;
}

/** Whether a name is one that {@link temporaryName} gives. */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Whether a temporary may be swept: older than an hour and not of a living process, or older than a day.
 *
 * @param age milliseconds since it was last written, or until then where the clock was put back
 */
export function isStale(name: string, age: number, sweepAfter: number = SWEEP_AFTER): boolean {
  const [, host, pid, begun] = NAME.exec(name) ?? [];
  if (host === undefined || Math.abs(age) < sweepAfter) return false;
  return Math.abs(age) >= SWEEP_ANYWAY || (host === HOST && !lives(Number(pid), begun));
}

function lives(pid: number, begun: string | undefined): boolean {
  if (pid === process.pid) return Math.abs(parseInt(begun ?? "", 36) - BEGUN) < SAME_START;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}
