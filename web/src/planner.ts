/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A planner: a loop of a model and tools in which no tool can flood the model. For browsers, workers and Node; runs that
 * wait in a folder for another process are in `mcp-sluice/planner/node`.
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
export { ReactPlanner } from "./planner/react-planner.js";
export type { PlanningHints, ReactPlannerOptions, ResumeOptions, RunOptions } from "./planner/react-planner.js";
export type { ExhaustedLimit, BudgetUsage } from "./planner/run-state.js";
export type { PlannerBudget } from "./planner/react-planner.js";
export type { CatalogSource, ToolProvider } from "./planner/tool.js";
export type {
  ArtifactEmittedEvent,
  ArtifactStoredEvent,
  CallPlace,
  ChunkEmittedEvent,
  FinishedEvent,
  ModelAnsweredEvent,
  ObservationClampedEvent,
  PausedEvent,
  PlannerEvent,
  StateFailedEvent,
  ResourceUpdatedEvent,
  StepEvent,
  TextDiscardedEvent,
  TextEvent,
  ToolAnsweredEvent,
  ToolCalledEvent,
  ToolDisplayEvent,
  ToolFailedEvent,
  ToolProgressEvent,
  ToolReturnedEvent,
  ToolWaitingEvent,
} from "./planner/event.js";
export { AiSdkClient } from "./planner/llm/ai-sdk.js";
export type { AiSdkClientOptions, AiSdkModel, AiSdkPart } from "./planner/llm/ai-sdk.js";
export type { LlmRequestOptions } from "./planner/llm/client.js";
export type {
  AssistantMessage,
  LlmAnswer,
  LlmClient,
  LlmErrorCode,
  LlmErrorDetails,
  LlmMessage,
  LlmOptions,
  LlmRequest,
  LlmTool,
  LlmToolCall,
  LlmUsage,
  StopReason,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from "./planner/llm/client.js";
export { LlmError } from "./planner/llm/client.js";
export { OpenAiClient } from "./planner/llm/openai.js";
export type { OpenAiClientOptions } from "./planner/llm/openai.js";
export { scriptedModel } from "./planner/llm/scripted-model.js";
export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedMessage,
  ScriptedTurn,
} from "./planner/llm/scripted-model.js";
export { MemoryStateStore } from "./planner/state-store.js";
export type { PlannerOutcome, PlannerPause, PlannerResult } from "./planner/run-state.js";
export type { Trajectory, TrajectoryCall, TrajectoryStep } from "./planner/run-state.js";
export type {
  HostStateStore,
  AfterRelease,
  RemoteBinding,
  StateEvent,
  StateStore,
  StateStoreOptions,
  StoredEvent,
} from "./planner/state-store.js";
export { tool } from "./planner/tool.js";
export type { NativeTool, NativeToolOptions, PlannerToolContext } from "./planner/tool.js";
export type { ToolArtifacts, ToolArtifactInfo } from "./artifacts/scoped.js";
export type { ResiliencePolicy, RetryRules } from "./tools/resilience/resilience.js";
export type { DisplayedFile, ResultDisplay, UserFilePrompts } from "./tools/user-files.js";
export type { RetryNotice } from "./tools/resilience/resilience.js";
