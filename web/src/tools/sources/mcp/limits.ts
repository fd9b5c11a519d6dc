/**
 * How long is waited, and how much is taken of what a server says.
 * @module
 */

/** Milliseconds, longer than anybody waits: time limits are the caller's, and timers can hold no more. */
export const NO_LIMIT: number = 0x7fff_ffff;

/** How long, in milliseconds, a server may take to end its session, or to say that it will tell of changes. */
export const GRACE: number = 2000;

/**
 * How long, in milliseconds, a process may be silent when it is asked for the later era; then it is taken for one that
 * knows the earlier alone. One that only takes long to start answers both.
 */
export const PROBE_TIMEOUT: number = 5000;

/** Milliseconds between two looks at a task: the least and the most, whatever the server wants, and what it is left out. */
export const POLL: { readonly least: number; readonly most: number; readonly usual: number } = {
  least: 100,
  most: 30_000,
  usual: 1000,
};

/** Looks at a task that may fail one after the other, where trying again may help. */
export const MAX_FAILED_POLLS: number = 3;

/** How long, in milliseconds, a task is waited for between looks, and a server is asked to keep it. */
export const TASK_TTL: number = 3_600_000;

/** Times that a call may be answered with questions, as in the SDKs. */
export const MAX_ROUNDS: number = 10;

/** Milliseconds before a call is sent again that was answered without a question, as in the SDKs. */
export const ROUND_PAUSE: number = 250;

/** Questions that one call may ask, all in all. */
export const MAX_ASKED: number = 20;

/** Pages of a list that are followed. */
export const MAX_PAGES: number = 1000;

/** Entries of a list behind which no further page is asked for. */
export const MAX_LISTED: number = 10_000;

/** URIs that one connection subscribes to: each stands in every request for changes. */
export const MAX_SUBSCRIBED: number = 1000;

/** Bytes of a resource's texts that are held at once. */
export const MAX_HELD: number = 8 * 1024 * 1024;
