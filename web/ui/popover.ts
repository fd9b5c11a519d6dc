/**
 * Where popovers stand: in the top layer, which knows nothing of what opened them.
 * @module
 */

/** Pixels between a popover and what it belongs to, and between it and the edges of the window. */
const [GAP, EDGE] = [4, 6];

/**
 * Puts an open popover, which is `position: fixed`, below its anchor, or above it where there is more room; at its start, or in its
 * middle; never past the edges of the window.
 */
export function placeBeside(popover: HTMLElement, anchor: Element, align: "start" | "middle" = "start"): void {
  const at = anchor.getBoundingClientRect();
  const { offsetHeight: height, offsetWidth: width } = popover;
  const isBelow = at.bottom + GAP + height <= innerHeight || at.top < innerHeight - at.bottom;
  const left = align === "start" ? at.left : at.left + (at.width - width) / 2;
  popover.style.top = `${isBelow ? at.bottom + GAP : Math.max(EDGE, at.top - height - GAP)}px`;
  popover.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
}
