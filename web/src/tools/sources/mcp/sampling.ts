/**
 * Questions of an MCP server to a model (MCP, "Sampling"): what the host is shown, and the reply.
 * @module
 */
import type { CreateMessageResult } from "@modelcontextprotocol/client";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { toSubject, ToolNodeError, type ToolPlace } from "../../errors.js";
import type { PromptMessage } from "../../source-features.js";
import type { SourceCall } from "../../source.js";
import { MAX_JSON, MAX_TEXT, cleanText, type Question } from "./elicitation.js";
import { type Message, type MessageDeps, readMessages } from "./messages.js";

/** Maximum contents of all messages. */
const MAX_CONTENTS = 64;

/** Maximum names of models. */
const MAX_HINTS = 20;

/** Maximum characters of a model's name. */
const MAX_MODEL = 256;

/** The model of a reply that a person wrote. */
const PERSON = "person";

/**
 * Reads the parameters of `sampling/createMessage`. Undefined if they must not be shown: they are malformed or too much,
 * or want the model to call tools.
 */
export async function readSampling(
  params: unknown,
  { scope, signal }: Pick<SourceCall, "scope" | "signal">,
  deps: MessageDeps,
  place: ToolPlace,
): Promise<Question<CreateMessageResult> | undefined> {
  const { messages, systemPrompt = "", maxTokens, modelPreferences, tools } = objectOr(params);
  const isRead = typeof systemPrompt === "string" && typeof maxTokens === "number" && tools === undefined;
  if (!isRead || !Array.isArray(messages) || !messages.every(isMessage)) return undefined;
  if (messages.flatMap(({ content }) => content).length > MAX_CONTENTS) return undefined;
  const { hints } = objectOr(modelPreferences);
  const names = [hints]
    .flat()
    .slice(0, MAX_HINTS)
    .flatMap((hint) => stringOr(objectOr(hint)["name"]) ?? []);
  const reading = { scope, signal, inlineChars: MAX_TEXT };
  const payload = {
    pause_type: "sampling" as const,
    messages: (await readMessages(messages, reading, deps)).map(plain),
    system_prompt: cleanText(systemPrompt),
    max_tokens: maxTokens,
    model_hints: names.map((name) => cleanText(name).slice(0, MAX_MODEL)),
    source: cleanText(place.source),
    tool: cleanText(place.tool ?? ""),
  };
  if (JSON.stringify(payload).length > MAX_JSON) return undefined;
  return { reason: "await_input", payload, read: (given) => replyIn(given, place) };
}

function isMessage(value: unknown): value is Message {
  const { role, content } = objectOr(value);
  return (role === "user" || role === "assistant") && typeof content === "object" && content !== null;
}

/** The same message without its hidden parts. */
function plain({ role, content }: PromptMessage): PromptMessage {
  const uri = cleanText(content.uri);
  if (content.kind === "text") return { role, content: { ...content, uri, text: cleanText(content.text) } };
  return { role, content: { ...content, uri } };
}

/**
 * Converts a host's reply. Undefined if it declines.
 *
 * @throws ToolNodeError for an invalid reply.
 */
function replyIn(given: unknown, place: ToolPlace): CreateMessageResult | undefined {
  if (given === null || given === undefined) return undefined;
  const { text, model = PERSON } = objectOr(given);
  if (typeof text !== "string" || text.length > MAX_JSON || typeof model !== "string") {
    const remedy = `return { text, model }, with at most ${MAX_JSON} characters of text`;
    throw new ToolNodeError(`pause returned an invalid reply of a model to ${toSubject(place)}: ${remedy}.`, {
      category: "non_retryable",
    });
  }
  return { role: "assistant", content: { type: "text", text }, model, stopReason: "endTurn" };
}
