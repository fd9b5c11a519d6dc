/**
 * How large users' files may be.
 * @module
 */

/** Bytes of what flags count in MB. */
export const MIB: number = 1024 * 1024;

/** Bytes of one file, where nobody says: as in the specification's own example (user storage §12.3). */
export const MAX_FILE_BYTES: number = 50 * 1024 * MIB;
