/**
 * Questions to a person in the middle of a call. The answer may arrive in another process.
 * @module
 */
import type { PausePayload, PauseReason, ToolContext } from "../../tools/context.js";
import { ToolRateLimitError } from "../../tools/errors.js";
import type { EventLog, LoggedEvent } from "../sessions/event-log.js";
import type { ServedSession } from "../session.js";
import type { Told } from "../sessions/session-work.js";

/** A question, as `ToolContext.pause` gets it. */
export interface PauseQuestion {
  /** Why the call waits. */
  readonly reason: PauseReason;
  /** The question's data. */
  readonly payload: PausePayload;
}

/** An open question. */
export interface OpenPause {
  /** The id by which it is answered, within its session. */
  readonly id: string;
  /**
   * Waits for the answer. Null if the person declines or says nothing in time. Call it once: then the question is
   * deleted. Throws the reason of the signal, and SluiceError E_STORE_….
   */
  answer(signal: AbortSignal): Promise<unknown>;
}

/** A pending request for consent. */
interface AwaitedConsent {
  /** The session that asked. */
  readonly session: string;
  /** The pause that it answers, or null. */
  readonly pause: string | null;
  /** The OAuth provider. */
  readonly provider: string;
}

/** Seconds for a person to answer: as long as a request for consent is stored. */
const ANSWER_TIMEOUT = 10 * 60;

/** Milliseconds for reading a stored request for consent. */
const READ_TIMEOUT = 10_000;

/** The form of our ids. */
const PAUSE = /^[\w-]{22}$/;

/** The form of states that `OAuthManager` makes. */
const STATE = /^[\w-]{43}$/;

interface Answered extends LoggedEvent {
  readonly answer?: unknown;
}

/** A question that is kept until its call is over. */
interface Asked extends LoggedEvent {
  /** When waiting ends, in milliseconds since 1970. */
  readonly until?: number;
}

/** Milliseconds for reading what is stored of a question. */
const LEAST_WAIT = 1000;

/**
 * Asks questions and takes answers, over all processes that share the events. All methods throw SluiceError
 * E_STORE_….
 */
export class Pauses {
  readonly #events: EventLog;
  readonly #timeout: number;

  /** `timeout`: seconds for a person to answer. */
  constructor(events: EventLog, timeout: number = ANSWER_TIMEOUT) {
    this.#events = events;
    this.#timeout = timeout;
  }

  /** Asks a session. */
  async open(session: string, question: PauseQuestion): Promise<OpenPause> {
    const id = newPause();
    const channel = toChannel(session, id);
    const after = await this.#events.append(channel, { kind: "asked" });
    await this.noteConsent(session, question.payload, id);
    return { id, answer: (signal) => this.#answer(channel, after, signal) };
  }

  /**
   * Asks a session a question that is kept until {@link forget}, or asks it again: an answer that was given meanwhile is
   * used. `isAnswered`: there is nothing left to ask.
   */
  async keep(
    session: string,
    question: PauseQuestion,
    id: string,
  ): Promise<OpenPause & { readonly isAnswered: boolean }> {
    const channel = toChannel(session, id);
    const before = await this.#events.latest(channel);
    const asked: Asked = { kind: "asked", until: Date.now() + this.#timeout * 1000 };
    if (before === null) await this.#events.append(channel, asked);
    const isAnswered = before?.event.kind === "answered";
    if (!isAnswered) await this.noteConsent(session, question.payload, id);
    return { id, isAnswered, answer: (signal) => this.#readAnswer(channel, signal) };
  }

  /** Deletes a question that was kept. */
  async forget(session: string, pause: string): Promise<void> {
    await this.#events.end(toChannel(session, pause));
  }

  /** Answers a question, with null for no. Returns false if the session has no such question, or no longer. */
  async answer(session: string, pause: string, answer: unknown): Promise<boolean> {
    if (!PAUSE.test(pause)) return false;
    const channel = toChannel(session, pause);
    const last = await this.#events.latest(channel);
    // One that is kept may be answered already.
    if (last === null || last.event.kind === "answered") return false;
    const answered: Answered = { kind: "answered", answer };
    await this.#events.append(channel, answered);
    return true;
  }

  /** Registers the session of a request for consent, if a question's payload is one. No other session may answer it. */
  async noteConsent(session: string, payload: PauseQuestion["payload"], pause: string | null = null): Promise<void> {
    const { pause_type, auth_url, provider } = payload;
    if (pause_type !== "oauth" || typeof auth_url !== "string" || typeof provider !== "string") return;
    const state = URL.canParse(auth_url) ? (new URL(auth_url).searchParams.get("state") ?? "") : "";
    if (!STATE.test(state)) return;
    const noted: AwaitedConsent = { session, pause, provider };
    await this.#events.append(consentChannel(state), { kind: "awaited", ...noted });
  }

  /** The request for consent of an OAuth state, or null. */
  async consentOf(state: string): Promise<AwaitedConsent | null> {
    if (!STATE.test(state) || !(await this.#events.has(consentChannel(state)))) return null;
    const signal = AbortSignal.timeout(READ_TIMEOUT);
    for await (const { event } of this.#events.follow(consentChannel(state), { after: null, signal })) {
      const { session, pause, provider } = event as LoggedEvent & AwaitedConsent;
      return { session, pause, provider };
    }
    return null;
  }

  /** Deletes a request for consent. */
  async forgetConsent(state: string): Promise<void> {
    if (STATE.test(state)) await this.#events.end(consentChannel(state));
  }

  /** The first answer, also one that was given before. No answer in time is an answer too. */
  async #readAnswer(channel: string, signal: AbortSignal): Promise<unknown> {
    const late = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const either = AbortSignal.any([signal, late.signal]);
      for await (const { event } of this.#events.follow(channel, { after: null, signal: either })) {
        if (event.kind === "answered") return (event as Answered).answer;
        const { until = 0 } = event as Asked;
        timer ??= setTimeout(() => late.abort(), Math.max(LEAST_WAIT, until - Date.now()));
      }
    } finally {
      clearTimeout(timer);
    }
    signal.throwIfAborted();
    const declined: Answered = { kind: "answered", answer: null };
    if (late.signal.aborted) await this.#events.append(channel, declined);
    return null;
  }

  async #answer(channel: string, after: string, signal: AbortSignal): Promise<unknown> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(this.#timeout * 1000)]);
    try {
      for await (const { event } of this.#events.follow(channel, { after, signal: until })) {
        if (event.kind === "answered") return (event as Answered).answer;
      }
      signal.throwIfAborted();
      return null;
    } finally {
      await this.#events.end(channel).catch(() => undefined);
    }
  }
}

/** An id for a question. */
export function newPause(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
}

function toChannel(session: string, pause: string): string {
  return `pause ${session} ${pause}`;
}

function consentChannel(state: string): string {
  return `consent ${state}`;
}

/** Most open questions of one request. */
export const MAX_OPEN = 16;

/**
 * Makes the `pause` function of a request: sends questions as events, and waits for `POST /pauses/{pause}` in any
 * process.
 */
export function createPause(
  pauses: Pauses,
  session: ServedSession,
  tell: (event: Told) => void,
  signal: AbortSignal,
): NonNullable<ToolContext["pause"]> {
  let open = 0;
  return async (reason, payload) => {
    if (open >= MAX_OPEN) throw tooMany();
    open += 1;
    try {
      const pause = await pauses.open(session.id, { reason, payload });
      // `POST /pauses/{pause}` answers it.
      tell({ kind: "paused", pause: pause.id, reason, payload } as Told);
      return await pause.answer(signal);
    } finally {
      open -= 1;
    }
  };
}

/** The error for too many open questions. */
export function tooMany(): ToolRateLimitError {
  return new ToolRateLimitError(
    `The call was cancelled because more than ${MAX_OPEN} of its questions are unanswered.`,
    {
      category: "non_retryable",
    },
  );
}
