/**
 * A turn as OpenAI's chat completions take it (platform.openai.com/docs/api-reference/chat/create).
 * @module
 */
import type { LlmMessage, LlmRequest, LlmTool, LlmToolCall } from "../client.js";

/** The body of a request, to be written as JSON. */
export function bodyOf(
  { messages, tools }: LlmRequest,
  model: string,
  more: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    ...more,
    model,
    messages: messages.map(messageOf),
    // An empty list is refused by some.
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function messageOf(message: LlmMessage): object {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const { content, toolCalls } = message;
  if (toolCalls.length === 0) return { role: "assistant", content };
  // Null beside calls: an empty text is refused by some.
  return { role: "assistant", content: content === "" ? null : content, tool_calls: toolCalls.map(callOf) };
}

function toolOf({ name, description, inputSchema }: LlmTool): unknown {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

function callOf({ id, name, arguments: text }: LlmToolCall): unknown {
  return { id, type: "function", function: { name, arguments: isJson(text) ? text : "{}" } };
}

/** Servers that read a model's own arguments back refuse the turn for what is no JSON. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
