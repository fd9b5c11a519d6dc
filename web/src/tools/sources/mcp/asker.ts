/**
 * The person behind one call, whom the server may ask.
 * @module
 */
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { ToolPlace } from "../../adapting/place.js";
import { onAbort, untilAborted, untilEither } from "../../../core/abort.js";
import type { SourceCall } from "../../source.js";
import { MAX_ASKED } from "./limits.js";
import { answerTo, DECLINED, questionOf } from "./question.js";

/** Asks, as far as the call's host can. */
export class Asker {
  readonly #call: SourceCall;
  readonly #place: ToolPlace;
  readonly #end = new AbortController();
  readonly #over = new AbortController();
  readonly #forget: () => void;
  #asked = 0;

  constructor(call: SourceCall, source: string) {
    this.#call = call;
    this.#place = { source, tool: call.tool };
    const { signal } = call;
    const end = (): void => this.#end.abort(signal.reason);
    this.#forget = onAbort(signal, end);
    if (signal.aborted) end();
  }

  /** Ends the call: when its caller gives it up, and with what asking a person fails with. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** The call is over: nobody is asked for it any more, and what was asked is declined. */
  release(): void {
    this.#forget();
    this.#over.abort();
  }

  /** Whether anybody can be asked. */
  get canAsk(): boolean {
    return this.#call.pause !== undefined;
  }

  /** Whose call it is: two of the same are of one person. */
  get owner(): string {
    const { tenant_id = null, user_id = null } = this.#call.scope;
    return JSON.stringify([tenant_id, user_id]);
  }

  /**
   * Asks what stands in the parameters of `elicitation/create`; what nobody may or can be asked is declined.
   *
   * @param takenBack aborted when the server wants to know it no longer.
   * @throws what the host's `pause` throws; a ToolNodeError for what it gives that is no answer; the reason of the call's
   * signal.
   */
  async answer(params: unknown, takenBack?: AbortSignal): Promise<ElicitResult> {
    const { pause, unhurried = (work) => work() } = this.#call;
    const isOver = this.signal.aborted || this.#over.signal.aborted || this.#asked >= MAX_ASKED;
    const question = pause === undefined || isOver ? undefined : questionOf(params, this.#place);
    if (question === undefined || pause === undefined) return DECLINED;
    this.#asked += 1;
    const { reason, payload } = question;
    const answered = async (): Promise<ElicitResult> => {
      const given = await untilAborted(pause(reason, payload), this.signal);
      return answerTo(question, given, this.#place);
    };
    try {
      return await unhurried(async () => declinedOn([this.#over.signal, takenBack], answered()));
    } catch (error) {
      this.#end.abort(error);
      throw error;
    }
  }
}

/** Nobody reads the answer to a question that was taken back, or whose call is over; neither is a failure of the call's. */
function declinedOn(
  ends: readonly (AbortSignal | undefined)[],
  answered: Promise<ElicitResult>,
): Promise<ElicitResult> {
  return untilEither(ends, async (end) => {
    const declined = new Promise<ElicitResult>((resolve) => {
      const decline = (): void => resolve(DECLINED);
      if (end.aborted) decline();
      else onAbort(end, decline);
    });
    return Promise.race([declined, answered]);
  });
}
