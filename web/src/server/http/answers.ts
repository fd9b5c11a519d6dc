/**
 * Answers that are no artifact: JSON, refusals of artifacts, and a page for a person.
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import { SAFETY } from "../artifacts/headers.js";
import { StoreLate } from "./time-limit.js";

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

/** What is said. */
export interface Message {
  /** The HTTP status. */
  readonly status: number;
  /** In a few words. */
  readonly title: string;
  /** What there is to do. */
  readonly text: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The page. Its texts are shown as they are, whatever is in them. */
export function messagePage({ status, title, text }: Message): Response {
  const body = new TextEncoder().encode(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</main>
</body>
</html>
`);
  return new Response(body, {
    status,
    headers: {
      ...SAFETY,
      "Cache-Control": "no-store",
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(body.byteLength),
    },
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
