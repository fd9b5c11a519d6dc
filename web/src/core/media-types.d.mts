/**
 * MIME types that the core knows by name, written by the build from its table.
 */

/** Those in lower case that are more than one short word, other spellings among them. */
export const MEDIA_TYPES: readonly string[];
