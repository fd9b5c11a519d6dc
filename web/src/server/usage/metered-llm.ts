/**
 * A model whose tokens are counted for one user.
 * @module
 */
import { countTokens } from "../../planner/budget.js";
import type { LlmAnswer, LlmClient, LlmOptions, LlmRequest } from "../../planner/llm/client.js";
import type { Identity } from "../session.js";
import { UserLimitReached } from "./user-limits.js";
import type { UserUsage } from "./user-usage.js";

/** Nothing was read and written. */
const NOTHING = { inputTokens: 0, outputTokens: 0 };

/**
 * Asks a model while the user has tokens left. With none left it answers itself, with `limit` and a sentence for the
 * user. Turns under way at the same time may go beyond the limit, each by what it reads and writes.
 */
export class MeteredLlm implements LlmClient {
  readonly model: string;
  readonly #llm: LlmClient;
  readonly #usage: UserUsage;
  readonly #identity: Identity;

  constructor(llm: LlmClient, usage: UserUsage, identity: Identity) {
    this.model = llm.model;
    this.#llm = llm;
    this.#usage = usage;
    this.#identity = identity;
  }

  /** Throws what the model throws; SluiceError E_STORE_… if tokens cannot be counted. */
  async ask(request: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    try {
      await this.#usage.tokensLeft(this.#identity);
    } catch (error) {
      if (!(error instanceof UserLimitReached)) throw error;
      options.onText?.(error.message);
      return { text: error.message, toolCalls: [], stopReason: "limit", usage: NOTHING };
    }
    let heard = "";
    const onText = (piece: string): void => {
      heard += piece;
      options.onText?.(piece);
    };
    try {
      const answer = await this.#llm.ask(request, { ...options, onText });
      await this.#spend(countTokens(answer, request.messages));
      return answer;
    } catch (error) {
      // The model has read the request, even if the caller left before the rest.
      const isRead = heard !== "" || options.signal?.aborted === true;
      if (isRead) await this.#spend(countTokens({ text: heard, toolCalls: [] }, request.messages));
      throw error;
    }
  }

  #spend(tokens: number): Promise<void> {
    // A server may report anything.
    const counted = Number.isFinite(tokens) ? Math.max(0, Math.ceil(tokens)) : 0;
    return this.#usage.spendTokens(this.#identity, Math.min(counted, MOST_TOKENS));
  }
}

/** Most tokens that one turn is counted for. */
const MOST_TOKENS = 1_000_000_000;
