/**
 * How much is taken of what a source says of its resources, and for how long.
 * @module
 */

/** Most UTF-16 units of a URI, and of a template. */
export const MAX_URI: number = 4096;

/** Most resources, or templates, that are taken of a source's list. */
export const MAX_LISTED: number = 10_000;
/** Most UTF-16 units of all of them together. */
export const MAX_LISTED_CHARS: number = 2_000_000;
/** Most characters of a resource's name, and of its title. */
export const MAX_NAME: number = 200;
/** Most characters of a resource's description. */
export const MAX_DESCRIPTION: number = 500;

/** Most entries of one page for a planner. */
export const MAX_PAGE_ENTRIES: number = 100;
/** Most characters of one page for a planner, as JSON. */
export const MAX_PAGE_CHARS: number = 20_000;

/** Most results, or lists, that are kept. */
export const MAX_KEPT: number = 512;
/** Most UTF-16 units of one result that is kept. */
export const MAX_KEPT_CHARS: number = 262_144;
/** Most UTF-16 units of all that is kept. */
export const MAX_ALL_KEPT_CHARS: number = 4_194_304;
/** Most artifacts of one result that is kept: each is looked for before the result is given again. */
export const MAX_KEPT_ARTIFACTS: number = 64;
/** Most URIs that one result which is kept may consist of. */
export const MAX_KEPT_CONTENTS: number = 256;

/** Most short texts of one result that are stored; the rest is only shown. */
export const MAX_STORED_TEXTS: number = 256;
/** Most artifacts of one result that a host is told of. */
export const MAX_TOLD: number = 1000;

/** How long, in milliseconds, a result is kept for which the source names no time. */
export const UNTOLD_TTL: number = 300_000;
/** How long, in milliseconds, a result is kept at most. */
export const MAX_TTL: number = 86_400_000;
/** How long, in milliseconds, a list is kept, unless the source says that it changed. */
export const LIST_TTL: number = 60_000;

/** Most UTF-16 units of a URI whose changes are told. */
export const MAX_WATCHED_URI: number = 2048;
/** Most URIs whose changes one session asks for. */
export const MAX_SUBSCRIPTIONS: number = 1000;
/** Sessions that are told apart; the one unused for longest is forgotten. */
export const MAX_OWNERS: number = 1000;
/** How long, in milliseconds, asking for changes again may take on a new connection. */
export const RENEWAL_TIME: number = 60_000;

/** Most expressions of a template. */
export const MAX_EXPRESSIONS: number = 64;
/** Most values of one argument of a template that is a list or an object. */
export const MAX_VALUES: number = 100;
/** Most values that are taken of a completion (MCP "Completion"). */
export const MAX_COMPLETIONS: number = 100;
