import { inflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { salesChart } from "../../../../web/playground/demo/chart.js";

it.each(["bar", "line"] as const)("draws a %s chart without a canvas", async (kind) => {
  const png = Buffer.from(await salesChart(kind));

  expect(png.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const size = png.readUInt32BE(33);
  const lines = inflateSync(png.subarray(41, 41 + size));
  expect(lines).toHaveLength(height * (width * 3 + 1));
  expect(new Set(lines)).toEqual(new Set([0, 255, 47, 111, 178]));
});
