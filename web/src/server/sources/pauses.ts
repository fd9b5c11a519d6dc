/**
 * Questions to a person in the middle of a call: the call waits in one process, the answer may arrive in another.
 * @module
 */
import type { PauseReason, ToolContext } from "../../tools/options.js";
import { ToolRateLimitError } from "../../tools/errors.js";
import type { EventLog, LoggedEvent } from "../sessions/event-log.js";
import type { ServedSession } from "../sessions/session.js";
import type { Told } from "../sessions/session-work.js";

/** What a call asks, as `ToolContext.pause` is given it. */
interface PauseQuestion {
  /** Why it waits. */
  readonly reason: PauseReason;
  /** What is asked. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A question that was put. */
interface OpenPause {
  /** By which it is answered, within its session. */
  readonly id: string;
  /**
   * Waits for the answer: null where the person declines, or says nothing in time. Call it once; the question is gone then.
   * Throws the reason of the signal, and SluiceError E_STORE_….
   */
  answer(signal: AbortSignal): Promise<unknown>;
}

/** A request for consent that is under way. */
interface AwaitedConsent {
  /** Whose it is. */
  readonly session: string;
  /** What goes on with it; null where nothing waits. */
  readonly pause: string | null;
  /** Who is to give access. */
  readonly provider: string;
}

/** Seconds that a person may take: as long as a request for consent is kept. */
const PATIENCE = 10 * 60;

/** Milliseconds within which what is kept of a request for consent has to be read. */
const READING = 10_000;

/** As they are made here. */
const PAUSE = /^[\w-]{22}$/;

/** As `OAuthManager` makes them. */
const STATE = /^[\w-]{43}$/;

interface Answered extends LoggedEvent {
  readonly answer?: unknown;
}

/** Puts questions and takes their answers, over all processes that share the events. All methods throw SluiceError E_STORE_…. */
export class Pauses {
  readonly #events: EventLog;
  readonly #patience: number;

  /** `patience`: seconds that a person may take. */
  constructor(events: EventLog, patience: number = PATIENCE) {
    this.#events = events;
    this.#patience = patience;
  }

  /** Puts a question to a session. */
  async open(session: string, question: PauseQuestion): Promise<OpenPause> {
    const id = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
    const channel = channelOf(session, id);
    const after = await this.#events.append(channel, { kind: "asked" });
    await this.noteConsent(session, question.payload, id);
    return { id, answer: (signal) => this.#answer(channel, after, signal) };
  }

  /** Answers a question of a session, null for no. False where it has no such question, or no longer. */
  async answer(session: string, pause: string, answer: unknown): Promise<boolean> {
    if (!PAUSE.test(pause)) return false;
    const channel = channelOf(session, pause);
    if (!(await this.#events.has(channel))) return false;
    const answered: Answered = { kind: "answered", answer };
    await this.#events.append(channel, answered);
    return true;
  }

  /** Notes whose a request for consent is, where a question's payload is one: no other session may bring its answer. */
  async noteConsent(session: string, payload: PauseQuestion["payload"], pause: string | null = null): Promise<void> {
    const { pause_type, auth_url, provider } = payload;
    if (pause_type !== "oauth" || typeof auth_url !== "string" || typeof provider !== "string") return;
    const state = URL.canParse(auth_url) ? (new URL(auth_url).searchParams.get("state") ?? "") : "";
    if (!STATE.test(state)) return;
    const noted: AwaitedConsent = { session, pause, provider };
    await this.#events.append(consentChannel(state), { kind: "awaited", ...noted });
  }

  /** Whose request for consent a state names; null where nobody noted it. */
  async consentOf(state: string): Promise<AwaitedConsent | null> {
    if (!STATE.test(state) || !(await this.#events.has(consentChannel(state)))) return null;
    const signal = AbortSignal.timeout(READING);
    for await (const { event } of this.#events.follow(consentChannel(state), { after: null, signal })) {
      const { session, pause, provider } = event as LoggedEvent & AwaitedConsent;
      return { session, pause, provider };
    }
    return null;
  }

  /** Forgets a request for consent that was answered. */
  async forgetConsent(state: string): Promise<void> {
    if (STATE.test(state)) await this.#events.end(consentChannel(state));
  }

  async #answer(channel: string, after: string, signal: AbortSignal): Promise<unknown> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(this.#patience * 1000)]);
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

function channelOf(session: string, pause: string): string {
  return `pause ${session} ${pause}`;
}

function consentChannel(state: string): string {
  return `consent ${state}`;
}

/** Questions of one request that wait at the same time. */
const MAX_OPEN = 16;

/** Asks whoever reads the answer of a request, and waits for `POST /pauses/{pause}`, in whichever process it comes. */
export function askedBy(
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

function tooMany(): ToolRateLimitError {
  return new ToolRateLimitError(`More than ${MAX_OPEN} questions of one call wait for an answer: it is given up.`, {
    category: "non_retryable",
  });
}
