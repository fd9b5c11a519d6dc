/**
 * The time of one call of a tool that has to do with users' files: what the user is told meanwhile, and what is said when it is
 * over (user storage §11.3, §12.1).
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import { heedless } from "../../mcp/door-event.js";
import { shortened } from "../../mcp/reading/answer.js";
import type { ToolContext, ToolProgress, ToolWait } from "../context.js";
import { ToolTimeoutError } from "../errors.js";
import type { ToolNodeEvent } from "../event.js";
import { overAfter, waitsOf } from "../patience.js";
import { OutOfTime, type SilenceListener } from "../resilience/attempt.js";
import { shown } from "../sources/mcp/question.js";
import { timeoutResult } from "./error-results.js";
import type { ErrorResult } from "./handling.js";

/** Characters that are told of the last progress: it stands beside a result's few words. */
const MAX_PROGRESS = 300;

/** Calls so far: each has a number of its own. */
let calls = 0;

/** What a call's time is made of. */
export interface CallTimeTerms {
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
    return timeoutResult({ timeoutSeconds, lastProgress });
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
