/**
 * A run that is kept from its beginning on, by a name that its caller chose: between two steps, in a step that waits, or in one
 * whose calls go on. JSON.
 * @module
 */
import { z } from "zod";
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { WaitingCall } from "./keeping.js";
import type { PlannerPause } from "./result.js";
import { answered, noSuchRun, RUN, STEP, type OpenStep, type RunState } from "./run-state.js";

/** A call that waits for a person, and what names this pause among all of the run. */
export interface NamedPause extends WaitingCall {
  readonly id: string;
}

/** What a state store keeps. */
export interface NamedRun {
  readonly version: 3;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  /** Null between two steps. */
  readonly step: OpenStep | null;
  /** Of the step; null where it waits for nobody. */
  readonly pause: NamedPause | null;
}

// As with runs that pause, it is enough to know that this is what we wrote.
const NAMED = z.object({
  version: z.literal(3),
  scope: z.string(),
  run: RUN,
  step: STEP.nullable(),
  pause: z.looseObject({ id: z.string(), at: z.int().nonnegative(), tool: z.string(), reason: z.string() }).nullable(),
});

/** Behind the run's own name: a UUID, as it is written here. */
const PAUSE = /^([^]+) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** UTF-16 units of a name: a store takes 1,024, and a pause adds its own. */
export const MAX_RUN_NAME = 900;

/** What answers one pause of a run, and no other. */
export function pauseToken(name: string, { id }: NamedPause): string {
  return `${name} ${id}`;
}

/** The name of the run and the id of its pause, where a token has both. */
export function partsOf(token: string): readonly [name: string, pause: string] | undefined {
  const [, name, pause] = PAUSE.exec(token) ?? [];
  return name === undefined || pause === undefined ? undefined : [name, pause];
}

/** What such a run waits for, as a store gave it; null where it waits for nobody. */
export function pauseIn(name: string, kept: unknown): PlannerPause | null {
  const read = NAMED.safeParse(kept);
  if (!read.success || read.data.pause === null) return null;
  const { run, pause } = read.data as unknown as NamedRun & { readonly pause: NamedPause };
  return pauseOf(name, run, pause);
}

/** Whether what a store gave is such a run. */
export function isNamedRun(kept: unknown): boolean {
  return (kept as { readonly version?: unknown } | null)?.version === 3;
}

/**
 * Such a run as a store gave it.
 *
 * @throws SluiceError E_NOT_FOUND where there is none, or it is somebody else's, or does not wait by this pause: in the same words.
 */
export function namedRun(kept: unknown, scope: ArtifactScope, pause: string | undefined): NamedRun {
  const read = NAMED.safeParse(kept);
  const isOwn = read.success && read.data.scope === scopeKey(scope);
  if (isOwn && (pause === undefined || read.data.pause?.id === pause)) return read.data as unknown as NamedRun;
  throw noSuchRun();
}

/** What a run that waits is given back as. */
export function pauseOf(name: string, run: RunState, pause: NamedPause): PlannerPause {
  const { reason, payload, tool } = pause;
  const { query, steps, artifacts } = run;
  const trajectory = { query, steps, artifacts };
  return { kind: "pause", reason, payload, tool, resumeToken: pauseToken(name, pause), trajectory };
}

/** The run with an answer for the call that waits. */
export function withAnswer(kept: NamedRun, answer: unknown): NamedRun {
  const { step, pause } = kept;
  if (step === null || pause === null) return kept;
  return { ...kept, step: answered({ ...step, waiting: pause.at }, answer), pause: null };
}
