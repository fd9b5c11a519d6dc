import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChatEvent } from "../../../../web/playground/engine/chat/contract.js";
import { TextBuffer } from "../../../../web/playground/engine/chat/model.js";

const text = (step: number, piece: string): ChatEvent => ({ kind: "text", step, text: piece });

let told: ChatEvent[];
let pieces: TextBuffer;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  pieces = new TextBuffer((event) => told.push(event));
});
afterEach(() => void vi.useRealTimers());

test("a thousand words within a moment are told at once", () => {
  for (let word = 0; word < 1000; word += 1) pieces.tell(text(1, "a "));
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(told).toEqual([text(1, "a ".repeat(1000))]);
  pieces.tell(text(1, "b"));
  vi.advanceTimersByTime(1000);
  expect(told.at(-1)).toEqual(text(1, "b"));
});

test("what else happens is told behind the text before it, and steps stay apart", () => {
  pieces.tell(text(1, "a"));
  pieces.tell({ kind: "resumed" });
  pieces.tell(text(1, "b"));
  pieces.tell(text(2, "c"));
  pieces.flush();
  pieces.flush();
  expect(told).toEqual([text(1, "a"), { kind: "resumed" }, text(1, "b"), text(2, "c")]);
  vi.advanceTimersByTime(1000);
  expect(told).toHaveLength(4);
});
