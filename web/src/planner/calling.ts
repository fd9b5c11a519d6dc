/**
 * The calls that the model wants made, from their names to the JSON of their results.
 * @module
 */
import { nearest } from "../errors/nearest.js";
import { Turns } from "../mcp/arguments/turns.js";
import { Attempt, type AttemptTerms, type Call } from "./attempt.js";
import type { Listed } from "./catalog.js";
import type { CallPlace } from "./event.js";
import type { LlmToolCall } from "./llm/client.js";
import type { OpenStep } from "./run-state.js";
import { failed, NATIVE, type Outcome } from "./settled.js";
import { leading } from "./turn.js";

/** What calls need of their run. */
export interface CallTerms extends AttemptTerms {
  readonly listed: Listed;
  /** Calls under way at the same time. */
  readonly maxParallel: number;
}

/** Characters of the name of a tool that there is not. */
const MAX_NAME = 64;

/**
 * Makes the calls of a step that are not made yet, and gives what became of all of them, in their order. Where one of them
 * throws, the others are given up.
 */
export async function allMade(
  { calls, settled, answers }: OpenStep,
  step: number,
  terms: CallTerms,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const turns = new Turns(terms.maxParallel);
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  const making = (call: LlmToolCall, at: number): Promise<Outcome> =>
    made({ call, step, answers: answers[at] ?? [], signal: either }, terms).catch((error: unknown) => {
      // Before its turn is the next one's.
      end.abort(error);
      throw error;
    });
  return Promise.all(
    calls.map((call, at): Promise<Outcome> => {
      const done = settled[at];
      if (done != null) return Promise.resolve({ settled: done });
      return turns.do(() => making(call, at), either);
    }),
  );
}

/** Makes a call. Throws the signal's reason, and what the host's `callSignal` does wrong: what fails is told to the model. */
async function made(call: Call, terms: CallTerms): Promise<Outcome> {
  const { listed, tell } = terms;
  const tool = listed.find(call.call.name);
  const name = tool?.name ?? leading(call.call.name, MAX_NAME);
  if (tool === undefined) {
    return { settled: failed({ tool: name, namespace: NATIVE }, unknownTool(name, listed.names)) };
  }
  const args = argsOf(call.call);
  if (args === undefined) {
    const namespace = tool.kind === "native" ? NATIVE : tool.extra.namespace;
    return { settled: failed({ tool: name, namespace }, "The arguments are no JSON object: write them anew.") };
  }
  const place: CallPlace = { step: call.step, call: call.call.id, tool: name };
  tell({ kind: "tool_called", ...place });
  return new Attempt(call, place, tool, terms).make(args);
}

/** The arguments as an object; undefined where the model wrote none. */
export function argsOf({ arguments: text }: LlmToolCall): Readonly<Record<string, unknown>> | undefined {
  try {
    const args: unknown = JSON.parse(text);
    return typeof args === "object" && args !== null && !Array.isArray(args)
      ? (args as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function unknownTool(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const remedy = meant === undefined ? "call one of the tools that you were told of." : `did you mean ${meant}?`;
  return `There is no tool ${JSON.stringify(name)}: ${remedy}`;
}
