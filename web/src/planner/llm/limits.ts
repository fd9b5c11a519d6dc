/**
 * How much a model may say in one turn: more is no turn but a server that has lost control.
 * @module
 */

/** Bytes of an answer as it comes, framing included. */
export const MAX_ANSWER_BYTES: number = 16 * 1024 * 1024;
/** Characters of an answer, where its bytes are not seen. */
export const MAX_ANSWER_CHARS: number = MAX_ANSWER_BYTES;
/** Calls; those beyond are left out, and counted. */
export const MAX_CALLS = 256;
