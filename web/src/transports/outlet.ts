/**
 * Where messages go that came from a server.
 * @module
 */
import type { MessageMembers } from "./members.js";
import type { Judge, Passed } from "./passage.js";

/** What becomes of messages, and of what is none. Its promises settle when more can be taken. */
export interface Outlet {
  /** Decides about each message. */
  readonly judge: Judge;
  /** Takes a message, or the next part of one. */
  forward(bytes: Uint8Array): Promise<void>;
  /** The message that was forwarded is complete. */
  complete(): Promise<void>;
  /** Takes what is no message. */
  stray(bytes: Uint8Array): Promise<void>;
  /** Told of each message that is passed on. */
  passed(passed: Passed): void;
  /**
   * What is sent in place of a message that cannot be passed on; undefined: nothing is.
   */
  broken(error: unknown, message: MessageMembers): string | undefined;
}
