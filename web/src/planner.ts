/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A planner: a loop of a model and tools in which no tool can flood the model. For browsers, workers and Node. Runs wait
 * for another process in the `FileStateStore` of `mcp-sluice/node`, or in Redis.
 *
 * @example
 * ```ts
 * const llm = new OpenAiClient({ model: "gpt-4o", apiKey });
 * const planner = new ReactPlanner({ catalog: [weather], llm, artifactStore });
 * const outcome = await planner.run("What is the weather in Oslo?");
 * if (outcome.kind === "result") console.log(outcome.answer);
 * ```
 * @module mcp-sluice/planner
 */
export type { ToolArtifacts } from "./artifacts/scoped.js";
export type { PlannerBudget } from "./planner/budget.js";
export type { PlannerEvent, PlannerOutcome } from "./planner/event.js";
export { AiSdkClient } from "./planner/llm/ai-sdk.js";
export type { AiSdkClientOptions, AiSdkModel } from "./planner/llm/ai-sdk.js";
export { LlmError } from "./planner/llm/client.js";
export type {
  LlmAnswer,
  LlmClient,
  LlmMessage,
  LlmOptions,
  LlmRequest,
  LlmTool,
  LlmToolCall,
} from "./planner/llm/client.js";
export { OpenAiClient } from "./planner/llm/openai.js";
export type { OpenAiClientOptions } from "./planner/llm/openai.js";
export { createScriptedModel } from "./planner/llm/scripted-model.js";
export type { Script } from "./planner/llm/scripted-model.js";
export { ReactPlanner } from "./planner/react-planner.js";
export type { ReactPlannerOptions } from "./planner/react-planner.js";
export type { ResumeOptions, RunOptions } from "./planner/run-options.js";
export type { PlannerPause, PlannerResult, Trajectory } from "./planner/run-state.js";
export { MemoryStateStore } from "./planner/state-store.js";
export type {
  HostStateStore,
  RemoteBinding,
  SavedEvent,
  StateStore,
  StateStoreOptions,
} from "./planner/state-store.js";
export { tool } from "./planner/tool.js";
export type {
  CatalogSource,
  NativeTool,
  NativeToolOptions,
  PlannerToolContext,
  StandardSchema,
  ToolArguments,
  ToolProvider,
} from "./planner/tool.js";
export type { ResiliencePolicy } from "./tools/resilience/resilience.js";
