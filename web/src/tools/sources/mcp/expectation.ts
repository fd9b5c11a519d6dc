/**
 * Answers that somebody waits for, and what became of them behind the gate.
 * @module
 */
import type { GatedResult, TransformOptions } from "../../../core/sluice.js";
import type { Asker } from "./asker.js";

/**
 * The kind of request that is answered: a call or its result, a call that asks for a task, the status of a task with its
 * result inside it, a resource.
 */
export type Asked = "call" | "task" | "status" | "read";

/** What came. */
export type Arrival =
  /** A result, until somebody takes it. */
  | { readonly kind: "result"; readonly gated: GatedResult; readonly isError: boolean }
  /** A question or a task in a result's place, as it came. */
  | { readonly kind: "aside"; readonly result: Readonly<Record<string, unknown>> };

/** Who waits, beside for the result. */
export interface Waiter {
  /** Who is asked what the server wants to know meanwhile. */
  readonly asker?: Asker;
  /** Told that a part of the answer came. */
  readonly alive?: (() => void) | undefined;
}

/** One answer that is waited for. */
export class Expectation {
  /** What the request is known by until it has an id. */
  readonly key: string;
  readonly asked: Asked;
  /** How the result is reduced, and whose it is. */
  readonly options: TransformOptions;
  readonly waiter: Waiter;
  /** What came, once it has. */
  arrival: Arrival | undefined;
  /** Why nothing came, where that is known better than the client knows it. */
  failure: Error | undefined;

  constructor(key: string, asked: Asked, options: TransformOptions, waiter: Waiter) {
    this.key = key;
    this.asked = asked;
    this.options = options;
    this.waiter = waiter;
  }
}

/** Where in an answer the result stands. */
export function placeOf(asked: Asked): "result" | "result.result" {
  return asked === "status" ? "result.result" : "result";
}

/** What the client is given in a result's place: valid in every revision, and against every output schema. */
export function standIn(asked: Asked, isError: boolean): string {
  if (asked === "read") return '{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}';
  // It stands inside the status of its task.
  if (asked === "status") return '{"content":[]}';
  return `{"content":[],"structuredContent":{},"isError":${isError},"resultType":"complete"}`;
}
