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

/** Pages of a list that are followed. */
export const MAX_PAGES: number = 1000;

/** Entries of a list behind which no further page is asked for. */
export const MAX_LISTED: number = 10_000;

/** URIs that one connection subscribes to: each stands in every request for changes. */
export const MAX_SUBSCRIBED: number = 1000;

/** Bytes of a resource's texts that are held at once. */
export const MAX_HELD: number = 8 * 1024 * 1024;
