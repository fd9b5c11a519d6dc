/**
 * Errors as values.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Outcome, Problem } from "./messages.js";

/** The problem of a cancelled call. */
export const CANCELLED: Problem = { code: "E_CANCELLED", message: "It was cancelled." };

/** Runs work and returns what it throws as a problem. */
export async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, problem: describeProblem(error) };
  }
}

/** The problem that describes an error. */
export function describeProblem(error: unknown): Problem {
  if (error instanceof DOMException && error.name === "AbortError") return CANCELLED;
  return error instanceof SluiceError ? error.toJSON() : { code: "E_UNKNOWN", message: String(error) };
}
