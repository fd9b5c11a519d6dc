/**
 * The answer of an AI SDK model, put together from its parts.
 * @module
 */
import { subjectOf } from "../../../tools/adapting/place.js";
import { ToolClientError, ToolConnectionError } from "../../../tools/errors.js";
import type { TurnAttempt } from "../asking.js";
import type { LlmAnswer, LlmToolCall, LlmUsage, StopReason } from "../client.js";
import { MAX_ANSWER_CHARS, MAX_CALLS } from "../limits.js";
import type { AiSdkPart, AiSdkReasoning } from "./model.js";

/** Reads a stream of parts to its end. Throws what an error among them has, a ToolNodeError of the place, the signal's reason. */
export async function answerOf(stream: ReadableStream<AiSdkPart>, attempt: TurnAttempt): Promise<LlmAnswer> {
  const parts = new Parts(attempt);
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      attempt.signal.throwIfAborted();
      attempt.alive();
      parts.take(next.value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return parts.answer();
}

/** Of all parts there are; each has some of them. */
interface Fields {
  readonly id?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: unknown;
  readonly finishReason?: string | { readonly unified?: string };
  readonly usage?: { readonly inputTokens?: Count; readonly outputTokens?: Count };
  readonly error?: unknown;
}

/** A number in version 2, and an object since. */
type Count = number | { readonly total?: number } | undefined;

class Parts {
  readonly #attempt: TurnAttempt;
  readonly #calls: LlmToolCall[] = [];
  #callsLeftOut = 0;
  readonly #thoughts = new Map<string, AiSdkReasoning>();
  #text = "";
  #chars = 0;
  #stop: string | undefined;
  #usage: LlmUsage | undefined;

  constructor(attempt: TurnAttempt) {
    this.#attempt = attempt;
  }

  take(part: AiSdkPart & Fields): void {
    this.#chars += (part.delta?.length ?? 0) + (part.input?.length ?? 0);
    if (this.#chars > MAX_ANSWER_CHARS) throw tooLong(this.#attempt);
    switch (part.type) {
      case "text-delta":
        return this.#written(part.delta ?? "");
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#thought(part);
      case "tool-call":
        return this.#called(part);
      case "finish":
        this.#stop = typeof part.finishReason === "object" ? part.finishReason.unified : part.finishReason;
        this.#usage = usageOf(part.usage);
        return;
      case "error":
        throw part.error;
      default:
    }
  }

  answer(): LlmAnswer {
    if (this.#stop === undefined || this.#stop === "interrupted") throw brokenOff(this.#attempt);
    const thoughts = [...this.#thoughts.values()];
    const stopReason = reasonOf(this.#stop, this.#calls.length > 0);
    return {
      text: this.#text,
      toolCalls: this.#calls,
      ...(this.#callsLeftOut > 0 && { callsLeftOut: this.#callsLeftOut }),
      stopReason,
      ...(this.#usage !== undefined && { usage: this.#usage }),
      ...(thoughts.length > 0 && { meta: thoughts }),
    };
  }

  #written(piece: string): void {
    this.#text += piece;
    if (piece !== "") this.#attempt.onText(piece);
  }

  #thought({ id = "", delta = "", providerMetadata }: Fields): void {
    const before = this.#thoughts.get(id);
    const providerOptions = providerMetadata ?? before?.providerOptions;
    this.#thoughts.set(id, {
      type: "reasoning",
      text: (before?.text ?? "") + delta,
      ...(providerOptions !== undefined && { providerOptions }),
    });
  }

  #called({
    toolCallId: id = "",
    toolName: name = "",
    input = "",
    providerExecuted,
    providerMetadata: meta,
  }: Fields): void {
    // What the provider did itself is none of ours.
    if (providerExecuted === true) return;
    if (this.#calls.length >= MAX_CALLS) {
      this.#callsLeftOut += 1;
      return;
    }
    const text = input.trim() === "" ? "{}" : input;
    this.#calls.push({ id, name, arguments: text, ...(meta !== undefined && { meta }) });
  }
}

function usageOf(usage: Fields["usage"]): LlmUsage | undefined {
  const [inputTokens, outputTokens] = [countOf(usage?.inputTokens), countOf(usage?.outputTokens)];
  return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

function countOf(count: Count): number | undefined {
  const total = typeof count === "object" ? count.total : count;
  return Number.isSafeInteger(total) ? total : undefined;
}

function reasonOf(said: string, hasCalls: boolean): StopReason {
  if (said === "length") return "length";
  if (said === "content-filter") return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}

function tooLong({ place }: TurnAttempt): ToolClientError {
  return new ToolClientError(
    `${subjectOf(place)} gave an answer of more than ${MAX_ANSWER_CHARS} characters: limit it.`,
  );
}

function brokenOff({ place }: TurnAttempt): ToolConnectionError {
  return new ToolConnectionError(`${subjectOf(place)} ended before its answer was complete: try again later.`);
}
