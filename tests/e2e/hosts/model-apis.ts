/**
 * The forms of a model's answer: Anthropic's Messages, OpenAI's Chat Completions and Responses, Gemini's `generateContent`.
 * @module
 */
import type { Turn } from "./fake-model.js";

/** An API of models. */
export type ModelApi = "messages" | "chat" | "responses" | "gemini";

/** The API at a path of a URL. */
export function apiAt(path: string): ModelApi | undefined {
  if (/\/messages\b/.test(path)) return "messages";
  if (/\/chat\/completions\b/.test(path)) return "chat";
  if (/\/responses\b/.test(path)) return "responses";
  return /:(?:streamG|g)enerateContent\b/.test(path) ? "gemini" : undefined;
}

/** How an answer is counted and its call called. */
export interface AnswerIds {
  readonly number: number;
  readonly callId: string;
}

/** An answer as server-sent events, and as one body. */
export interface WrittenAnswer {
  readonly events: string;
  readonly body: object;
}

/** Writes what the model does in the form of an API. */
export function writeTurn(api: ModelApi, turn: Turn, ids: AnswerIds): WrittenAnswer {
  return WRITERS[api](turn, ids);
}

const WRITERS: Readonly<Record<ModelApi, (turn: Turn, ids: AnswerIds) => WrittenAnswer>> = {
  messages: writeMessage,
  chat: writeCompletion,
  responses: writeResponse,
  gemini: writeGemini,
};

const isSaid = (turn: Turn): turn is { readonly say: string } => "say" in turn;

const argumentsIn = (turn: Turn): object => ("args" in turn ? turn.args : {});

const nameIn = (turn: Turn): string => ("call" in turn ? turn.call : "");

/** Events with a type of their own, as Anthropic and Responses have them. */
function writeEvents(events: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function writeMessage(turn: Turn, { number, callId }: AnswerIds): WrittenAnswer {
  const block = isSaid(turn)
    ? { type: "text", text: turn.say }
    : { type: "tool_use", id: callId, name: nameIn(turn), input: argumentsIn(turn) };
  const stop = { stop_reason: isSaid(turn) ? "end_turn" : "tool_use", stop_sequence: null };
  const usage = { input_tokens: 10, output_tokens: 10 };
  const head = { id: `msg_${number}`, type: "message", role: "assistant", model: "claude-sonnet-4-5" };
  const begun = isSaid(turn) ? { type: "text", text: "" } : { ...block, input: {} };
  const delta = isSaid(turn)
    ? { type: "text_delta", text: turn.say }
    : { type: "input_json_delta", partial_json: JSON.stringify(argumentsIn(turn)) };
  return {
    body: { ...head, content: [block], ...stop, usage },
    events: writeEvents([
      { type: "message_start", message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
      { type: "content_block_start", index: 0, content_block: begun },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage: { output_tokens: 10 } },
      { type: "message_stop" },
    ]),
  };
}

function writeCompletion(turn: Turn, { number, callId }: AnswerIds): WrittenAnswer {
  const call = {
    index: 0,
    id: callId,
    type: "function",
    function: { name: nameIn(turn), arguments: JSON.stringify(argumentsIn(turn)) },
  };
  const message = isSaid(turn)
    ? { role: "assistant", content: turn.say }
    : { role: "assistant", content: null, tool_calls: [call] };
  const finish = isSaid(turn) ? "stop" : "tool_calls";
  const head = { id: `chatcmpl-${number}`, created: 0, model: "fake" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunk = (delta: object, reason: string | null, more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }], ...more })}\n\n`;
  return {
    body: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    },
    events: `${chunk(message, null)}${chunk({}, finish, { usage })}data: [DONE]\n\n`,
  };
}

function writeResponse(turn: Turn, ids: AnswerIds): WrittenAnswer {
  const item = responseItem(turn, ids);
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const head = { id: `resp_${ids.number}`, object: "response", created_at: 0, model: "fake" };
  const body = { ...head, status: "completed", output: [item], usage };
  return {
    body,
    events: writeEvents([
      { type: "response.created", response: { ...head, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: body },
    ]),
  };
}

function responseItem(turn: Turn, { number, callId }: AnswerIds): object {
  if (isSaid(turn)) {
    const content = [{ type: "output_text", text: turn.say, annotations: [] }];
    return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
  }
  const call = { call_id: callId, status: "completed" };
  if ("find" in turn) {
    const found = { query: turn.find, limit: 200 };
    return { type: "tool_search_call", id: `ts_${number}`, execution: "client", arguments: found, ...call };
  }
  if ("input" in turn) {
    return { type: "custom_tool_call", id: `ctc_${number}`, name: turn.call, input: turn.input, ...call };
  }
  return {
    type: "function_call",
    id: `fc_${number}`,
    name: turn.call,
    ...(turn.namespace !== undefined && { namespace: turn.namespace }),
    arguments: JSON.stringify(turn.args),
    ...call,
  };
}

function writeGemini(turn: Turn, { callId }: AnswerIds): WrittenAnswer {
  const part = isSaid(turn)
    ? { text: turn.say }
    : { functionCall: { id: callId, name: nameIn(turn), args: argumentsIn(turn) } };
  const body = {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: "fake",
  };
  return { body, events: `data: ${JSON.stringify(body)}\r\n\r\n` };
}
