/**
 * Why a chat does not go on.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { ToldError } from "./chat-event.js";

/** What clients are told of a run that somebody gave up. */
export const GIVEN_UP: ToldError = { code: "E_CANCELLED", message: "The run was given up." };

/** In the same words for what never was, what is another's, and what was answered already. */
export function noSuchRun(): SluiceError {
  const sentence = "There is no such run here, or it does not wait for this answer: it is over, goes on, or never was.";
  return new SluiceError("E_NOT_FOUND", sentence);
}

/** The session has as many runs as it may have. */
export function tooMany(): SluiceError {
  return new SluiceError("E_RATE_LIMIT", "As many runs of this session go on as there may be: let one end first.");
}
