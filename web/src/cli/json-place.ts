/**
 * Where a text stops being JSON.
 * @module
 */

/** ` from line 2, column 7 on`, where the parser tells; its own sentence would quote what may be a secret. */
export function placeOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec((error as Error).message)?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` from line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} on`;
}
