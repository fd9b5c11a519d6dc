/**
 * A turn of the chat: a question and everything that followed, and how events change it.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ChatEnd, ChatEvent, ChatModel, ChatRequest, SeenMessage } from "../../engine/chat/messages.js";
import type { Problem, ShownProgress } from "../../engine/messages.js";

/** A tool call of the model. */
export interface ChatCall {
  /** Unique in its step. */
  readonly id: string;
  /** The name in the catalog, once the call has started. */
  readonly tool: string;
  /** The JSON text that the model wrote. */
  readonly args: string;
  readonly state: "wanted" | "running" | "waiting" | "done" | "failed" | "cancelled";
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly progress?: ShownProgress;
  readonly artifacts: readonly ShownArtifact[];
  /** Characters before and after the guardrail, and its method. */
  readonly clamped?: { readonly original: number; readonly left: number; readonly method: string };
  /** Characters that the model sees. */
  readonly chars?: number;
  readonly problem?: Problem;
}

/** One request to the model. */
export interface ChatStep {
  /** From 1. */
  readonly step: number;
  /** Messages that are new in this step. */
  readonly seen: readonly SeenMessage[];
  /** The number of tools on offer, if known. */
  readonly tools: number | undefined;
  /** The text that it wrote. */
  readonly text: string;
  readonly calls: readonly ChatCall[];
  /** Input and output tokens, if its server reports them. */
  readonly tokens?: number;
}

/** A question, from its start to its answer. */
export interface ChatTurn extends Omit<ChatRequest, "before" | "model"> {
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Who answers; missing while the question waits for the page. Never the model itself, which has a key. */
  readonly by?: ChatModel["kind"];
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly steps: readonly ChatStep[];
  readonly end?: ChatEnd;
  readonly problem?: Problem;
}

/** The turn after an event. `now` is in milliseconds since 1970. */
export function withEvent(turn: ChatTurn, event: ChatEvent, now: number): ChatTurn {
  switch (event.kind) {
    case "asked": {
      const { step, messages: seen, tools } = event;
      const before = turn.steps.filter((each) => each.step !== step);
      return { ...turn, steps: [...before, { step, seen, tools, text: "", calls: [] }] };
    }
    case "saw":
      return withStep(turn, event.step, ({ calls }) => ({
        seen: event.messages,
        calls: calls.map((call) => ({
          ...call,
          args: event.calls.find(({ id }) => id === call.id)?.args ?? call.args,
        })),
      }));
    case "text":
      return withStep(turn, event.step, (step) => ({ text: step.text + event.text }));
    case "text_discarded":
      return withStep(turn, event.step, () => ({ text: "" }));
    case "wanted": {
      const calls = event.calls.map(({ id, name, args }) => toCall(id, name, args, now));
      return withStep(turn, event.step, () => ({ calls }));
    }
    case "model_answered": {
      const { usage } = event;
      if (usage === undefined) return turn;
      return withStep(turn, event.step, () => ({ tokens: usage.inputTokens + usage.outputTokens }));
    }
    case "display":
      return turn;
    case "resumed":
      return { ...turn, steps: turn.steps.map(goesOn) };
    default:
      return withStep(turn, event.step, ({ calls }) => ({
        calls: among(calls, event, now).map((call) =>
          call.id === event.call ? changeCall(call, ofCall(call, event, now)) : call,
        ),
      }));
  }
}

type CallEvent = Extract<ChatEvent, { readonly call: string }>;

function ofCall(call: ChatCall, event: CallEvent, now: number): Partial<ChatCall> {
  switch (event.kind) {
    case "tool_called":
      return { tool: event.tool, state: "running", startedAt: now };
    case "tool_progress":
      return { progress: event.progress };
    case "tool_waiting":
      return { progress: { progress: 0, ...call.progress, wait: event.wait } };
    case "paused":
      return { state: "waiting" };
    case "tool_failed":
      return { problem: event.problem };
    case "tool_returned":
      return { state: event.isError ? "failed" : "done", endedAt: now };
    case "artifact_stored":
      return { artifacts: together(call.artifacts, event.artifacts.map(withoutScope)) };
    case "observation_clamped": {
      const { original_size: original, clamped_size: left, method } = event;
      return { clamped: { original, left, method } };
    }
    default: {
      const { isError, chars } = event;
      return { state: isError ? "failed" : "done", endedAt: call.endedAt ?? now, chars };
    }
  }
}

/** The page's server reports calls only when it makes them: adds one that is not known yet. */
function among(calls: readonly ChatCall[], { call, tool }: CallEvent, now: number): readonly ChatCall[] {
  return calls.some(({ id }) => id === call) ? calls : [...calls, toCall(call, tool, "{}", now)];
}

/** A cancelled call stays cancelled, however it ends. */
function changeCall(call: ChatCall, change: Partial<ChatCall>): ChatCall {
  const after = { ...call, ...change };
  return call.state === "cancelled" ? { ...after, state: "cancelled" } : after;
}

/** The turn with one call cancelled. */
export function withCancelled(turn: ChatTurn, step: number, id: string): ChatTurn {
  return withStep(turn, step, ({ calls }) => ({
    calls: calls.map((call) => (call.id === id ? { ...call, state: "cancelled" } : call)),
  }));
}

function toCall(id: string, tool: string, args: string, startedAt: number): ChatCall {
  return { id, tool, args, state: "wanted", startedAt, artifacts: [] };
}

function goesOn(step: ChatStep): ChatStep {
  return {
    ...step,
    calls: step.calls.map((call) => (call.state === "waiting" ? { ...call, state: "running" } : call)),
  };
}

function withStep(turn: ChatTurn, step: number, change: (step: ChatStep) => Partial<ChatStep>): ChatTurn {
  return { ...turn, steps: turn.steps.map((each) => (each.step === step ? { ...each, ...change(each) } : each)) };
}

function withoutScope<T extends object>(artifact: T): Omit<T, "scope"> {
  const { scope: _, ...shown } = artifact as T & { scope?: unknown };
  return shown;
}

function together(known: readonly ShownArtifact[], more: readonly ShownArtifact[]): readonly ShownArtifact[] {
  return [...new Map([...known, ...more].map((artifact) => [artifact.id, artifact])).values()];
}

/** Decoded bytes that were stored instead of shown. */
export function countKeptOut({ steps }: ChatTurn): number {
  const artifacts = steps.flatMap(({ calls }) => calls.flatMap((call) => call.artifacts));
  return artifacts.reduce((sum, { size_bytes = 0, sha256 }) => sum + (sha256 === null ? 0 : size_bytes), 0);
}

/** Characters of results that the model saw. */
export function countSeenChars({ steps }: ChatTurn): number {
  return steps.reduce((sum, { calls }) => sum + calls.reduce((chars, call) => chars + (call.chars ?? 0), 0), 0);
}
