/**
 * Results that say that a tool was silent for too long.
 * @module
 */

/** The limit in seconds, and what the tool said of its progress last; null where it said nothing. */
export interface Overdue {
  readonly seconds: number;
  readonly lastProgress: string | null;
}

/** What an observation says of it; undefined for any other. */
export function overdueIn(observation: string): Overdue | undefined {
  if (!observation.includes('"E_TIMEOUT"')) return undefined;
  try {
    const { meta_data } = JSON.parse(observation) as { meta_data?: { error_code?: unknown; details?: Details } };
    const { timeout_seconds: seconds, last_progress: last } = meta_data?.details ?? {};
    if (meta_data?.error_code !== "E_TIMEOUT" || typeof seconds !== "number") return undefined;
    return { seconds, lastProgress: typeof last === "string" ? last : null };
  } catch {
    return undefined;
  }
}

interface Details {
  readonly timeout_seconds?: unknown;
  readonly last_progress?: unknown;
}
