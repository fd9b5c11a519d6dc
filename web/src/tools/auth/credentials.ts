/**
 * Credentials for sources: headers for requests, an environment variable for programs, and users' tokens with their
 * consent.
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import { untilAborted, untilLate } from "../../core/abort.js";
import type { AuthType, ToolConfig } from "../config/config.js";
import { ToolAuthError, ToolNodeError, ToolRateLimitError, ToolTimeoutError, wrong } from "../errors.js";
import type { ToolContext } from "../context.js";
import type { Authorize, OpenOptions, SourceConnection, ToolSource } from "../source.js";
import type { ResolvedToolConfig } from "../config/resolved-config.js";
import { isVariableName } from "../config/variables.js";
import type { OAuthProviderConfig } from "./oauth-client.js";
import type { OAuthManager } from "./oauth-manager.js";
import { ownerKey, tokenKey, tokenOwner } from "./token-store.js";

/**
 * How a source authenticates callers, with variables replaced. The documents of `http` and `utcp` sources are usually
 * public and can be read without a user.
 */
export type AuthConfig = Pick<ToolConfig, "name" | "auth_type" | "auth_config"> &
  Partial<Pick<ToolConfig, "transport">>;

/** Where users' tokens come from. */
interface AuthParts {
  /** Required for `auth_type: "oauth2_user"`. */
  readonly manager?: OAuthManager | undefined;
  /** Finds a provider that the manager does not know, see `discoverMcpProvider`. */
  readonly discover?: ((signal: AbortSignal | undefined) => Promise<OAuthProviderConfig>) | undefined;
}

/** Returns the headers for requests, and handles their rejection. */
export interface Authorization extends Authorize {
  /**
   * For users' tokens: reports that the source rejected the token that the call started with, or that there was none.
   * The token is renewed or the user is asked, unless another call has done so.
   */
  readonly refused?: () => Promise<void>;
}

/** Valid header values. Others would break the header, and `fetch` would show them in its error. */
const VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/** A header name (RFC 9110 §5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers of the message itself, which cannot carry credentials. */
const FRAMING = new Set(
  "connection content-length content-type cookie host te trailer transfer-encoding upgrade".split(" "),
);

/**
 * Returns the authorization for a call, after asking for the user's consent if it is needed. The returned function
 * gives the current headers without waiting. For `http` and `utcp` sources, a user is asked only once a request needs
 * it: that request fails as if the source had answered 401, and `refused` then asks.
 *
 * @throws ToolAuthError if no user is named, no one can be asked, or consent was not given.
 * @throws ToolNodeError E_TOOL_CONFIG if the configuration is incomplete. Values are never quoted.
 */
export async function authorizeFor(config: AuthConfig, context: ToolContext, parts: AuthParts): Promise<Authorization> {
  if (config.auth_type === "oauth2_user") return ofUser(config, context, parts);
  const headers = buildFixedHeaders(config);
  return async () => ({ ...headers });
}

function buildFixedHeaders(config: AuthConfig): Readonly<Record<string, string>> {
  if (config.auth_type === "api_key") return { [headerName(config)]: requireValue(config, "api_key") };
  if (config.auth_type === "bearer") return { Authorization: `Bearer ${requireValue(config, "token")}` };
  return {};
}

async function ofUser(
  config: AuthConfig,
  context: ToolContext,
  { manager, discover }: AuthParts,
): Promise<Authorization> {
  const provider = getProvider(config);
  if (manager === undefined) {
    throw wrong(
      `The source ${config.name} needs tokens of its users, but there is no OAuthManager: pass one to the ToolNode.`,
    );
  }
  const isLate = config.transport === "http" || config.transport === "utcp";
  const scope = fullScope(context.scope);
  if (isLate && (scope.user_id ?? "") === "") return async () => Promise.reject(toMissingUser(config));
  const owner = tokenOwner(scope);
  if (discover !== undefined) await manager.ensureProvider(provider, () => discover(context.signal));
  const options = context.signal === undefined ? {} : { signal: context.signal };
  const askForToken = async (): Promise<string> =>
    (await manager.getToken(owner, provider, options)) ?? (await askUser(manager, provider, context));
  let first = isLate ? await manager.getToken(owner, provider, options) : await askForToken();
  const authorize = async (): Promise<Readonly<Record<string, string>>> => {
    const token = await manager.getToken(owner, provider);
    if (token === null) throw noConsent(provider, isLate);
    first ??= token;
    return { Authorization: `Bearer ${token}` };
  };
  const refuseToken = async (): Promise<void> => {
    if (first !== null) await manager.refused(owner, provider, first);
    await askForToken();
  };
  return Object.assign(authorize, { refused: refuseToken });
}

function toMissingUser({ name }: AuthConfig): ToolAuthError {
  return new ToolAuthError(
    `The source ${name} needs to know the user, but none is named: give the context of connect, or of the call, a ` +
      "scope.user_id.",
    { neverSent: true },
  );
}

/**
 * For `http` and `utcp` the error has the status of a rejection, since each call is one request and that was not
 * sent.
 */
function noConsent(provider: string, isLate: boolean): ToolAuthError {
  const sentence = `Access to ${provider} is no longer given: call again to ask the user.`;
  return new ToolAuthError(sentence, isLate ? { status: 401, neverSent: true } : {});
}

function getProvider({ auth_config, name }: AuthConfig): string {
  return auth_config["provider"] ?? name;
}

function headerName({ name, auth_config }: AuthConfig): string {
  const header = auth_config["header"] ?? "X-API-Key";
  if (NAME.test(header) && !FRAMING.has(header.toLowerCase())) return header;
  throw wrong(`auth_config.header of ${name} is not a header for a key: choose another, such as X-API-Key.`);
}

function requireValue({ name, auth_config }: AuthConfig, key: string): string {
  const value = auth_config[key];
  if (value === undefined) throw wrong(`auth_config.${key} of ${name} is missing: the source's auth_type needs it.`);
  if (VALUE.test(value)) return value;
  throw wrong(
    `auth_config.${key} of ${name} cannot be sent in a header: it is empty, or has line breaks, other control characters, or spaces at either end.`,
  );
}

/** Open questions, by manager. */
const questionsByManager = new WeakMap<OAuthManager, Questions<string>>();

/**
 * Asks the call's user for consent, waits for the answer, and returns the token. If another call of the user is
 * already asking, waits up to ten minutes for its answer. Asks itself if that call gives up: if its signal is
 * aborted, or its `pause` throws something other than a ToolNodeError.
 *
 * @throws ToolAuthError if no caller can ask or there is no token afterwards; ToolTimeoutError if another call's
 *   question is not answered; what `pause` throws; the signal's reason.
 */
export async function askUser(manager: OAuthManager, provider: string, context: ToolContext): Promise<string> {
  const { pause, signal } = context;
  const key = tokenKey(ownerKey(tokenOwner(fullScope(context.scope))), provider);
  return getQuestions(manager).answer(key, {
    ...(pause !== undefined && { ask: () => askForConsent(manager, provider, pause, context) }),
    isAnswer: (error) => error instanceof ToolNodeError && signal?.aborted !== true,
    unable: () => cannotAsk(provider),
    late: () => toUnansweredError(provider),
    crowded: () => toCrowdedError(provider),
    signal,
  });
}

function getQuestions(manager: OAuthManager): Questions<string> {
  const questions = questionsByManager.get(manager) ?? new Questions<string>();
  questionsByManager.set(manager, questions);
  return questions;
}

async function askForConsent(
  manager: OAuthManager,
  provider: string,
  pause: NonNullable<ToolContext["pause"]>,
  { signal, scope: written }: ToolContext,
): Promise<string> {
  const scope = fullScope(written);
  const owner = tokenOwner(scope);
  const options = signal === undefined ? {} : { signal };
  // An earlier question may have been answered in the meantime.
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

function toUnansweredError(provider: string): ToolTimeoutError {
  const sentence = `The user did not answer the request for access to ${provider} within ${MAX_WAIT / 60_000} minutes`;
  return new ToolTimeoutError(`${sentence}: call again to ask once more.`, { neverSent: true });
}

function toCrowdedError(provider: string): ToolRateLimitError {
  const sentence = `Too many calls are waiting for the user to give access to ${provider}: call again when access is given.`;
  return new ToolRateLimitError(sentence, { category: "non_retryable", neverSent: true });
}

/** Milliseconds that an answer is waited for. After that, the question is asked again. */
const MAX_WAIT: number = 10 * 60 * 1000;

/** Maximum number of open questions. The oldest is forgotten, and may then be asked twice. */
const MAX_QUESTIONS = 10_000;

/** Maximum number of callers that wait for one answer. */
const MAX_WAITING = 10_000;

/** A caller that needs an answer. */
export interface Asker<T> {
  /** Asks, and returns the answer. Left out by callers that can only wait. */
  readonly ask?: () => Promise<T>;
  /** Whether an error of `ask` is the answer for all callers. If not, the next caller asks. */
  readonly isAnswer: (error: unknown) => boolean;
  /** The error if no caller can ask. */
  readonly unable: () => Error;
  /** The error if no answer comes in time. */
  readonly late: () => Error;
  /** The error if too many callers wait. */
  readonly crowded: () => Error;
  /** Stops waiting. */
  readonly signal: AbortSignal | undefined;
}

/** Questions by key. The first caller asks; the others wait for the answer. */
export class Questions<T> {
  /** Oldest first. */
  readonly #open = new Map<string, Question<T>>();
  readonly #mostKnown: number;
  readonly #mostWaiting: number;

  /**
   * @param mostKnown maximum number of open questions.
   * @param mostWaiting maximum number of waiting callers for each.
   */
  constructor(mostKnown = MAX_QUESTIONS, mostWaiting = MAX_WAITING) {
    this.#mostKnown = mostKnown;
    this.#mostWaiting = mostWaiting;
  }

  /** Number of open questions. */
  get size(): number {
    return this.#open.size;
  }

  /** Asks, or waits for the caller that asks. Throws what `ask` throws, an error of the asker, or its signal's reason. */
  async answer(key: string, asker: Asker<T>): Promise<T> {
    asker.signal?.throwIfAborted();
    const { ask } = asker;
    const known = this.#open.get(key);
    if (known?.isFresh === true) return known.waited(asker);
    if (ask === undefined) throw asker.unable();
    return this.#begin(key).asked(ask, asker);
  }

  #begin(key: string): Question<T> {
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

/** What a waiting caller gets: the answer, the turn to ask, or that no caller asks any more. */
type News<T> = PromiseSettledResult<T> | { readonly status: "yours" } | { readonly status: "unasked" };

interface Waiter<T> {
  readonly canAsk: boolean;
  readonly tell: (news: News<T>) => void;
}

/** One question, from the first caller to the answer. */
class Question<T> {
  /** In order of arrival. */
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
    // Only callers that can ask get the turn.
    if (news.status === "yours" && asker.ask !== undefined) return this.asked(asker.ask, asker);
    throw asker.unable();
  }

  async #news({ ask, late, signal }: Asker<T>): Promise<News<T>> {
    const { waiter, told } = newWaiter<T>(ask !== undefined);
    this.#line.add(waiter);
    try {
      return await untilLate(() => told, { most: MAX_WAIT, late, signal });
    } catch (error) {
      // If this caller got the turn at the same moment, it passes to the next.
      if (!this.#line.delete(waiter) && (await told).status === "yours") this.#handOn();
      throw error;
    }
  }

  #handOn(): void {
    const next = [...this.#line].find(({ canAsk }) => canAsk);
    if (next === undefined) return this.#end({ status: "unasked" });
    this.#line.delete(next);
    // Otherwise the question might count as expired before it is asked again.
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

function newWaiter<T>(canAsk: boolean): { readonly waiter: Waiter<T>; readonly told: Promise<News<T>> } {
  let tell: ((news: News<T>) => void) | undefined;
  const told = new Promise<News<T>>((resolve) => {
    tell = resolve;
  });
  return { waiter: { canAsk, tell: (news) => tell?.(news) }, told };
}

/** What the credentials of a program depend on. */
interface ProgramCredentials {
  /** The source's name, for errors. */
  readonly name: string;
  /** Defaults to `none`. */
  readonly auth_type?: AuthType;
  /** `env` names the variable. */
  readonly auth_config?: Readonly<Record<string, string>>;
}

/**
 * A program that gets credentials in the environment variable that `auth_config.env` names. It keeps them until it is
 * restarted.
 *
 * @param source creates the source of a program with this environment.
 * @throws ToolNodeError E_TOOL_CONFIG if credentials are needed and no variable is named.
 */
export function withCredentials(
  config: ResolvedToolConfig,
  source: (env: Readonly<Record<string, string>>) => ToolSource,
): ToolSource {
  const { env } = config;
  const credential = getCredential(config);
  if (credential === undefined) return source(env);
  return {
    open: async (options: OpenOptions): Promise<SourceConnection> =>
      source({ ...env, ...(await credential(options.authorize)) }).open(options),
  };
}

/**
 * Returns a function for the environment variable with the current credential. Undefined if no credentials are
 * needed.
 *
 * @throws ToolNodeError like {@link withCredentials}.
 */
export function getCredential({
  name,
  auth_type = "none",
  auth_config = {},
}: ProgramCredentials): ((authorize: Authorize) => Promise<Readonly<Record<string, string>>>) | undefined {
  if (auth_type === "none") return undefined;
  const variable = auth_config["env"] ?? "";
  if (!isVariableName(variable)) throw toUnnamedError(name, auth_type);
  return async (authorize) => {
    const [value = ""] = Object.values(await authorize());
    return { [variable]: auth_type === "api_key" ? value : value.replace(/^Bearer /, "") };
  };
}

function toUnnamedError(name: string, type: AuthType): ToolNodeError {
  return wrong(
    `The source ${name} is a program, which takes no headers: name the variable of its environment that the credential of auth_type ${type} goes to, as env in auth_config.`,
  );
}
