/**
 * Connections that are gone.
 * @module
 */
import { subjectOf } from "../../adapting/place.js";
import { ToolConnectionError } from "../../errors.js";

/** What is said to whoever waited when the server went, or asks when it has gone. */
export function connectionLost(source: string, neverSent = false): ToolConnectionError {
  const subject = subjectOf({ source });
  const sentence = neverSent
    ? `${subject} has ended the connection: connect again.`
    : `${subject} ended the connection before it answered: see the server's own log.`;
  return new ToolConnectionError(sentence, neverSent ? { neverSent } : {});
}
