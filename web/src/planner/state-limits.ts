/**
 * How much a state store keeps, and what it can take.
 * @module
 */
import type { Clock } from "../artifacts/store.js";
import { jsonOf } from "../core/value.js";
import { SluiceError } from "../errors/error.js";
import type { RemoteBinding, StateEvent } from "./state-store.js";

/** Bounds of a state store. */
export interface StateStoreOptions {
  /**
   * Runs that wait, and as many traces with events, bindings and OAuth states, of which a request for consent takes two; 1,000
   * when left out.
   */
  readonly maxKept?: number;
  /** Events of one trace; 1,000 when left out. */
  readonly maxEvents?: number;
  /** Bytes of JSON of one run, event, binding or OAuth state; 16 MiB when left out. */
  readonly maxBytes?: number;
  /** Bytes of JSON of all events of one trace, but for the newest, which is kept anyhow; 64 MiB when left out. */
  readonly maxHistoryBytes?: number;
  /** Seconds that anything is kept since it was saved; a day when left out. */
  readonly maxAgeSeconds?: number;
  /** What things age and claims end by; `Date.now` when left out. */
  readonly clock?: Clock;
}

const KEPT = 1_000;
const EVENTS = 1_000;
const BYTES = 16 * 1024 * 1024;
const HISTORY_BYTES = 64 * 1024 * 1024;
const AGE_SECONDS = 24 * 60 * 60;
/** UTF-16 units of a token or an id. */
const MAX_NAME = 1024;
/** The longest lease, in seconds: a process that died would hold a run for as long. */
const MAX_LEASE = 24 * 60 * 60;

/** What is said of what another store saved, whose bound was larger. */
export const TOO_LARGE =
  "What is kept here has more bytes than this store's maxBytes: give every store of the same place the same maxBytes.";

/** The bounds, with nothing left out. */
export class StateLimits {
  readonly maxKept: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxHistoryBytes: number;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly #clock: Clock;

  /** Throws SluiceError E_INVALID_ARGUMENT. */
  constructor(options: StateStoreOptions) {
    const { maxKept = KEPT, maxEvents = EVENTS, maxAgeSeconds = AGE_SECONDS } = options;
    const { maxBytes = BYTES, maxHistoryBytes = HISTORY_BYTES } = options;
    for (const [name, limit] of Object.entries({ maxKept, maxEvents, maxBytes, maxHistoryBytes, maxAgeSeconds })) {
      if (!(limit > 0)) throw wrong(name, "a number above 0");
    }
    this.maxKept = maxKept;
    this.maxEvents = maxEvents;
    this.maxBytes = maxBytes;
    this.maxHistoryBytes = maxHistoryBytes;
    this.maxAge = Math.ceil(maxAgeSeconds * 1000);
    this.#clock = options.clock ?? Date.now;
  }

  /** Whole milliseconds since 1970; 0 where the clock gives no time. */
  now(): number {
    const now = Math.floor(this.#clock());
    return Number.isSafeInteger(now) && now > 0 ? now : 0;
  }

  /** Until when something is kept that is saved at this time, and for no longer than `most`: all in milliseconds. */
  until(now: number, most = Infinity): number {
    return Math.min(now + Math.min(this.maxAge, most), Number.MAX_SAFE_INTEGER);
  }

  /** A value as JSON text. Throws SluiceError E_INVALID_ARGUMENT, E_TOO_LARGE. */
  text(value: unknown): string {
    const text = jsonOf(value);
    const bytes = text.length > this.maxBytes ? text.length : bytesOf(text);
    if (bytes <= this.maxBytes) return text;
    throw new SluiceError(
      "E_TOO_LARGE",
      `What is to be kept has more than ${this.maxBytes} bytes: let tools store what is large, or give the store a larger maxBytes.`,
    );
  }

  /** The same for what is to take the place of something. Throws SluiceError E_INVALID_ARGUMENT, E_TOO_LARGE. */
  textOfSomething(value: unknown): string {
    if (value === null) throw wrong("payload", "JSON that is not null");
    return this.text(value);
  }

  /** Of a trace's events, by their sizes in bytes and the oldest first: the first that may be kept. The newest always may. */
  firstKept(sizes: readonly number[]): number {
    let first = sizes.length;
    let bytes = 0;
    while (first > 0 && sizes.length - first < this.maxEvents) {
      bytes += sizes[first - 1] ?? 0;
      if (bytes > this.maxHistoryBytes && first < sizes.length) break;
      first -= 1;
    }
    return first;
  }
}

/** How many bytes a text has in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** What a text was saved from; null for null. Throws SluiceError E_STORE_CORRUPT. */
export function valueOf(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // What JSON.parse says has a piece of the text in it.
    throw new SluiceError("E_STORE_CORRUPT", "What is kept here is damaged: begin anew.");
  }
}

/** A token, an owner or an id. Throws SluiceError E_INVALID_ARGUMENT. */
export function named(value: string, name: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_NAME) return value;
  throw wrong(name, `a string of 1 to ${MAX_NAME} characters`);
}

/** A lease in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
export function leaseOf(seconds: number): number {
  if (seconds > 0 && seconds <= MAX_LEASE) return Math.ceil(seconds * 1000);
  throw wrong("leaseSeconds", `a number above 0, and at most ${MAX_LEASE}`);
}

/** How long an OAuth state is kept, in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
export function lifeOf(seconds: number): number {
  if (typeof seconds === "number" && seconds > 0) return Math.ceil(seconds * 1000);
  throw wrong("seconds", "a number above 0");
}

/** An event. Throws SluiceError E_INVALID_ARGUMENT. */
export function eventOf(event: StateEvent): StateEvent {
  if (typeof (event as Partial<StateEvent> | null | undefined)?.kind === "string") return event;
  throw wrong("event", "an object with a kind");
}

/** A binding with nothing but its four fields. Throws SluiceError E_INVALID_ARGUMENT. */
export function bindingOf({ trace_id, context_id, task_id, agent_url }: RemoteBinding): RemoteBinding {
  return {
    trace_id: named(trace_id, "trace_id"),
    context_id: context_id === null ? null : named(context_id, "context_id"),
    task_id: named(task_id, "task_id"),
    agent_url: named(agent_url, "agent_url"),
  };
}

/** One string for each trace and task. */
export function bindingKey(traceId: string, taskId: string): string {
  return JSON.stringify([named(traceId, "traceId"), named(taskId, "taskId")]);
}

function wrong(name: string, expected: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} must be ${expected}.`, { path: name });
}
