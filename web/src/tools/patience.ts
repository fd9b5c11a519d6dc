/**
 * How long a call is waited for, and what the user is told meanwhile (user storage §11.3).
 * @module
 */
import type { ToolContext, ToolWait } from "./context.js";
import { ToolClientError } from "./errors.js";

/** Seconds that a call may be given. */
const LEAST = 1;
const MOST = 300;

/** The user's, in the order in which they are told; the third one is given the seconds that are left. */
const MESSAGES: readonly ((left: number) => string)[] = [
  () => "The tool is taking longer than expected. Please wait...",
  () => "Still processing your request. This may take a few more moments.",
  (left) => `Processing continues. The tool will timeout in ${inSeconds(left)} if no progress.`,
];

const OVER = "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.";

/**
 * What is told of a call that its source is silent about, in this order.
 *
 * @param notifyAfter seconds of silence, rising; those that are not below the limit are left out.
 * @param timeoutSeconds the limit.
 */
export function waitsOf(notifyAfter: readonly number[], timeoutSeconds: number): readonly ToolWait[] {
  return MESSAGES.flatMap((message, index) => {
    const after_s = notifyAfter[index];
    if (after_s === undefined || after_s >= timeoutSeconds) return [];
    return [{ after_s, message: message(timeoutSeconds - after_s), is_over: false }];
  });
}

/** What is told of a call that is given up. */
export function overAfter(seconds: number): ToolWait {
  return { after_s: seconds, message: OVER, is_over: true };
}

/** Seconds of silence that a call is given: its own, or else the source's. Throws a ToolClientError for what is no limit. */
export function timeoutOf({ timeoutSeconds }: ToolContext, ofSource: number): number {
  if (timeoutSeconds === undefined) return ofSource;
  if (typeof timeoutSeconds === "number" && timeoutSeconds >= LEAST && timeoutSeconds <= MOST) return timeoutSeconds;
  throw new ToolClientError(`The context's timeoutSeconds must be a number of seconds from ${LEAST} to ${MOST}.`);
}

/** Fractions as people write them: differences of decimals have more digits than either. */
function inSeconds(seconds: number): string {
  const shown = Number(seconds.toFixed(3));
  return `${shown} ${shown === 1 ? "second" : "seconds"}`;
}
