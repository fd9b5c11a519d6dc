/**
 * The limits of one user, over all sessions and processes, and the error for one that is reached.
 * @module
 */
import { COUNT, checkOptions, type OptionTests } from "../../errors/arguments.js";
import type { ErrorCode } from "../../errors/error.js";
import { LimitReached } from "../http/refusals.js";

/**
 * Limits for one user: a tenant and a user id. They hold over all sessions, and over all processes that share the state.
 * What is left out has no limit.
 */
export interface UserLimits {
  /** Living sessions. */
  readonly sessions?: number;
  /** Bytes of artifacts, over all sessions. Users' files are counted apart. */
  readonly artifactBytes?: number;
  /** Bytes of the user's files, with all versions. */
  readonly fileBytes?: number;
  /** Files of the user. A version of a file is no further file. */
  readonly files?: number;
  /** Programs that were started for the user alone, and run. */
  readonly programs?: number;
  /** Chat runs under way, without those that wait for a person. */
  readonly runs?: number;
  /** Requests per minute. */
  readonly requestsPerMinute?: number;
  /** Requests in 24 hours. */
  readonly requestsPerDay?: number;
  /** Tokens that the model of the chat reads and writes in 24 hours. */
  readonly tokensPerDay?: number;
}

/** The name of a limit. */
export type UserLimitName = keyof UserLimits;

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What is known of a limit. */
interface LimitFacts {
  /** The key of `user_limits` in a configuration, and the name that clients are told. */
  readonly key: string;
  /** What it bounds, for the description of the key. */
  readonly effect: string;
  /** What it counts, as in "2 of 5 living sessions". */
  readonly what: string;
  /** What makes room, where time alone does not. */
  readonly remedy?: string;
  readonly code: ErrorCode;
  /** Seconds after which it resets, if it does. */
  readonly seconds?: number;
}

/** Every limit. */
export const USER_LIMITS: Readonly<Record<UserLimitName, LimitFacts>> = {
  sessions: {
    key: "sessions",
    effect: "Most living sessions of one user.",
    what: "living sessions",
    remedy: "end one with DELETE sessions/current, or wait until one expires",
    code: "E_RATE_LIMIT",
  },
  artifactBytes: {
    key: "artifact_bytes",
    effect: "Most bytes of artifacts of one user, over all sessions.",
    what: "bytes of artifacts",
    remedy: "store less, delete artifacts, or end sessions that are no longer needed",
    code: "E_STORE_FULL",
  },
  fileBytes: {
    key: "file_bytes",
    effect: "Most bytes of files of one user, with all versions.",
    what: "bytes of files",
    remedy: "store less, or delete files",
    code: "E_STORE_FULL",
  },
  files: {
    key: "files",
    effect: "Most files of one user. Versions are no further files.",
    what: "files",
    remedy: "delete files",
    code: "E_STORE_FULL",
  },
  programs: {
    key: "programs",
    effect: "Most running programs that were started for one user alone.",
    what: "running programs",
    remedy: "end your other sessions, or wait until one has been idle for a while",
    code: "E_RATE_LIMIT",
  },
  runs: {
    key: "runs",
    effect: "Most chat runs of one user at the same time, without those that wait for a person.",
    what: "chat runs at the same time",
    remedy: "wait until one ends, or give one up",
    code: "E_RATE_LIMIT",
  },
  requestsPerMinute: {
    key: "requests_per_minute",
    effect: "Most requests of one user in a minute.",
    what: "requests in a minute",
    code: "E_RATE_LIMIT",
    seconds: MINUTE,
  },
  requestsPerDay: {
    key: "requests_per_day",
    effect: "Most requests of one user in 24 hours.",
    what: "requests in 24 hours",
    code: "E_RATE_LIMIT",
    seconds: DAY,
  },
  tokensPerDay: {
    key: "tokens_per_day",
    effect: "Most tokens that the model of the chat reads and writes for one user in 24 hours.",
    what: "tokens of the model in 24 hours",
    code: "E_RATE_LIMIT",
    seconds: DAY,
  },
};

/** The names of all limits. */
export const USER_LIMIT_NAMES = Object.keys(USER_LIMITS) as readonly UserLimitName[];

const OPTIONS = Object.fromEntries(USER_LIMIT_NAMES.map((name) => [name, COUNT])) as OptionTests<UserLimits>;

/** Throws what `wrong` makes for a limit that is unknown, or no whole number above 0. */
export function checkUserLimits(limits: UserLimits, wrong: (sentence: string, path: string) => Error): void {
  checkOptions(limits, OPTIONS, "userLimits", wrong);
}

/** A limit that a user reached. The sentence names it, what is used of it, and what makes room or when it resets. */
export class UserLimitReached extends LimitReached {
  /** The limit. */
  readonly limit: UserLimitName;

  constructor(limit: UserLimitName, { used, most, resetsInMs }: LimitUse) {
    const { what, remedy, code, key, seconds: window } = USER_LIMITS[limit];
    const seconds = resetsInMs === undefined ? undefined : Math.max(1, Math.ceil(resetsInMs / 1000));
    const have = window === undefined ? "have" : "have used";
    const wait = seconds === undefined ? "" : `wait ${formatSeconds(seconds)} until they reset`;
    const sentence = `You ${have} ${used.toLocaleString("en")} of ${most.toLocaleString("en")} ${what}`;
    super(code, `${sentence}: ${remedy ?? wait}.`, { path: `user_limits.${key}` }, seconds);
    this.limit = limit;
  }
}

/** What is used of a limit. */
export interface LimitUse {
  readonly used: number;
  readonly most: number;
  /** Milliseconds until it resets, if it does. */
  readonly resetsInMs?: number;
}

const HOUR = 60 * MINUTE;

function formatSeconds(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  if (seconds < 2 * HOUR) return `${Math.ceil(seconds / MINUTE)} minutes`;
  return `${Math.ceil(seconds / HOUR)} hours`;
}
