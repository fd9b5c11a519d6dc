/**
 * Extensions of files, written by the build from the core's table of MIME types.
 */

/** The usual extension by type, in lower case without a dot: `{"application/pdf": "pdf"}`. */
export const EXTENSIONS: Readonly<Record<string, string>>;
