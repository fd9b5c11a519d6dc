/**
 * Message sizes, in bytes.
 * @module
 */

/** The largest message that is forwarded. SDKs close a connection that delivers more than 10 MiB at once. */
export const MAX_MESSAGE: number = 8 * 1024 * 1024;

/** Bytes of a message that are buffered before a decision about it is needed. */
export const MAX_HEAD: number = 64 * 1024;
