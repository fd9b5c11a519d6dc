/**
 * The time of one call: how long it is waited for, what the user is told meanwhile, and what is said when it is over (user
 * storage §11.3, §12.1).
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import { heedless } from "../../mcp/door-event.js";
import { shortened } from "../../mcp/reading/answer.js";
import type { ToolContext, ToolProgress, ToolWait } from "../context.js";
import { ToolClientError, ToolTimeoutError } from "../errors.js";
import type { ToolNodeEvent } from "../event.js";
import { OutOfTime, type SilenceListener } from "../resilience/attempt.js";
import { shown } from "../sources/mcp/elicitation.js";
import { errorResult, type ErrorResult } from "./handling.js";

/** Characters that are told of the last progress: it stands beside a result's few words. */
const MAX_PROGRESS = 300;

/** Calls so far: each has a number of its own. */
let calls = 0;

/** What a call's time is made of. */
interface CallTimeTerms {
  /** `{namespace}.{tool}`. */
  readonly tool: string;
  readonly context: ToolContext;
  /** Seconds of silence after which the user is told, rising. */
  readonly notifyAfter: readonly number[];
  /** The limit of silence. */
  readonly timeoutSeconds: number;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
}

/** Keeps account of one. */
export class CallTime {
  /** For the attempts at the call. */
  readonly silence: SilenceListener;
  readonly #terms: CallTimeTerms;
  readonly #call = (calls += 1);
  readonly #scope: ArtifactScope;
  readonly #onWait: (wait: ToolWait) => void;
  #progress: ToolProgress | undefined;
  #isOver = false;

  constructor(terms: CallTimeTerms) {
    const { context, notifyAfter, timeoutSeconds } = terms;
    const waits = waitsOf(notifyAfter, timeoutSeconds);
    this.#terms = terms;
    this.#scope = { ...context.scope };
    this.#onWait = heedless(context.onWait);
    this.silence = {
      after: waits.map(({ after_s }) => after_s),
      onSilence: (index) => this.#tell(waits[index]),
      onOver: (seconds) => this.#tell(overAfter(seconds)),
    };
  }

  /** An attempt begins: what another one reported is of no matter to it. */
  begin(): void {
    this.#progress = undefined;
  }

  /** The source reported progress. */
  progressed(progress: ToolProgress): void {
    this.#progress = progress;
  }

  /** What is said in place of a result where the call took too long; undefined for all other errors. */
  result(error: unknown): ErrorResult | undefined {
    if (!(error instanceof ToolTimeoutError) || error.status !== undefined || error.neverSent === true)
      return undefined;
    const timeoutSeconds = error instanceof OutOfTime ? error.seconds : this.#terms.timeoutSeconds;
    // Others may have begun to connect before: then their limit came first.
    if (!this.#isOver) this.#tell(overAfter(timeoutSeconds));
    const lastProgress = this.#progress === undefined ? null : progressText(this.#progress);
    return timeoutResult(timeoutSeconds, lastProgress);
  }

  #tell(wait: ToolWait | undefined): void {
    if (wait === undefined) return;
    this.#isOver = wait.is_over;
    const { tool, onEvent } = this.#terms;
    this.#onWait(wait);
    onEvent({ kind: "waiting", tool, call: this.#call, scope: this.#scope, ...wait });
  }
}

/** What a source says that it is doing, without what hides in it; how far it is, where it says no more. */
function progressText({ progress, total, message = "" }: ToolProgress): string {
  const said = shortened(shown(message), MAX_PROGRESS).trim();
  if (said !== "") return said;
  return total === undefined ? String(progress) : `${progress}/${total}`;
}

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
    // Differences of decimals have more digits than either.
    const left = Number((timeoutSeconds - after_s).toFixed(3));
    return [{ after_s, message: message(left), is_over: false }];
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

/** A tool was silent for too long: E_TIMEOUT. `last_progress` is null where nothing was reported. */
export function timeoutResult(timeout_seconds: number, last_progress: string | null): ErrorResult {
  const suggestion = "Consider breaking large operations into smaller chunks or using progress reporting";
  const details = { timeout_seconds, last_progress, suggestion };
  const sentence = `Tool execution timed out after ${inSeconds(timeout_seconds)}`;
  return errorResult(sentence, "ExecutionTimeout", "E_TIMEOUT", details, true);
}

function inSeconds(seconds: number): string {
  return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
}
