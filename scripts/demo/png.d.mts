/** A valid RGB picture. */
export function makePng(options?: { width?: number; height?: number; seed?: number }): Buffer;
