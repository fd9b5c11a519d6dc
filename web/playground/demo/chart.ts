/**
 * A chart of a year's sales as a PNG.
 * @module
 */
import { MONTHS, REGIONS, revenue, YEAR } from "./sales.js";

/** How amounts are drawn. */
export type ChartKind = "bar" | "line";

const WIDTH = 960;
const HEIGHT = 540;
/** The plot area. */
const PLOT = { left: 92, right: 928, top: 96, base: 476 } as const;
const STEP = 500_000;
const INK = "#1b2b44";
const FAINT = "#5b6675";
const BLUE = "#2f6fb2";

/** Revenue by month, with labels where a canvas can write them. */
export async function salesChart(kind: ChartKind): Promise<Uint8Array<ArrayBuffer>> {
  const amounts = MONTHS.map((_, month) => REGIONS.reduce((sum, __, region) => sum + revenue(region, month), 0));
  const top = Math.ceil(Math.max(...amounts) / STEP) * STEP;
  const context = typeof OffscreenCanvas === "undefined" ? null : new OffscreenCanvas(WIDTH, HEIGHT).getContext("2d");
  if (context === null) return plain(kind, amounts, top);
  frame(context, top);
  (kind === "bar" ? bars : line)(context, amounts, top);
  const blob = await context.canvas.convertToBlob({ type: "image/png" });
  return new Uint8Array(await blob.arrayBuffer());
}

/** Title, axis and months. */
function frame(context: OffscreenCanvasRenderingContext2D, top: number): void {
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = INK;
  context.font = "600 28px system-ui, sans-serif";
  context.fillText(`Revenue ${YEAR}`, 32, 50);
  context.font = "16px system-ui, sans-serif";
  context.fillStyle = FAINT;
  context.fillText("All regions, millions of dollars", 32, 76);
  context.textAlign = "right";
  for (let mark = 0; mark <= top; mark += STEP) {
    const y = toHeight(mark, top);
    context.fillText((mark / 1_000_000).toFixed(1), PLOT.left - 14, y + 6);
    context.fillRect(PLOT.left, y, PLOT.right - PLOT.left, mark === 0 ? 2 : 0.5);
  }
  context.textAlign = "center";
  for (const [month, name] of MONTHS.entries()) context.fillText(name, middle(month), PLOT.base + 28);
}

function bars(context: OffscreenCanvasRenderingContext2D, amounts: readonly number[], top: number): void {
  for (const [month, amount] of amounts.entries()) {
    const y = toHeight(amount, top);
    context.fillStyle = BLUE;
    context.fillRect(middle(month) - 23, y, 46, PLOT.base - y);
    context.fillStyle = INK;
    context.fillText((amount / 1_000_000).toFixed(2), middle(month), y - 8);
  }
}

function line(context: OffscreenCanvasRenderingContext2D, amounts: readonly number[], top: number): void {
  context.strokeStyle = BLUE;
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.beginPath();
  for (const [month, amount] of amounts.entries()) context.lineTo(middle(month), toHeight(amount, top));
  context.stroke();
  for (const [month, amount] of amounts.entries()) {
    context.fillStyle = BLUE;
    context.beginPath();
    context.arc(middle(month), toHeight(amount, top), 7, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = INK;
    context.fillText((amount / 1_000_000).toFixed(2), middle(month), toHeight(amount, top) - 16);
  }
}

/** Rectangles alone: bars, or a dot for each month. */
async function plain(kind: ChartKind, amounts: readonly number[], top: number): Promise<Uint8Array<ArrayBuffer>> {
  const rgb = new Uint8Array(WIDTH * HEIGHT * 3).fill(255);
  const box = (left: number, y: number, width: number, height: number): void => {
    for (let row = y; row < y + height; row += 1) {
      for (let x = left; x < left + width; x += 1) rgb.set([47, 111, 178], (row * WIDTH + x) * 3);
    }
  };
  box(PLOT.left, PLOT.base, PLOT.right - PLOT.left, 2);
  for (const [month, amount] of amounts.entries()) {
    const y = Math.round(toHeight(amount, top));
    const left = Math.round(middle(month));
    if (kind === "bar") box(left - 23, y, 46, PLOT.base - y);
    else box(left - 6, y - 6, 12, 12);
  }
  const { png } = await import("./picture.js");
  return png({ width: WIDTH, height: HEIGHT, rgb });
}

function middle(month: number): number {
  return PLOT.left + ((month + 0.5) * (PLOT.right - PLOT.left)) / MONTHS.length;
}

function toHeight(amount: number, top: number): number {
  return PLOT.base - (amount / top) * (PLOT.base - PLOT.top);
}
