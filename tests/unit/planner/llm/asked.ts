import { expect } from "vitest";
import { type LlmRequest, LlmError } from "../../../../web/src/planner/llm/client.js";
import { OpenAiClient } from "../../../../web/src/planner/llm/openai.js";

/** A client as tests ask it, and pieces of what servers stream. */

export const KEY = "sk-very-secret";
export const QUICKLY = {
  retry_policy: {
    max_attempts: 3,
    wait_exponential_min_s: 0,
    wait_exponential_max_s: 0,
    retry_on_status: [429, 500, 503],
  },
};
export const HELLO: LlmRequest = { messages: [{ role: "user", content: "Hello" }], tools: [] };
export const END = { choices: [{ delta: {}, finish_reason: "stop" }] };
export const piece = (content: string): unknown => ({ choices: [{ delta: { content } }] });

export const callPiece = (id: string | undefined, name: string, index?: number): unknown => ({
  choices: [{ delta: { tool_calls: [{ id, index, function: { name, arguments: "{}" } }] } }],
});

export function clientOf(
  baseUrl: string,
  more: Partial<ConstructorParameters<typeof OpenAiClient>[0]> = {},
): OpenAiClient {
  return new OpenAiClient({ model: "scripted", baseUrl, apiKey: KEY, resilience: QUICKLY, ...more });
}

/** What asking fails with. */
export async function failure(asked: Promise<unknown>): Promise<LlmError> {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LlmError);
  return error as LlmError;
}
