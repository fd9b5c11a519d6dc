/**
 * A run between two steps, or in the middle of one: all that another process needs to go on with it. JSON.
 * @module
 */
import { z } from "zod";
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import type { Spent } from "./budget.js";
import type { Settled } from "./calling.js";
import type { LlmMessage, LlmToolCall } from "./llm/client.js";
import type { TrajectoryStep } from "./trajectory.js";

/** What is known of a run. */
export interface RunState {
  readonly query: string;
  readonly llmContext: Readonly<Record<string, unknown>>;
  readonly messages: readonly LlmMessage[];
  readonly steps: readonly TrajectoryStep[];
  /** Fields that are marked `artifact: true`. */
  readonly artifacts: Readonly<Record<string, unknown>>;
  readonly spent: Spent;
}

/** A step of which some calls wait for a person. */
export interface PausedStep {
  readonly text: string;
  /** Of the model's answer. */
  readonly meta?: unknown;
  readonly calls: readonly LlmToolCall[];
  /** By the call's id: what came of it. */
  readonly settled: Readonly<Record<string, Settled>>;
  /** By the call's id: what people answered so far. */
  readonly answers: Readonly<Record<string, readonly unknown[]>>;
  /** The call that is answered next. */
  readonly waiting: string;
}

/** What a state store keeps. */
export interface PausedRun {
  readonly version: 1;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  readonly step: PausedStep;
}

// The parts were written by us: it is enough to know that this is what they are.
const PAUSED = z.object({
  version: z.literal(1),
  scope: z.string(),
  run: z.object({
    query: z.string(),
    llmContext: z.record(z.string(), z.unknown()),
    messages: z.array(z.looseObject({ role: z.string() })),
    steps: z.array(z.looseObject({ text: z.string() })),
    artifacts: z.record(z.string(), z.unknown()),
    spent: z.object({ steps: z.number(), tokens: z.number(), seconds: z.number() }),
  }),
  step: z.object({
    text: z.string(),
    meta: z.unknown().optional(),
    calls: z.array(z.looseObject({ id: z.string(), name: z.string(), arguments: z.string() })),
    settled: z.record(z.string(), z.looseObject({ text: z.string() })),
    answers: z.record(z.string(), z.array(z.unknown())),
    waiting: z.string(),
  }),
});

/**
 * A paused run as a store gave it.
 *
 * @throws SluiceError E_NOT_FOUND where there is none, or it is somebody else's: in the same words.
 */
export function pausedRun(kept: unknown, scope: ArtifactScope): PausedRun {
  const read = PAUSED.safeParse(kept);
  if (read.success && read.data.scope === scopeKey(scope)) return read.data as unknown as PausedRun;
  throw noSuchRun();
}

/** E_NOT_FOUND: for what goes on at the moment in the same words as for what is gone. */
export function noSuchRun(): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    "There is no run that waits by this token: it goes on or went on already, was forgotten, or never was. " +
      "Where the process died that went on with it, try again when its lease is over; else run the query again.",
  );
}
