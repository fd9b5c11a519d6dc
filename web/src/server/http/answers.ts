/**
 * Answers other than artifacts: JSON, refusals, and a page for a person.
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import { SAFETY } from "./headers.js";
import { StoreLate } from "./time-limit.js";

/** A JSON answer that must not be cached. */
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

/** 204 without a body. */
export function emptyAnswer(): Response {
  return new Response(null, { status: 204, headers: { ...SAFETY, "Cache-Control": "no-store" } });
}

/** Seconds after which what cannot be read may be back. */
const SOON = { "Retry-After": "2" };

/**
 * A refusal: `{"error": {"code", "message"}}`. The message says what to do. A 503 for what cannot be read says when to
 * come back.
 */
export function refusal(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const soon = status === 503 && code === "E_STORE_READ" ? SOON : {};
  return jsonAnswer({ error: { code, message } }, status, { ...soon, ...headers });
}

/** 404. The same words for unknown artifacts, those of others, and sessions that are unknown or over. */
export function notFound(): Response {
  const message = "There is no artifact or file at this address: check the id, or call the tool that made it.";
  return refusal(404, "E_NOT_FOUND", message);
}

/** 410, for an artifact that existed before. */
export function refuseGone(): Response {
  const message = "The artifact expired or was deleted. Do not retry; call the tool that made it.";
  return refusal(410, "E_EXPIRED", message);
}

/** 503 or 504, for a failing store. Contains nothing about the machine. */
export function failure(error: unknown): Response {
  const isStores = error instanceof SluiceError && error.code.startsWith("E_STORE_");
  const { code, message } = isStores ? error : new SluiceError("E_STORE_READ", UNREADABLE);
  return refusal(error instanceof StoreLate ? 504 : 503, code, message);
}

const UNREADABLE = "The artifact could not be read: try again. If it keeps failing, call the tool that made it.";

/** The content of a page. */
export interface Message {
  /** The HTTP status. */
  readonly status: number;
  /** A few words. */
  readonly title: string;
  /** What the person can do. */
  readonly text: string;
  /** The line to type for it. */
  readonly command?: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A page without script. Its texts are escaped. */
export function messagePage({ status, title, text, command }: Message): Response {
  const typed = command === undefined ? "" : `\n<pre><code>${escapeHtml(command)}</code></pre>`;
  const body = new TextEncoder().encode(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }
</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>${typed}
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

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
