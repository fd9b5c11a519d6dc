/**
 * What was said so far, as the AI SDK's models take it.
 * @module
 */
import type { AssistantMessage, LlmMessage, LlmToolCall } from "../client.js";
import type { AiSdkCallPart, AiSdkMessage, AiSdkReasoning, AiSdkResult } from "./model.js";

/** Messages; the results of one turn are one message. */
export function promptOf(messages: readonly LlmMessage[]): AiSdkMessage[] {
  const prompt: AiSdkMessage[] = [];
  for (const message of messages) {
    const before = prompt.at(-1);
    if (message.role !== "tool") prompt.push(messageOf(message));
    else if (before?.role === "tool") before.content.push(resultOf(message));
    else prompt.push({ role: "tool", content: [resultOf(message)] });
  }
  return prompt;
}

type Told = Extract<LlmMessage, { role: "tool" }>;

function resultOf({ callId: toolCallId, name: toolName, content: value }: Told): AiSdkResult {
  return { type: "tool-result", toolCallId, toolName, output: { type: "text", value } };
}

function messageOf(message: Exclude<LlmMessage, Told>): AiSdkMessage {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "user") return { role: "user", content: [{ type: "text", text: message.content }] };
  return { role: "assistant", content: partsOf(message) };
}

function partsOf({
  content,
  toolCalls,
  meta,
}: AssistantMessage): Extract<AiSdkMessage, { role: "assistant" }>["content"] {
  // It was ours when the answer was made: see `reading.ts`.
  const thoughts = (meta ?? []) as readonly AiSdkReasoning[];
  const text = content === "" ? [] : [{ type: "text" as const, text: content }];
  return [...thoughts, ...text, ...toolCalls.map(callOf)];
}

function callOf({ id: toolCallId, name: toolName, arguments: written, meta }: LlmToolCall): AiSdkCallPart {
  return {
    type: "tool-call",
    toolCallId,
    toolName,
    input: parsed(written),
    ...(meta !== undefined && { providerOptions: meta }),
  };
}

/** Models are told again of what they wrote as JSON only. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}
