/**
 * `--scope K=V`: whose an artifact is (RFC 0.3 §7.2).
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import { UsageError } from "./exit.js";
import { nearest } from "../errors/nearest.js";

const KEYS = ["tenant_id", "user_id", "session_id", "trace_id"] as const;
type ScopeKey = (typeof KEYS)[number];

/** Reads the values of `--scope`; undefined when there are none. Throws UsageError. */
export function parseScope(pairs: readonly string[], command: string): ArtifactScope | undefined {
  if (pairs.length === 0) return undefined;
  const scope: Partial<Record<ScopeKey, string>> = {};
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1 || equals === pair.length - 1) {
      throw new UsageError(
        `--scope takes KEY=VALUE, for instance --scope session_id=s1; got ${JSON.stringify(pair)}`,
        command,
      );
    }
    const key = scopeKey(pair.slice(0, equals), command);
    if (scope[key] !== undefined) throw new UsageError(`--scope ${key} is given twice; a scope has one`, command);
    scope[key] = pair.slice(equals + 1);
  }
  return scope;
}

function scopeKey(word: string, command: string): ScopeKey {
  const found = KEYS.find((key) => key === word || key === `${word}_id`);
  if (found !== undefined) return found;
  const meant = nearest(word, [...KEYS, ...KEYS.map((key) => key.replace("_id", ""))]);
  const hint = meant === undefined ? `the keys are ${KEYS.join(", ")}` : `did you mean ${meant}?`;
  throw new UsageError(`--scope has no key ${JSON.stringify(word)}; ${hint}`, command);
}

/** `session_id=s1 user_id=u`, for people; empty for the null scope. */
export function scopeText(scope: ArtifactScope): string {
  return KEYS.filter((key) => scope[key] != null)
    .map((key) => `${key}=${String(scope[key])}`)
    .join(" ");
}
