/**
 * What happens at a door.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";

/** Something was stored. */
export interface StoredEvent {
  /** Which event this is. */
  readonly kind: "stored";
  /** The tool whose result it was; undefined for other messages. */
  readonly tool: string | undefined;
  /** What was stored, or could not be; each content once. */
  readonly artifacts: readonly AnswerRef[];
}

/** An artifact went into the arguments of a call. */
export interface ExpandedEvent {
  /** Which event this is. */
  readonly kind: "expanded";
  /** The tool that is called. */
  readonly tool: string;
  /** The artifact. */
  readonly id: string;
  /** Where in the arguments: names and indexes joined by dots. */
  readonly path: string;
  /** `base64`, `data_uri`, `text` or `path`. */
  readonly form: string;
}

/** Something went wrong that no answer is lost by, or one. */
export interface FailedEvent {
  /** Which event this is. */
  readonly kind: "failed";
  /** What failed: the store, an artifact on its way into arguments, or a message that is too large or none. */
  readonly error: SluiceError;
}

/** What happens at a door, for logs: refs and sizes, never content. */
export type DoorEvent = StoredEvent | ExpandedEvent | FailedEvent;

/** A listener whose own failures are its own: no message is lost by them. */
export function heedless<Event>(listener: ((event: Event) => void) | undefined): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // Whoever throws at being told of something is told of the next all the same.
    }
  };
}
