/**
 * A turn of a model as an operation of telemetry: its span, its duration and its tokens.
 * @module
 */
import { record } from "../../telemetry/metrics.js";
import { plainName } from "../../telemetry/names.js";
import { observed } from "../../telemetry/operation.js";
import type { LlmAnswer, LlmClient } from "./client.js";

/** Asks for a turn, and records it. */
export function observedTurn(llm: LlmClient, ask: () => Promise<LlmAnswer>): Promise<LlmAnswer> {
  const model = plainName(llm.model);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": model,
    "gen_ai.provider.name": plainName(llm.provider ?? ""),
  };
  return observed(
    () => ({ kind: "client", name: `chat ${model}`, durations: ["gen_ai.client.operation.duration"], attributes }),
    async () => {
      const answer = await ask();
      const { inputTokens, outputTokens } = answer.usage ?? {};
      recordTokens(inputTokens, { ...attributes, "gen_ai.token.type": "input" });
      recordTokens(outputTokens, { ...attributes, "gen_ai.token.type": "output" });
      return answer;
    },
    ({ usage, stopReason }) => ({
      spanAttributes: {
        "gen_ai.response.finish_reasons": [plainName(stopReason)],
        ...(isCount(usage?.inputTokens) && { "gen_ai.usage.input_tokens": usage.inputTokens }),
        ...(isCount(usage?.outputTokens) && { "gen_ai.usage.output_tokens": usage.outputTokens }),
      },
    }),
  );
}

function recordTokens(tokens: unknown, attributes: Readonly<Record<string, string>>): void {
  if (isCount(tokens)) record("gen_ai.client.token.usage", tokens, attributes);
}

/** A host's own client may say anything. */
function isCount(tokens: unknown): tokens is number {
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
}
