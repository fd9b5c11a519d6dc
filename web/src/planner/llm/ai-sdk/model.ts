/**
 * As much of the AI SDK's `LanguageModel` as is used here, in all its versions since 2 (`@ai-sdk/provider`, "Language Model
 * Specification"). Ours, so that nobody has to install what they do not use.
 * @module
 */

/** A model as the SDK's providers make it: `createOpenAI(…)("gpt-4o")`, `anthropic("claude-…")`. */
export interface AiSdkModel {
  /** Of the SDK's specification: `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** As the provider calls it. */
  readonly modelId: string;
  /** Asks it. Each version of the SDK has a type of its own for what it is asked. */
  doStream(options: never): PromiseLike<{
    /** Piece by piece. */
    readonly stream: ReadableStream<AiSdkPart>;
  }>;
}

/** What a model is asked. The SDK's own types are not read-only, and neither are these. */
export interface AiSdkCall {
  prompt: AiSdkMessage[];
  tools?: { type: "function"; name: string; description?: string; inputSchema: object }[];
  abortSignal?: AbortSignal;
}

/** One message. */
export type AiSdkMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: AiSdkText[] }
  | { role: "assistant"; content: (AiSdkText | AiSdkReasoning | AiSdkCallPart)[] }
  | { role: "tool"; content: AiSdkResult[] };

/** A text. */
export interface AiSdkText {
  type: "text";
  text: string;
}

/** What the model thought, which some want back, signed. */
export interface AiSdkReasoning extends WithOptions {
  type: "reasoning";
  text: string;
}

/** A call that the model made. */
export interface AiSdkCallPart extends WithOptions {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** What the tool answered. */
export interface AiSdkResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text"; value: string };
}

interface WithOptions {
  /** JSON. */
  providerOptions?: unknown;
}

/** A piece of an answer. */
export interface AiSdkPart {
  /** Which one it is. */
  readonly type: string;
}
