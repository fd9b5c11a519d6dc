/**
 * Answers that are no artifact: what is said of one, and refusals.
 * @module
 */
import { SluiceError, type ErrorCode } from "../errors/error.js";
import { SAFETY } from "./artifacts/headers.js";
import { StoreLate } from "./http/time-limit.js";

/** An answer in JSON that nobody may keep. */
export function jsonAnswer(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  const body = new TextEncoder().encode(JSON.stringify(value));
  return new Response(body, {
    status,
    headers: {
      ...SAFETY,
      "Cache-Control": "no-store",
      "Content-Type": "application/json",
      "Content-Length": String(body.byteLength),
      ...headers,
    },
  });
}

/** An answer that says no more than that it is done. */
export function emptyAnswer(): Response {
  return new Response(null, { status: 204, headers: { ...SAFETY, "Cache-Control": "no-store" } });
}

/** A refusal: `{"error": {"code", "message"}}`, a sentence that says what to do. */
export function refusal(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonAnswer({ error: { code, message } }, status, headers);
}

/** The same words for what never was, what is another's, and a session that is unknown or over. */
export function notFound(): Response {
  const message = "There is no such artifact here: check the address, or call the tool again that gave it.";
  return refusal(404, "E_NOT_FOUND", message);
}

/** For what was there before. */
export function gone(): Response {
  const message =
    "The artifact is no longer kept: it expired or was deleted. Do not retry; call the tool again that gave it.";
  return refusal(410, "E_EXPIRED", message);
}

/** For what a store, or whoever else was asked, failed at. Nothing of the machine is in it. */
export function failure(error: unknown): Response {
  const isStores = error instanceof SluiceError && error.code.startsWith("E_STORE_");
  const { code, message } = isStores ? error : new SluiceError("E_STORE_READ", UNREADABLE);
  return refusal(error instanceof StoreLate ? 504 : 503, code, message);
}

const UNREADABLE = "The artifact could not be read: try again, and call the tool again if it stays so.";
