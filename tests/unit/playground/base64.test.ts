import { expect, it } from "vitest";
import { base64, base64Text } from "../../../web/playground/base64.js";
import { fillNoise } from "../../../web/playground/demo/random.js";

it.each([0, 1, 2, 3, 24_575, 24_576, 24_577, 100_000])("writes %d bytes", (count) => {
  const words = new Uint32Array(Math.ceil(count / 4));
  fillNoise(words, 7);
  const bytes = new Uint8Array(words.buffer, 0, count);

  expect(base64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
});

it("writes text as UTF-8", () => {
  expect(base64Text("Größe")).toBe(Buffer.from("Größe").toString("base64"));
});
