import { describe, expect, test } from "vitest";
import { nearest } from "../../../web/src/errors/arguments.js";

describe("nearest", () => {
  test.each([
    ["transfrom", "transform"],
    ["t", undefined],
    ["trans", "transform"],
    ["sniif", "sniff"],
    ["restroe", "restore"],
    ["completely", undefined],
  ])("%s means %s", (word, meant) => {
    expect(nearest(word, ["transform", "restore", "artifacts", "sniff"])).toBe(meant);
  });
});
