/**
 * A model's reply to a server that asks for one. Loaded when a person has it written.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { OpenAiClient } from "mcp-sluice/planner";
import type { ShownPromptMessage, ShownSampling } from "../messages.js";
import type { Endpoint } from "./messages.js";

/** Asks the model. It is told of bytes and long texts what they are. Throws LlmError and SluiceError. */
export async function replyOf(
  { url: baseUrl, model, key }: Endpoint,
  { messages, system_prompt, max_tokens }: ShownSampling,
): Promise<string> {
  const llm = new OpenAiClient({ model, baseUrl, body: { max_tokens }, ...(key !== "" && { apiKey: key }) });
  const system = system_prompt === "" ? [] : [{ role: "system", content: system_prompt } as const];
  const { text } = await llm.ask({ messages: [...system, ...messages.map(asked)], tools: [] });
  if (text === "") throw new SluiceError("E_LLM", "The model answered without a text: ask it again, or write one.");
  return text;
}

function asked({ role, content }: ShownPromptMessage): Parameters<OpenAiClient["ask"]>[0]["messages"][number] {
  const text = content.kind === "text" ? content.text : `[${content.summary}]`;
  return role === "user" ? { role, content: text } : { role, content: text, toolCalls: [] };
}
