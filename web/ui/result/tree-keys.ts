/**
 * What keys do in a tree (the tree view pattern of the ARIA practices).
 * @module
 */
import type { Row } from "./tree-rows.js";

/** Where the focus goes, or what becomes of a row. */
export type Move = { readonly to: string } | { readonly row: Row; readonly open: boolean };

/** What a key does at a row; null when it does nothing. */
export function moveIn(rows: readonly Row[], current: string, key: string): Move | null {
  const index = rows.findIndex(({ path }) => path === current);
  const row = index < 0 ? undefined : rows.at(index);
  if (row === undefined) return null;
  const to = (place: number): Move => ({ to: rows[Math.max(0, Math.min(place, rows.length - 1))]?.path ?? current });
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
      if (row.open === true) return to(index + 1);
      return row.open === false ? { row, open: true } : null;
    case "ArrowLeft":
      return row.open === true ? { row, open: false } : to(parentOf(rows, index));
    case "Enter":
    case " ":
      return row.left > 0 || row.open !== null ? { row, open: row.open !== true } : null;
    default:
      return null;
  }
}

function parentOf(rows: readonly Row[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let at = index - 1; at >= 0; at -= 1) {
    if ((rows[at]?.level ?? 1) < level) return at;
  }
  return index;
}
