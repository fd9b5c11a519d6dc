import { expect, test } from "vitest";
import { canvas, openIn } from "../../../../web/playground/app/display.js";
import type { Looked } from "../../../../web/playground/app/state.js";

const file = (id: string): { id: string; source: Record<string, unknown> } => ({ id, source: { user_file: {} } });
const ids = (looked: Looked): string[] => openIn(looked).map(({ artifact }) => artifact.id);
const first = canvas(undefined, file("1"), undefined);

test("a file is opened without the focus, and lies where it says", () => {
  expect(first).toMatchObject({ shelf: "files", isByTool: true, isWide: false });
  expect(canvas(undefined, { id: "2" }, "replace").shelf).toBe("session");
});

test("another one takes its place, or stands behind it, or beside the result", () => {
  expect(ids(canvas(first, file("2"), "replace"))).toEqual(["2"]);
  expect(ids(canvas(first, file("2"), undefined))).toEqual(["2"]);
  expect(ids(canvas(first, file("2"), "append"))).toEqual(["1", "2"]);
  expect(canvas(first, file("2"), "split")).toMatchObject({ isHalf: true });
});

test("four are open at most, and none twice", () => {
  let looked = first;
  for (const id of ["2", "3", "2", "4", "5"]) looked = canvas(looked, file(id), "append");
  expect(ids(looked)).toEqual(["3", "2", "4", "5"]);
});
