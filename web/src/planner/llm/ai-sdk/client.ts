/**
 * Models of the Vercel AI SDK, from any of its providers (AI SDK 5 and later).
 * @module
 */
import { checkOptions, OBJECT, type OptionTests } from "../../../errors/options.js";
import { adaptError, fromStatus, type AnswerHeaders, type ToolPlace } from "../../../tools/adapt-error.js";
import { ToolNodeError } from "../../../tools/errors.js";
import { Asking, type AskingOptions } from "../asking.js";
import type { LlmAnswer, LlmClient, LlmOptions, LlmRequest } from "../client.js";
import { ASKING, wrongOption } from "../patience.js";
import type { AiSdkCall, AiSdkModel } from "./model.js";
import { promptOf } from "./prompt.js";
import { answerOf } from "./reading.js";

/** How a model of the SDK is asked. */
export interface AiSdkClientOptions extends AskingOptions {
  /** What is given to it beside the conversation: `temperature`, `maxOutputTokens`, `providerOptions`, … */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const OPTIONS: OptionTests<AiSdkClientOptions> = { ...ASKING, settings: OBJECT };

const VERSIONS: readonly string[] = ["v2", "v3", "v4"];

/** One model of the SDK. */
export class AiSdkClient implements LlmClient {
  readonly model: string;
  readonly #model: AiSdkModel;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #asking: Asking;

  /** Throws E_INVALID_ARGUMENT for what is no model, or one of a version that there was not yet, and for an option that is wrong. */
  constructor(model: AiSdkModel, options: AiSdkClientOptions = {}) {
    checkModel(model);
    checkOptions(options, OPTIONS, "an AiSdkClient", wrongOption);
    this.model = model.modelId;
    this.#model = model;
    this.#settings = options.settings ?? {};
    this.#asking = new Asking(model.modelId, options);
  }

  async ask({ messages, tools }: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    const call: AiSdkCall = {
      ...this.#settings,
      prompt: promptOf(messages),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function" as const, ...tool })) }),
    };
    return this.#asking.turn(async (attempt) => {
      try {
        const { stream } = await this.#model.doStream({ ...call, abortSignal: attempt.signal } as never);
        return await answerOf(stream, attempt);
      } catch (error) {
        attempt.signal.throwIfAborted();
        throw adapted(error, attempt.place);
      }
    }, options);
  }
}

/** The SDK's errors have a status and headers, and the whole conversation: nothing else of them is kept. */
function adapted(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  const { statusCode, responseHeaders } = typeof error === "object" && error !== null ? (error as Failure) : {};
  if (typeof statusCode !== "number" || statusCode < 400) return adaptError(error, place);
  return fromStatus(statusCode, headersOf(responseHeaders), place);
}

interface Failure {
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
}

function headersOf(headers: unknown): AnswerHeaders | undefined {
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
