/**
 * Sizes of messages, in bytes.
 * @module
 */

/**
 * The largest message that is sent on (design §6): SDKs drop a connection over which more than 10 MiB come at once.
 */
export const MAX_MESSAGE: number = 8 * 1024 * 1024;

/** What is held of a message before anything has to be decided about it. */
export const MAX_HEAD: number = 64 * 1024;
