/**
 * From what the validator found to one error for people.
 * @module
 */
import type { z } from "zod";
import { below, missingKey, unknownKey, wrongValue, type ToolConfigError } from "./problem.js";
import { KEYS, WANTED } from "./schema.js";

/** The error of the first problem; a key that is not known goes first, since what it stands for is then missing. */
export function problemOf(issues: readonly z.core.$ZodIssue[], input: unknown, base: string): ToolConfigError {
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const [key = ""] = issue.keys;
    return unknownKey(placeOf(issue.path, base), key, KEYS[issue.path.join(".")] ?? []);
  }
  const path = issues[0]?.path ?? [];
  if (path.length === 0) return wrongValue(base, "an object");
  const place = placeOf(path, base);
  return valueAt(input, path) === undefined && issues[0]?.code !== "invalid_key"
    ? missingKey(place, wanted(path))
    : wrongValue(place, wanted(path));
}

function placeOf(path: readonly PropertyKey[], base: string): string {
  return path.reduce<string>((place, key) => below(place, typeof key === "number" ? key : String(key)), base);
}

/** What the key must be; of elements and of members with names of their own, what the whole must be. */
function wanted(path: readonly PropertyKey[]): string {
  const words: Readonly<Record<string, string>> = WANTED;
  const [first = "", second = ""] = path.map(String);
  return words[`${first}.${second}`] ?? words[first] ?? "something else";
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}
