/**
 * Errors as values.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Outcome, Problem } from "./contract.js";

/** Runs work, and gives what it threw as a problem. */
export async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

/** What a person is told of an error. */
export function problemOf(error: unknown): Problem {
  if (isAbort(error)) return { code: "E_CANCELLED", message: "It was cancelled." };
  if (!(error instanceof SluiceError)) return { code: "E_UNKNOWN", message: String(error) };
  const { code, message, line, column, path } = error;
  return {
    code,
    message,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(path !== undefined && { path }),
    ...(code === "E_TOOL_AUTH" && { signIn: true }),
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
