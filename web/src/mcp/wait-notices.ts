/**
 * What people are told of a tool that is silent, and what a model is told of one that was for too long (user storage, §11 and §12.1).
 * @module
 */

/** A notice about a call that takes long. */
export interface WaitNotice {
  /** Seconds of silence. */
  readonly after_s: number;
  /** One or two sentences for people. */
  readonly message: string;
  /** Whether the call was given up. */
  readonly is_over: boolean;
}

/** Messages for the user, in order. The third one gets the seconds that are left. */
const MESSAGES: readonly ((left: number) => string)[] = [
  () => "The tool is taking longer than expected. Please wait...",
  () => "Still processing your request. This may take a few more moments.",
  (left) => `Processing continues. The tool will timeout in ${inSeconds(left)} if no progress.`,
];

const OVER = "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.";

/**
 * The notices for a silent call, in order.
 *
 * @param notifyAfter seconds of silence, rising. Values at or above the limit are skipped.
 * @param timeoutSeconds the limit.
 */
export function waitNotices(notifyAfter: readonly number[], timeoutSeconds: number): readonly WaitNotice[] {
  return MESSAGES.flatMap((message, index) => {
    const after_s = notifyAfter[index];
    if (after_s === undefined || after_s >= timeoutSeconds) return [];
    // The difference of two decimals can have spurious digits.
    const left = Number((timeoutSeconds - after_s).toFixed(3));
    return [{ after_s, message: message(left), is_over: false }];
  });
}

/** The notice for a call that is given up. */
export function overAfter(seconds: number): WaitNotice {
  return { after_s: seconds, message: OVER, is_over: true };
}

/** The result of a call that timed out. */
interface TimeoutResult {
  readonly results: { readonly error: string };
  readonly meta_data: Readonly<Record<string, unknown>>;
}

/** The result of a call that timed out (`E_TIMEOUT`). `last_progress` is null if none was reported. */
export function timeoutResult(timeout_seconds: number, last_progress: string | null): TimeoutResult {
  const suggestion = "Consider breaking large operations into smaller chunks or using progress reporting";
  return {
    results: { error: `Tool execution timed out after ${inSeconds(timeout_seconds)}` },
    meta_data: {
      is_error: true,
      reason: "ExecutionTimeout",
      error_code: "E_TIMEOUT",
      details: { timeout_seconds, last_progress, suggestion },
      retryable: true,
    },
  };
}

function inSeconds(seconds: number): string {
  return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
}
