/**
 * What is said of a session that ended while something was done for it.
 * @module
 */
import { SluiceError } from "../../errors/error.js";

/** The sentence. */
export const OVER = "The session is over: begin another one.";

/** E_SESSION. */
export function sessionOver(): SluiceError {
  return new SluiceError("E_SESSION", OVER);
}

/** Whether an error says that. */
export function isSessionOver(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_SESSION";
}
