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

/** Programs of which it is not known yet whether they go on. */
const undecided = new WeakMap<SourceConnection, Promise<void>>();

/** Ends the program behind a connection, unless it answers soon what was given up. */
export function endUnlessAnswered(connection: SourceConnection, isAnswered: () => boolean, clock: Clock): void {
  const deciding = new Promise<void>((resolve) => {
    clock.after(GRACE, () => {
      const ending = isAnswered() || !connection.isOpen ? undefined : connection.kill?.();
      // Nobody is left to hear that it cannot be ended.
      void Promise.resolve(ending)
        .catch(() => undefined)
        .then(resolve);
    });
  });
  undecided.set(connection, deciding);
}

/** Settles when it is known whether the program goes on: a call that came before would be ended with it. */
export async function decided(connection: SourceConnection): Promise<void> {
  await undecided.get(connection);
}
