/**
 * Events of an interceptor.
 * @module
 */
import type { AnswerRef } from "../core/types.js";
import type { SluiceError } from "../errors/error.js";

/** Content was stored. */
export interface StoredEvent {
  /** Which event this is. */
  readonly kind: "stored";
  /** The tool whose result it was, or our own tool that stored it. Undefined for other messages. */
  readonly tool: string | undefined;
  /** The artifacts that were stored or could not be, without duplicates. */
  readonly artifacts: readonly AnswerRef[];
  /** Bytes that the server sent: the result, as JSON text. 0 for what our own tool stored. */
  readonly bytesIn: number;
  /** Bytes of it that the client got. */
  readonly bytesOut: number;
  /** The word for the client's host, `unknown` if it is not known. */
  readonly host?: string;
  /** Bytes of text that the host would have shown its model of the result as the server sent it, and those that it shows now. */
  readonly shown?: { readonly before: number; readonly now: number };
}

/** An artifact was put into the arguments of a call. */
export interface ExpandedEvent {
  /** Which event this is. */
  readonly kind: "expanded";
  /** The tool that is called. */
  readonly tool: string;
  /** The artifact. */
  readonly id: string;
  /** The place in the arguments: names and indexes joined by dots. */
  readonly path: string;
  /** `base64`, `data_uri`, `text` or `path`. */
  readonly form: string;
}

/** Something failed, with or without loss of an answer. */
export interface FailedEvent {
  /** Which event this is. */
  readonly kind: "failed";
  /** What failed: the store, an artifact for an argument, or a message that is too large or invalid. */
  readonly error: SluiceError;
}

/** An event of an interceptor, for logs: references and sizes, never content. */
export type InterceptorEvent = StoredEvent | ExpandedEvent | FailedEvent;

/** Wraps a listener so that its exceptions are ignored. */
export function ignoreErrors<Event>(listener: ((event: Event) => void) | undefined): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // A listener that throws is still called for the next event.
    }
  };
}
