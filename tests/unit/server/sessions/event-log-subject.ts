import type { EventLog } from "../../../../web/src/server/sessions/event-log.js";

/** Event logs under test. */

/** A log under test. */
export interface LogSubject {
  readonly log: EventLog;
  /** A log over the same, as another process would have it; the same one where none can. */
  beside(): EventLog;
  dispose(): Promise<void>;
}

/** Makes an empty log with this bound. */
export type OpenLog = (bounds: { readonly maxChannels?: number }) => Promise<LogSubject>;

/** The log of a test, and one beside it. */
export type Logs = () => readonly [EventLog, EventLog];
