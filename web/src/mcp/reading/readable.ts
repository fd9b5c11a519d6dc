/**
 * Whether an artifact can be read in a certain way at all.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { Look } from "./look.js";

/** The look itself. Throws E_INVALID_ARGUMENT for bytes that are asked for as text. */
export function readable(look: Look, mode: "lines" | "rows" | "pointer"): Look {
  if (look.isText) return look;
  const what = look.isUtf16 ? "UTF-16 text, which is not read that way" : "no text";
  throw new SluiceError("E_INVALID_ARGUMENT", `The artifact is ${what}: use bytes or search in place of ${mode}.`, {
    path: mode,
  });
}
