/**
 * Requests to a server, and the form that their errors get.
 * @module
 */
import type { Client } from "@modelcontextprotocol/client";
import { adaptError, type ToolPlace } from "../../adapt-error.js";
import { subjectOf } from "../../adapting/place.js";
import { wasClosed } from "../../closed.js";
import { ToolAuthError, ToolConnectionError, ToolNodeError, type ToolErrorCode } from "../../errors.js";
import type { Expectation } from "./expectation.js";
import type { ToolDoor } from "./tool-door.js";

/** Milliseconds, longer than anybody waits: time limits are the caller's, and timers can hold no more. */
export const NO_LIMIT: number = 0x7fff_ffff;

/** How long, in milliseconds, a server may take to end its session, or to say that it will tell of changes. */
export const GRACE: number = 2000;

/** A request, and what is known of it. */
interface Asking<T> {
  /** Makes it. */
  readonly ask: () => Promise<T>;
  /** Gives it up. */
  readonly signal: AbortSignal;
  readonly tool?: string;
  /** What its answer is known by at the door. */
  readonly expectation?: Expectation;
  /** Whether it goes on with what an earlier request began: that one was sent, whatever becomes of this. */
  readonly goesOn?: boolean;
}

/** What all requests over a connection are made with. */
interface AskingTerms {
  /** The source's. */
  readonly name: string;
  readonly door: ToolDoor;
  readonly client: Client;
  /** Whether whoever opened the connection has closed it. */
  readonly isClosed: () => boolean;
}

/**
 * Asks a server.
 *
 * @throws ToolNodeError, or the reason of the signal.
 */
export async function asked<T>(
  { ask, signal, tool, expectation, goesOn = false }: Asking<T>,
  { name, door, client, isClosed }: AskingTerms,
): Promise<T> {
  try {
    signal.throwIfAborted();
    if (client.transport === undefined) throw goesOn && isClosed() ? wasClosed(name) : connectionLost(name, !goesOn);
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    // The client takes it for the server's end.
    if (isClosed() && !(error instanceof ToolNodeError)) throw wasClosed(name);
    const place: ToolPlace = { source: name, ...(tool !== undefined && { tool }) };
    const adapted = adaptError(expectation?.failure ?? error, place);
    throw goesOn ? begun(adapted) : adapted;
  } finally {
    if (expectation !== undefined) door.release(expectation);
  }
}

/**
 * The same error without what says that nothing was done: by its status, or because it was not sent, the whole call would be
 * made again, and what an earlier request began would be done twice.
 */
function begun(error: ToolNodeError): ToolNodeError {
  const { message, status, neverSent, category } = error;
  if (status === undefined && neverSent !== true && category !== "retryable_rate") return error;
  const Class = error instanceof ToolAuthError ? ToolAuthError : ToolNodeError;
  return new Class(message, {
    cause: error,
    code: error.code as ToolErrorCode,
    category: category === "retryable_rate" ? "retryable_server" : category,
  });
}

/** What is said to whoever waited when the server went, or asks when it has gone. */
export function connectionLost(source: string, neverSent = false): ToolConnectionError {
  const subject = subjectOf({ source });
  const sentence = neverSent
    ? `${subject} has ended the connection: connect again.`
    : `${subject} ended the connection before it answered: see the server's own log.`;
  return new ToolConnectionError(sentence, neverSent ? { neverSent } : {});
}

/** Settles when the work does, or after so many milliseconds; what the work fails with is of no matter. */
export async function patiently(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => undefined), over]);
  clearTimeout(timer);
}
