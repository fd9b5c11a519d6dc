/**
 * The names under which work is stored. All begin with its session's id, so that no other session finds it.
 * @module
 */
import type { Work, WorkKind } from "./work-register.js";

/** An id of work in its session: a UUID. */
const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What tokens of a kind begin with, and how that of a record ends. Other processes go by these names, so they stay. */
const TOKENS: Record<WorkKind, { readonly begin: string; readonly record: string }> = {
  // The planner stores the run itself, so the record has a token of its own.
  run: { begin: "chat", record: " deps" },
  call: { begin: "call", record: "" },
};

/** The names of one chat run or call. */
export class WorkPlace implements Work {
  readonly kind: WorkKind;
  readonly session: string;
  readonly id: string;

  constructor(kind: WorkKind, session: string, id: string = crypto.randomUUID()) {
    this.kind = kind;
    this.session = session;
    this.id = id;
  }

  /** The key within a process. */
  get key(): string {
    return `${this.session} ${this.id}`;
  }

  /** The token that its process claims. */
  get token(): string {
    return `${TOKENS[this.kind].begin} ${this.key}`;
  }

  /** The token of what was asked for. */
  get record(): string {
    return `${this.token}${TOKENS[this.kind].record}`;
  }

  /** The channel of its events. */
  get channel(): string {
    return `${this.kind} ${this.key}`;
  }

  /** The channel that lists the session's work of this kind. */
  get list(): string {
    return listChannel(this.kind, this.session);
  }
}

/** The channel that lists a session's work of a kind, so that its end finds it. */
export function listChannel(kind: WorkKind, session: string): string {
  return `${kind}s ${session}`;
}

/** Whether a text has the form of an id of work. */
export function isWorkId(text: string): boolean {
  return IS_ID.test(text);
}
