/**
 * An answer put together from its pieces (platform.openai.com/docs/api-reference/chat/streaming).
 * @module
 */
import type { LlmAnswer, LlmToolCall, LlmUsage, StopReason } from "../client.js";
import { MAX_CALLS } from "../limits.js";

/** Characters of a tool's name, and of a call's id. */
const MAX_NAME = 256;

interface Begun {
  id: string;
  name: string;
  text: string;
}

/** Takes chunks of a stream, or the one object of an answer that is no stream: whatever of them is not understood is nothing. */
export class Assembly {
  #text = "";
  readonly #calls: Begun[] = [];
  /** By the server's index: where its call is among ours. */
  readonly #places = new Map<number, number>();
  #stop: string | undefined;
  #hasChoices = false;
  #hasMessage = false;
  #usage: LlmUsage | undefined;

  /** Whether the server said that there is no more to come. */
  get isEnded(): boolean {
    return this.#stop !== undefined;
  }

  /** Whether anything looked like a piece of a chat completion: the first ones of some servers are empty. */
  get hasChoices(): boolean {
    return this.#hasChoices;
  }

  /** Whether the model said anything, be it nothing. */
  get hasMessage(): boolean {
    return this.#hasMessage;
  }

  /** One chunk, parsed. Gives what it adds to the text. */
  take(chunk: unknown): string {
    const { choices, usage } = fieldsOf(chunk);
    this.#usage = usageOf(usage) ?? this.#usage;
    const { delta, message, finish_reason: stop } = fieldsOf(Array.isArray(choices) ? choices[0] : undefined);
    if (typeof stop === "string") this.#stop = stop;
    this.#hasChoices ||= Array.isArray(choices);
    const said = delta ?? message;
    this.#hasMessage ||= typeof said === "object" && said !== null;
    const { content, refusal, tool_calls: calls } = fieldsOf(said);
    if (Array.isArray(calls)) for (const [at, call] of calls.entries()) this.#call(call, delta === undefined ? at : 0);
    // Why it does not answer is an answer: it stands in a field of its own where a format was asked for.
    const added = textOf(content) + textOf(refusal);
    this.#text += added;
    return added;
  }

  /** What came. */
  answer(): LlmAnswer {
    const wanted = this.#calls.filter(({ name }) => name !== "");
    const toolCalls = distinct(wanted.slice(0, MAX_CALLS));
    const callsLeftOut = wanted.length - toolCalls.length;
    const usage = this.#usage;
    const stopReason = reasonOf(this.#stop, toolCalls.length > 0);
    return {
      text: this.#text,
      toolCalls,
      ...(callsLeftOut > 0 && { callsLeftOut }),
      stopReason,
      ...(usage !== undefined && { usage }),
    };
  }

  /** A call, or a piece of one. Servers differ: some leave the index out, some give every call index 0. */
  #call(piece: unknown, otherwise: number): void {
    const { index, id, function: called } = fieldsOf(piece);
    const { name, arguments: args } = fieldsOf(called);
    const at = typeof index === "number" ? index : otherwise;
    const before = this.#calls[this.#places.get(at) ?? -1];
    const isNew = before === undefined || (isText(id) && before.id !== "" && id !== before.id);
    if (isNew) {
      this.#places.set(at, this.#calls.length);
      this.#calls.push({ id: shortOf(id), name: shortOf(name), text: argumentsOf(args) });
      return;
    }
    if (before.id === "") before.id = shortOf(id);
    // Most send the name once, some with each piece, none in pieces.
    if (before.name === "") before.name = shortOf(name);
    before.text += argumentsOf(args);
  }
}

/** An error that the server put where a chunk or an answer should be; its sentence may be empty. */
export function errorIn(chunk: unknown): { readonly message: string; readonly status: number | undefined } | undefined {
  const { error } = fieldsOf(chunk);
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return { message: error, status: undefined };
  const { message, code } = fieldsOf(error);
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : undefined;
  return { message: typeof message === "string" ? message : "", status };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => fieldsOf(part)["text"])
    .filter(isText)
    .join("");
}

function shortOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_NAME) : "";
}

/** Most write JSON text; some give the object itself. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
}

function distinct(calls: readonly Begun[]): readonly LlmToolCall[] {
  const ids = new Set<string>();
  return calls.map(({ id, name, text }, at) => {
    let own = id === "" ? `call_${at}` : id;
    while (ids.has(own)) own = `${own}_`;
    ids.add(own);
    return { id: own, name, arguments: text.trim() === "" ? "{}" : text };
  });
}

function usageOf(usage: unknown): LlmUsage | undefined {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = fieldsOf(usage);
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function reasonOf(said: string | undefined, hasCalls: boolean): StopReason {
  if (said === "length" || said === "content_filter") return said;
  // Several servers say "stop" beside calls.
  return hasCalls ? "tool_calls" : "stop";
}
