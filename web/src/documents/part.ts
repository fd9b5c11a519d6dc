/**
 * Finds a part of a file by its name or its number: a variable, a table.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** Most names that are told where there is none of a name. */
const MAX_TOLD = 20;

/** The part of a name, in its letters or in others, or of a number from 1. Throws E_INVALID_ARGUMENT with the names that there are. */
export function findPart<Part extends { readonly name: string }>(
  parts: readonly Part[],
  name: string,
  noun: string,
): Part {
  const number = /^\d{1,9}$/.test(name) ? Number(name) : 0;
  const found =
    parts.find((part) => part.name === name) ??
    parts.find((part) => part.name.toLowerCase() === name.toLowerCase()) ??
    parts[number - 1];
  if (found !== undefined) return found;
  const names = parts.slice(0, MAX_TOLD).map((part) => JSON.stringify(part.name.slice(0, 60)));
  const more = parts.length > MAX_TOLD ? ", …" : "";
  const sentence =
    names.length === 0
      ? `There is no ${noun}.`
      : `There is no ${noun} of that name: give one of ${names.join(", ")}${more}.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "sheet" });
}
