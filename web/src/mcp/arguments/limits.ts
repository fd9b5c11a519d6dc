/**
 * How much may be put into arguments, and how long that may take.
 * @module
 */

/** References that are looked at in one call. */
export const MAX_REFERENCES: number = 256;

/** Calls that artifacts are put into at a time, at one desk: each holds them in memory. */
export const MAX_EXPANDED: number = 4;

/** How long, in milliseconds, a store may take for one artifact: less than clients wait for an answer (60 s). */
export const MAX_READ_TIME: number = 30_000;

/** The same for a copy of it, which may be of any size. */
export const MAX_COPY_TIME: number = 300_000;

/** Messages that wait for a store while those behind them go on. */
export const MAX_HELD: number = 64;

/** Bytes of such messages, beyond which no other is read. */
export const MAX_HELD_BYTES: number = 16 * 1024 * 1024;
