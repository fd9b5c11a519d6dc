/**
 * How much one answer may hold, and how much may be read for it.
 * @module
 */

/** Most characters of an answer, as code points of its JSON, unless the options say otherwise. */
export const MAX_CHARS: number = 10_000;

/** Characters of an answer that are kept for our own sentences; what is left is the artifact's. */
export const FRAME_CHARS: number = 1600;

/** Most bytes in a hex listing. */
export const MAX_HEX_BYTES: number = 4096;

/** Most characters shown of one line or row. */
export const MAX_RECORD_CHARS: number = 2000;

/** Most bytes read in one call for lines, rows and search. */
export const MAX_SCANNED: number = 1024 * 1024 * 1024;

/** Largest JSON text that a pointer is looked up in, in bytes. */
export const MAX_POINTER_BYTES: number = 64 * 1024 * 1024;

/** Artifacts up to this many bytes are read to their end, so that their lines and rows are counted. */
export const COUNTED_BYTES: number = 4 * 1024 * 1024;

/** Bytes looked at to tell what an artifact is made of. */
export const HEAD_BYTES: number = 8192;

/** Most characters and lines of a text that are shown with what is known of it. */
export const FIRST_CHARS: number = 1000;
/** See {@link FIRST_CHARS}. */
export const FIRST_LINES: number = 20;

/** Most places a search tells of. */
export const MAX_HITS: number = 50;
/** Most characters around a hit, itself included. */
export const HIT_CHARS: number = 200;
/** Most characters of what is searched for. */
export const MAX_NEEDLE: number = 200;

/** Most characters of a pointer. */
export const MAX_POINTER: number = 2000;
/** Most bytes that are kept of a JSON key, as it is written. */
export const MAX_KEY_BYTES: number = 8192;
/** Deepest nesting of JSON that is followed. */
export const MAX_DEPTH: number = 1000;
/** Most members that an outline names. */
export const MAX_MEMBERS: number = 200;

/** Most characters of a URI. */
export const MAX_URI: number = 4096;

/** Largest text that a resource is answered with whole, in bytes. */
export const MAX_RESOURCE_TEXT: number = 64 * 1024;
/** Largest image that a resource is answered with whole, in bytes. */
export const MAX_RESOURCE_IMAGE: number = 1024 * 1024;
/** Most bytes of one part of an artifact, read as a resource. */
export const MAX_RESOURCE_PART: number = 4 * 1024 * 1024;
/** Most characters that the JSON of such a part may have. */
export const MAX_RESOURCE_JSON: number = 6 * 1024 * 1024;
