import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { LlmAnswer, LlmClient, LlmMessage } from "../../../web/src/planner/llm/client.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import { createScriptedModel, type Script, type ScriptedTurn } from "../../../web/src/planner/llm/scripted-model.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../../web/src/planner/react-planner.js";
import type { PlannerPause, PlannerResult } from "../../../web/src/planner/run-state.js";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";

/** A planner, and what is seen of it. */
export interface Planned {
  readonly planner: ReactPlanner;
  readonly store: MemoryArtifactStore;
  readonly events: PlannerEvent[];
  /** What the model was asked, turn by turn. */
  readonly turns: ScriptedTurn[];
}

/** A planner over a script, by the real client. */
export function planned(
  script: Script,
  catalog: ReactPlannerOptions["catalog"],
  options: Partial<ReactPlannerOptions> = {},
): Planned {
  const [events, turns]: [PlannerEvent[], ScriptedTurn[]] = [[], []];
  const fetch = createScriptedModel((turn) => {
    turns.push(turn);
    return script(turn);
  });
  const llm = new OpenAiClient({ model: "scripted", baseUrl: "http://model.test/v1", fetch });
  const store = new MemoryArtifactStore();
  const planner = new ReactPlanner({
    catalog,
    llm,
    artifactStore: store,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { planner, store, events, turns };
}

/** Calls these once, then says what it was told. */
export function once(...calls: readonly { readonly name: string; readonly args?: Record<string, unknown> }[]): Script {
  return ({ messages, last }) => {
    if (last.role !== "tool") return { calls: calls.map(({ name, args = {} }) => ({ name, args })) };
    return { text: `I saw ${messages.filter(({ role }) => role === "tool").length} results.` };
  };
}

/** A client of a host's own, which holds to nothing: gives these turns one after the other, and then an answer. */
export class OwnClient implements LlmClient {
  readonly model = "own";
  /** What the last turn was told. */
  messages: readonly LlmMessage[] = [];
  readonly #turns: Partial<LlmAnswer>[];

  constructor(...turns: readonly Partial<LlmAnswer>[]) {
    this.#turns = [...turns];
  }

  async ask({ messages }: { readonly messages: readonly LlmMessage[] }): Promise<LlmAnswer> {
    this.messages = [...messages];
    return { text: "", toolCalls: [], stopReason: "stop", ...(this.#turns.shift() ?? { text: "Done." }) };
  }

  /** Results that the model was told. */
  get told(): readonly Extract<LlmMessage, { role: "tool" }>[] {
    return this.messages.filter((message) => message.role === "tool");
  }
}

/** The result of a run that came to one. */
export function answered(outcome: PlannerResult | PlannerPause): PlannerResult {
  if (outcome.kind !== "result") throw new Error("it waits");
  return outcome;
}

/** A tool that every API can name: `math_add`. */
export const add: NativeTool = tool({
  name: "math.add",
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});
