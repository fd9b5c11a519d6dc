/**
 * What is said of an error.
 * @module
 */
import { plainText } from "../plain-text.js";

const CODE = /^E_[A-Z_]{1,60}$/;
const MAX_SENTENCE = 300;

/** The message of an error with one of our codes, which is made to be shown; `otherwise` for any other. */
export function sentenceOf(error: unknown, otherwise: string): string {
  if (typeof error !== "object" || error === null) return otherwise;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !CODE.test(code)) return otherwise;
  return plainText(message, MAX_SENTENCE) || otherwise;
}
