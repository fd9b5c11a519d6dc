/** Where the site is built. */
export const SITE: string;
/** The playground's package, which is packed and published from there. */
export const PLAYGROUND: string;
/** Builds the site from `dist/`, which has to be there. */
export function buildSite(): Promise<void>;
/** Serves the built site on this machine alone, at that port or the next one that is free. */
export function serveSite(port?: number): Promise<{ readonly url: string; close(): Promise<void> }>;
