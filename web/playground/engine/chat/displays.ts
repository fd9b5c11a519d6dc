/**
 * What tools would have the viewer do: told once it is known what they stored.
 * @module
 */
import type { AnswerRef } from "mcp-sluice";
import type { PlannerEvent } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownDisplay } from "../contract.js";
import { shownDisplay } from "../filed.js";
import { callKey } from "./call-key.js";

type Display = Extract<PlannerEvent, { readonly kind: "tool_display" }>;

/** Events of a call that end the wait for what it stored. */
export interface CallAfter {
  readonly kind: string;
  readonly step: number;
  readonly call: string;
  readonly artifacts?: readonly AnswerRef[];
}

/** Displays of the calls of one question. */
export class Displays {
  readonly #waiting = new Map<string, Display>();
  readonly #shown: (artifact: AnswerRef, server: string) => ShownArtifact;
  readonly #tell: (display: ShownDisplay) => void;

  /** `shown` says how an artifact of a server's is named here. */
  constructor(shown: (artifact: AnswerRef, server: string) => ShownArtifact, tell: (display: ShownDisplay) => void) {
    this.#shown = shown;
    this.#tell = tell;
  }

  /** A tool says what is to be shown. */
  add(display: Display): void {
    this.#waiting.set(callKey(display.step, display.call), display);
  }

  /** The call has stored what it stores. */
  follow({ step, call, artifacts = [] }: CallAfter): void {
    const waiting = this.#waiting.get(callKey(step, call));
    if (waiting === undefined) return;
    this.#waiting.delete(callKey(step, call));
    const server = serverOf(waiting.tool);
    this.#tell(
      shownDisplay(
        waiting.display,
        artifacts.map((artifact) => this.#shown(artifact, server)),
        server,
      ),
    );
  }
}

/** The server that a tool of the catalog is of. */
export function serverOf(tool: string): string {
  return tool.slice(0, Math.max(0, tool.indexOf(".")));
}
