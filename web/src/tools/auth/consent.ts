/**
 * A user's consent, asked for through the host: once, however many of the user's calls need it.
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import { untilAborted, untilLate } from "../../core/abort.js";
import type { ToolContext } from "../context.js";
import { ToolAuthError, ToolNodeError, ToolRateLimitError, ToolTimeoutError } from "../errors.js";
import type { OAuthManager } from "./oauth-manager.js";
import { ownerKey, tokenOwner } from "./owner.js";
import { tokenKey } from "./token-store.js";

/** What users are being asked, by whoever keeps their tokens. */
const asked = new WeakMap<OAuthManager, Questions<string>>();

/**
 * Asks the user of a call for consent through the host, waits for the answer, and gives the token. Where another call of
 * the same user asks for the same provider already, waits for its answer, ten minutes at most, and asks only when that call
 * gives up: when its signal is aborted, or its `pause` throws what is no ToolNodeError.
 *
 * @throws ToolAuthError when nobody can ask, or there is no token afterwards; ToolTimeoutError when another call's question
 * stays unanswered; what `pause` throws; the signal's reason.
 */
export async function askUser(manager: OAuthManager, provider: string, context: ToolContext): Promise<string> {
  const { pause, signal } = context;
  const key = tokenKey(ownerKey(tokenOwner(fullScope(context.scope))), provider);
  return questionsOf(manager).answer(key, {
    ...(pause !== undefined && { ask: () => consented(manager, provider, pause, context) }),
    isAnswer: (error) => error instanceof ToolNodeError && signal?.aborted !== true,
    unable: () => cannotAsk(provider),
    late: () => unanswered(provider),
    crowded: () => crowded(provider),
    signal,
  });
}

function questionsOf(manager: OAuthManager): Questions<string> {
  const questions = asked.get(manager) ?? new Questions<string>();
  asked.set(manager, questions);
  return questions;
}

async function consented(
  manager: OAuthManager,
  provider: string,
  pause: NonNullable<ToolContext["pause"]>,
  { signal, scope: written }: ToolContext,
): Promise<string> {
  const scope = fullScope(written);
  const owner = tokenOwner(scope);
  const options = signal === undefined ? {} : { signal };
  // Whoever asked before may have been answered after it was looked for.
  const given = await manager.getToken(owner, provider, options);
  if (given !== null) return given;
  const request = await manager.getAuthRequest({ provider, ...owner, trace_id: scope.trace_id }, options);
  signal?.throwIfAborted();
  await untilAborted(pause("external_event", { pause_type: "oauth", provider, ...request }), signal);
  const token = await manager.getToken(owner, provider, options);
  if (token !== null) return token;
  throw new ToolAuthError(`The user did not give access to ${provider}: call again to ask once more.`);
}

function cannotAsk(provider: string): ToolAuthError {
  return new ToolAuthError(
    `The user has not given access to ${provider}, and cannot be asked here: give the call's context a pause, or get ` +
      "consent before through the OAuthManager.",
  );
}

function unanswered(provider: string): ToolTimeoutError {
  const sentence = `The user did not answer the request for access to ${provider} within ${MAX_WAIT / 60_000} minutes`;
  return new ToolTimeoutError(`${sentence}: call again to ask once more.`, { neverSent: true });
}

function crowded(provider: string): ToolRateLimitError {
  const sentence = `Too many calls wait for the user's access to ${provider}: call again when it was given.`;
  return new ToolRateLimitError(sentence, { category: "non_retryable", neverSent: true });
}

/** How long an answer is waited for, in milliseconds; whoever comes later asks anew. */
const MAX_WAIT: number = 10 * 60 * 1000;

/** Most questions that are known at a time; of more the oldest is forgotten, which then may be asked twice. */
const MAX_QUESTIONS = 10_000;

/** Most who wait for one answer. */
const MAX_WAITING = 10_000;

/** Somebody who needs an answer. */
export interface Asker<T> {
  /** Asks, and gives the answer; left out by whoever can only wait for one. */
  readonly ask?: () => Promise<T>;
  /** Whether what `ask` threw is the answer for all who wait. Else it was given up, and the next of them asks. */
  readonly isAnswer: (error: unknown) => boolean;
  /** The error of whoever cannot ask, where nobody else does. */
  readonly unable: () => Error;
  /** The error where the answer does not come in time. */
  readonly late: () => Error;
  /** The error where too many wait already. */
  readonly crowded: () => Error;
  /** Gives up, at once. */
  readonly signal: AbortSignal | undefined;
}

/** Questions by key: each is asked by whoever needs its answer first. */
export class Questions<T> {
  /** Oldest first. */
  readonly #open = new Map<string, Question<T>>();
  readonly #mostKnown: number;
  readonly #mostWaiting: number;

  /** Questions that are known at a time, and those who wait for each. */
  constructor(mostKnown = MAX_QUESTIONS, mostWaiting = MAX_WAITING) {
    this.#mostKnown = mostKnown;
    this.#mostWaiting = mostWaiting;
  }

  /** Questions that are being asked. */
  get size(): number {
    return this.#open.size;
  }

  /** The answer: by asking, or by waiting for whoever asks. Throws what that throws, what the asker says, its signal's reason. */
  async answer(key: string, asker: Asker<T>): Promise<T> {
    asker.signal?.throwIfAborted();
    const { ask } = asker;
    const known = this.#open.get(key);
    if (known?.isFresh === true) return known.waited(asker);
    if (ask === undefined) throw asker.unable();
    return this.#begun(key).asked(ask, asker);
  }

  #begun(key: string): Question<T> {
    const question: Question<T> = new Question<T>(this.#mostWaiting, () => {
      if (this.#open.get(key) === question) this.#open.delete(key);
    });
    this.#open.delete(key);
    this.#open.set(key, question);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= this.#mostKnown) break;
      this.#open.delete(oldest);
    }
    return question;
  }
}

/** What somebody who waits is told: the answer, or that it is theirs to ask, or that nobody does any more. */
type News<T> = PromiseSettledResult<T> | { readonly status: "yours" } | { readonly status: "unasked" };

interface Waiter<T> {
  readonly canAsk: boolean;
  readonly tell: (news: News<T>) => void;
}

/** One question, from the first who asks to the answer. */
class Question<T> {
  /** In the order in which they came. */
  readonly #line = new Set<Waiter<T>>();
  readonly #mostWaiting: number;
  readonly #forget: () => void;
  #since = 0;

  constructor(mostWaiting: number, forget: () => void) {
    this.#mostWaiting = mostWaiting;
    this.#forget = forget;
  }

  /** Whether an answer may still come. */
  get isFresh(): boolean {
    return performance.now() - this.#since < MAX_WAIT;
  }

  async asked(ask: () => Promise<T>, { isAnswer }: Asker<T>): Promise<T> {
    this.#since = performance.now();
    try {
      const value = await ask();
      this.#end({ status: "fulfilled", value });
      return value;
    } catch (reason) {
      if (isAnswer(reason)) this.#end({ status: "rejected", reason });
      else this.#handOn();
      throw reason;
    }
  }

  async waited(asker: Asker<T>): Promise<T> {
    if (this.#line.size >= this.#mostWaiting) throw asker.crowded();
    const news = await this.#news(asker);
    if (news.status === "fulfilled") return news.value;
    if (news.status === "rejected") throw news.reason;
    // Only those who can ask are told that it is theirs.
    if (news.status === "yours" && asker.ask !== undefined) return this.asked(asker.ask, asker);
    throw asker.unable();
  }

  async #news({ ask, late, signal }: Asker<T>): Promise<News<T>> {
    const { waiter, told } = waiting<T>(ask !== undefined);
    this.#line.add(waiter);
    try {
      return await untilLate(() => told, { most: MAX_WAIT, late, signal });
    } catch (error) {
      // It may have become theirs to ask in the same moment: then it is the next one's.
      if (!this.#line.delete(waiter) && (await told).status === "yours") this.#handOn();
      throw error;
    }
  }

  #handOn(): void {
    const next = [...this.#line].find(({ canAsk }) => canAsk);
    if (next === undefined) return this.#end({ status: "unasked" });
    this.#line.delete(next);
    // Nobody may take it for asked too long ago before it is asked anew.
    this.#since = performance.now();
    next.tell({ status: "yours" });
  }

  #end(news: News<T>): void {
    this.#forget();
    const line = [...this.#line];
    this.#line.clear();
    for (const { tell } of line) tell(news);
  }
}

function waiting<T>(canAsk: boolean): { readonly waiter: Waiter<T>; readonly told: Promise<News<T>> } {
  let tell: ((news: News<T>) => void) | undefined;
  const told = new Promise<News<T>>((resolve) => {
    tell = resolve;
  });
  return { waiter: { canAsk, tell: (news) => tell?.(news) }, told };
}
