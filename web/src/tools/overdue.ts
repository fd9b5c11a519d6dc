/**
 * Calls that nobody waits for any more, and the programs that may go on with them (user storage §11.3).
 * @module
 */
import type { Clock } from "./resilience/clock.js";
import type { SourceConnection } from "./source.js";
import type { ResolvedToolConfig } from "./variables.js";

/** How long, in milliseconds, a program may take to answer a call that it was told is given up. */
const GRACE = 2000;

/** Whether each user has a process of their own, which nobody but its user waits for. */
export function isOwnProcess({ user_files, endpoint }: ResolvedToolConfig): boolean {
  return user_files && endpoint?.kind === "stdio";
}

/** Ends the program behind a connection, unless it answers soon what was given up. */
export function endUnlessAnswered(connection: SourceConnection, isAnswered: () => boolean, clock: Clock): void {
  clock.after(GRACE, () => {
    if (isAnswered() || !connection.isOpen) return;
    // Nobody is left to hear that it cannot be ended.
    void connection.kill?.().catch(() => undefined);
  });
}
