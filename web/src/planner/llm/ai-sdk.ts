/**
 * Models of the Vercel AI SDK, version 5 and later, from any of its providers.
 * @module
 */
import { checkOptions, OBJECT, type OptionTests } from "../../errors/arguments.js";
import { adaptError, type AnswerHeaders, fromStatus } from "../../tools/adapt-error.js";
import { toSubject, ToolClientError, ToolConnectionError, ToolNodeError, type ToolPlace } from "../../tools/errors.js";
import {
  jsonIn,
  type AssistantMessage,
  type LlmAnswer,
  type LlmClient,
  type LlmMessage,
  type LlmOptions,
  type LlmRequest,
  type LlmToolCall,
  type LlmUsage,
  MAX_ANSWER_CHARS,
  MAX_CALLS,
  type StopReason,
  LlmCaller,
  ASKING,
  type LlmRequestOptions,
  type TurnAttempt,
  wrongOption,
} from "./client.js";

/** Options for `AiSdkClient`. */
export interface AiSdkClientOptions extends LlmRequestOptions {
  /** Further settings of a call: `temperature`, `maxOutputTokens`, `providerOptions`, … */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const OPTIONS: OptionTests<AiSdkClientOptions> = { ...ASKING, settings: OBJECT };

const VERSIONS: readonly string[] = ["v2", "v3", "v4"];

/** A model of the SDK. */
export class AiSdkClient implements LlmClient {
  readonly model: string;
  readonly provider: string;
  readonly #model: AiSdkModel;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #caller: LlmCaller;

  /** Throws E_INVALID_ARGUMENT for anything but a model of a known version, and for a wrong option. */
  constructor(model: AiSdkModel, options: AiSdkClientOptions = {}) {
    checkModel(model);
    checkOptions(options, OPTIONS, "an AiSdkClient", wrongOption);
    this.model = model.modelId;
    // As in "openai.chat".
    const { provider } = model as { readonly provider?: unknown };
    this.provider = typeof provider === "string" ? (provider.split(".", 1)[0] as string) : "";
    this.#model = model;
    this.#settings = options.settings ?? {};
    this.#caller = new LlmCaller(model.modelId, options);
  }

  async ask({ messages, tools }: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    const call: AiSdkCall = {
      ...this.#settings,
      prompt: toPrompt(messages),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function" as const, ...tool })) }),
    };
    return this.#caller.turn(async (attempt) => {
      try {
        const { stream } = await this.#model.doStream({ ...call, abortSignal: attempt.signal } as never);
        return await readAnswer(stream, attempt);
      } catch (error) {
        attempt.signal.throwIfAborted();
        throw adaptSdkError(error, attempt.place);
      }
    }, options);
  }
}

/** Keeps only the status and headers of the SDK's errors, which also contain the conversation. */
function adaptSdkError(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  const { statusCode, responseHeaders } = typeof error === "object" && error !== null ? (error as Failure) : {};
  if (typeof statusCode !== "number" || statusCode < 400) return adaptError(error, place);
  return fromStatus(statusCode, readHeaders(responseHeaders), place);
}

interface Failure {
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
}

function readHeaders(headers: unknown): AnswerHeaders | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  return { get: (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] as unknown };
}

function checkModel(model: AiSdkModel): void {
  const given = model as Partial<AiSdkModel> | null | undefined;
  const version = given?.specificationVersion;
  if (typeof given?.doStream === "function" && typeof given.modelId === "string" && VERSIONS.includes(String(version)))
    return;
  const remedy = 'give what a provider makes, such as openai("gpt-4o")';
  throw wrongOption(`model must be a language model of the AI SDK 5, 6 or 7: ${remedy}.`, "model");
}

/** Converts messages. The results of one turn become one message. */
function toPrompt(messages: readonly LlmMessage[]): AiSdkMessage[] {
  const prompt: AiSdkMessage[] = [];
  for (const message of messages) {
    const before = prompt.at(-1);
    if (message.role !== "tool") prompt.push(toSdkMessage(message));
    else if (before?.role === "tool") before.content.push(toResultPart(message));
    else prompt.push({ role: "tool", content: [toResultPart(message)] });
  }
  return prompt;
}

type Told = Extract<LlmMessage, { role: "tool" }>;

function toResultPart({ callId: toolCallId, name: toolName, content: value }: Told): AiSdkResult {
  return { type: "tool-result", toolCallId, toolName, output: { type: "text", value } };
}

function toSdkMessage(message: Exclude<LlmMessage, Told>): AiSdkMessage {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "user") return { role: "user", content: [{ type: "text", text: message.content }] };
  return { role: "assistant", content: toParts(message) };
}

function toParts({
  content,
  toolCalls,
  meta,
}: AssistantMessage): Extract<AiSdkMessage, { role: "assistant" }>["content"] {
  // `Parts` made it.
  const thoughts = (meta ?? []) as readonly AiSdkReasoning[];
  const text = content === "" ? [] : [{ type: "text" as const, text: content }];
  return [...thoughts, ...text, ...toolCalls.map(toCallPart)];
}

function toCallPart({ id: toolCallId, name: toolName, arguments: written, meta }: LlmToolCall): AiSdkCallPart {
  const input = jsonIn(written);
  return {
    type: "tool-call",
    toolCallId,
    toolName,
    // Only valid JSON is sent back to models.
    input: input === undefined ? {} : input,
    ...(meta !== undefined && { providerOptions: meta }),
  };
}

/**
 * Reads a stream of parts to its end. Throws the error of an error part, a ToolNodeError of the place, the signal's
 * reason.
 */
async function readAnswer(stream: ReadableStream<AiSdkPart>, attempt: TurnAttempt): Promise<LlmAnswer> {
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

/** The fields of all kinds of parts. */
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

/** A number in version 2, an object since then. */
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
    if (this.#chars > MAX_ANSWER_CHARS) {
      const subject = toSubject(this.#attempt.place);
      throw new ToolClientError(`${subject} gave an answer of more than ${MAX_ANSWER_CHARS} characters: limit it.`);
    }
    switch (part.type) {
      case "text-delta":
        return this.#write(part.delta ?? "");
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#thought(part);
      case "tool-call":
        return this.#addCall(part);
      case "finish":
        this.#stop = typeof part.finishReason === "object" ? part.finishReason.unified : part.finishReason;
        this.#usage = readUsage(part.usage);
        return;
      case "error":
        throw part.error;
      default:
    }
  }

  answer(): LlmAnswer {
    if (this.#stop === undefined || this.#stop === "interrupted") {
      const subject = toSubject(this.#attempt.place);
      throw new ToolConnectionError(`${subject} ended before its answer was complete: try again later.`);
    }
    const thoughts = [...this.#thoughts.values()];
    const stopReason = toStopReason(this.#stop, this.#calls.length > 0);
    return {
      text: this.#text,
      toolCalls: this.#calls,
      ...(this.#callsLeftOut > 0 && { callsLeftOut: this.#callsLeftOut }),
      stopReason,
      ...(this.#usage !== undefined && { usage: this.#usage }),
      ...(thoughts.length > 0 && { meta: thoughts }),
    };
  }

  #write(piece: string): void {
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

  #addCall({
    toolCallId: id = "",
    toolName: name = "",
    input = "",
    providerExecuted,
    providerMetadata: meta,
  }: Fields): void {
    // The provider executed it.
    if (providerExecuted === true) return;
    if (this.#calls.length >= MAX_CALLS) {
      this.#callsLeftOut += 1;
      return;
    }
    const text = input.trim() === "" ? "{}" : input;
    this.#calls.push({ id, name, arguments: text, ...(meta !== undefined && { meta }) });
  }
}

function readUsage(usage: Fields["usage"]): LlmUsage | undefined {
  const [inputTokens, outputTokens] = [readCount(usage?.inputTokens), readCount(usage?.outputTokens)];
  return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

function readCount(count: Count): number | undefined {
  const total = typeof count === "object" ? count.total : count;
  return Number.isSafeInteger(total) ? total : undefined;
}

function toStopReason(said: string, hasCalls: boolean): StopReason {
  if (said === "length") return "length";
  if (said === "content-filter") return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}

// The used part of the AI SDK's `LanguageModel`, in all versions since 2 (`@ai-sdk/provider`, "Language Model
// Specification"). Declared here so that the SDK need not be installed.
/** A model as the SDK's providers make it: `createOpenAI(…)("gpt-4o")`, `anthropic("claude-…")`. */
export interface AiSdkModel {
  /** The version of the specification: `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** The provider's name of the model. */
  readonly modelId: string;
  /** Requests a turn. Each version of the SDK has its own type of options. */
  doStream(options: never): PromiseLike<{
    /** The parts of the answer. */
    readonly stream: ReadableStream<AiSdkPart>;
  }>;
}

/** The options of a call. Mutable, as the SDK's types are. */
interface AiSdkCall {
  prompt: AiSdkMessage[];
  tools?: { type: "function"; name: string; description?: string; inputSchema: object }[];
  abortSignal?: AbortSignal;
}

/** One message. */
type AiSdkMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: AiSdkText[] }
  | { role: "assistant"; content: (AiSdkText | AiSdkReasoning | AiSdkCallPart)[] }
  | { role: "tool"; content: AiSdkResult[] };

/** A text. */
interface AiSdkText {
  type: "text";
  text: string;
}

/** The model's thoughts, which some models want back, signed. */
interface AiSdkReasoning extends WithOptions {
  type: "reasoning";
  text: string;
}

/** A call that the model made. */
interface AiSdkCallPart extends WithOptions {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** A tool's result. */
interface AiSdkResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text"; value: string };
}

interface WithOptions {
  /** JSON. */
  providerOptions?: unknown;
}

/** A part of an answer. */
interface AiSdkPart {
  /** The kind of part. */
  readonly type: string;
}
