/**
 * What the chat has said so far, and what changes it.
 * @module
 */
import type { PlannerEvent } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui/react";
import type { SignIn } from "./sign-in.js";

/** A question, and what came of it so far. */
export interface Turn {
  /** From 0. */
  readonly id: number;
  readonly question: string;
  /** Of the answer. */
  readonly text: string;
  /** What was called, in the order of the answers. */
  readonly calls: readonly string[];
  readonly artifacts: readonly ShownArtifact[];
  /** One for each time that consent was needed. */
  readonly signIns: readonly SignIn[];
  readonly isOver: boolean;
}

/** Something happened. `id` is the turn's. */
export type Change =
  | { readonly kind: "asked"; readonly id: number; readonly question: string }
  | { readonly kind: "event"; readonly id: number; readonly event: PlannerEvent }
  | { readonly kind: "sign_in"; readonly id: number; readonly signIn: SignIn }
  | { readonly kind: "ended"; readonly id: number; readonly problem?: string };

/** The turns after a change. */
export function changed(turns: readonly Turn[], change: Change): readonly Turn[] {
  if (change.kind === "asked") {
    const { id, question } = change;
    return [...turns, { id, question, text: "", calls: [], artifacts: [], signIns: [], isOver: false }];
  }
  return turns.map((turn) => (turn.id === change.id ? changedTurn(turn, change) : turn));
}

function changedTurn(turn: Turn, change: Exclude<Change, { kind: "asked" }>): Turn {
  if (change.kind === "event") return after(turn, change.event);
  if (change.kind === "sign_in") return { ...turn, signIns: [...turn.signIns, change.signIn] };
  return { ...turn, isOver: true, text: change.problem ?? turn.text };
}

function after(turn: Turn, event: PlannerEvent): Turn {
  if (event.kind === "text") return { ...turn, text: turn.text + event.text };
  if (event.kind === "text_discarded") return { ...turn, text: "" };
  if (event.kind === "artifact_stored") return { ...turn, artifacts: [...turn.artifacts, ...event.artifacts] };
  if (event.kind !== "tool_answered" || event.isError) return turn;
  const call = `${event.tool} answered, and the model sees ${event.chars.toLocaleString("en")} characters of it.`;
  return { ...turn, calls: [...turn.calls, call] };
}
