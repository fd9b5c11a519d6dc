/**
 * Converts the events of a run at the page's server into those of the chat.
 * @module
 */
import type { AnswerRef } from "mcp-sluice";
import type { PlannerEvent, Trajectory } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui";
import { Displays } from "../displays.js";
import type { ChatEvent, PassedEvent, SeenMessage } from "../chat/messages.js";
import type { ServedArtifact } from "../messages.js";
import type { ServedEvent } from "./events.js";
import { errorIn } from "./client.js";

/** Events that pass unchanged. */
const PASSED: ReadonlySet<string> = new Set<PassedEvent["kind"]>([
  "text",
  "text_discarded",
  "model_answered",
  "tool_called",
  "tool_progress",
  "tool_waiting",
  "tool_returned",
  "artifact_stored",
  "observation_clamped",
  "tool_answered",
  "paused",
]);

/** The events of one run. */
export class RunEvents {
  readonly #tell: (event: ChatEvent) => void;
  readonly #displays: Displays;

  constructor(tell: (event: ChatEvent) => void) {
    this.#tell = tell;
    this.#displays = new Displays(
      (artifact) => toServedArtifact(artifact),
      (display) => tell({ kind: "display", display }),
    );
  }

  /** Passes on an event, unless the page does not use it. */
  hear(event: ServedEvent): void {
    const { kind } = event;
    if (kind === "step_started") {
      const { step } = event as unknown as Extract<PlannerEvent, { readonly kind: "step_started" }>;
      return this.#tell({ kind: "asked", step, messages: [] });
    }
    if (kind === "tool_display") return this.#displays.add(event as unknown as Displayed);
    if (kind === "tool_failed") return this.#onFailure(event);
    if (!PASSED.has(kind)) return;
    const passed = withServed(event as unknown as PassedEvent);
    this.#tell(passed);
    if (passed.kind === "artifact_stored" || passed.kind === "tool_answered") this.#displays.stored(passed);
  }

  /** Reports what the model saw, which is known after the run. */
  saw({ query, steps }: Trajectory): void {
    let messages: readonly SeenMessage[] = [{ role: "user", text: query }];
    for (const [at, { calls }] of steps.entries()) {
      this.#tell({
        kind: "saw",
        step: at + 1,
        messages,
        calls: calls.map(({ id, args }) => ({ id, args: args === undefined ? "" : JSON.stringify(args) })),
      });
      messages = calls.map(({ id, tool, observation }) => ({ role: "tool", text: observation, tool, call: id }));
    }
  }

  #onFailure(event: ServedEvent): void {
    const { step, call, tool } = event as unknown as Displayed;
    const { code = "E_TOOL", message = "The call failed." } = errorIn(event);
    this.#tell({ kind: "tool_failed", step, call, tool, problem: { code, message } });
  }
}

type Displayed = Extract<PlannerEvent, { readonly kind: "tool_display" }>;

/** Marks artifacts as stored at the server. */
function withServed(event: PassedEvent): PassedEvent {
  if (event.kind !== "artifact_stored") return event;
  return { ...event, artifacts: event.artifacts.map((artifact) => ({ ...artifact, served: true })) };
}

/** An artifact, marked as stored at the server. */
export function toServedArtifact(artifact: AnswerRef | ShownArtifact): ServedArtifact {
  const { scope: _, ...shown } = artifact as ShownArtifact & { readonly scope?: unknown };
  return { ...shown, served: true };
}
