/**
 * How long a server may be silent, and the results that say that one was silent for too long.
 * @module
 */

/** The default limit in seconds. */
export const TIMEOUT = 30;

/** The longest limit in seconds. */
const LONGEST = 300;

/** Twice the limit, up to the longest one. */
export function longer(timeout: number): number {
  return Math.min(timeout * 2, LONGEST);
}

/** The limit in seconds and the last progress message, if there was one. */
export interface ReportedTimeout {
  readonly seconds: number;
  readonly lastProgress: string | null;
}

/** The timeout that an observation reports; undefined for any other observation. */
export function timeoutIn(observation: string): ReportedTimeout | undefined {
  if (!observation.includes('"E_TIMEOUT"')) return undefined;
  try {
    const { structured, ...top } = JSON.parse(observation) as Reported & { readonly structured?: Reported };
    const { meta_data } = structured ?? top;
    const { timeout_seconds: seconds, last_progress: last } = meta_data?.details ?? {};
    if (meta_data?.error_code !== "E_TIMEOUT" || typeof seconds !== "number") return undefined;
    return { seconds, lastProgress: typeof last === "string" ? last : null };
  } catch {
    return undefined;
  }
}

/** An error result, which an observation of a plain MCP server has in `structured`. */
interface Reported {
  readonly meta_data?: { readonly error_code?: unknown; readonly details?: Details };
}

interface Details {
  readonly timeout_seconds?: unknown;
  readonly last_progress?: unknown;
}
