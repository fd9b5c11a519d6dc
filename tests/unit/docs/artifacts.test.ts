/** The dialogues of `docs/artifacts.md` are what the tools answer. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { answering, dialogues } from "./artifacts.js";

const page = await readFile(join(ROOT, "docs/artifacts.md"), "utf8");

test("the page has a dialogue for each kind", () => {
  const files = dialogues(page).map(({ file }) => file);
  expect(files).toEqual([
    "report.pdf",
    "contract.docx",
    "sales.xlsx",
    "orders.json",
    "shop.json",
    "bundle.zip",
    "page.html",
    "prices.csv",
    "page.html",
  ]);
});

describe.each(dialogues(page))("about $file", ({ file, turns }) => {
  test("each answer is the tool's", async () => {
    const { uri, answer } = await answering(file);
    for (const turn of turns) {
      expect(turn.call).toContain(uri);
      expect(await answer(turn.call)).toBe(turn.answer);
    }
  });
});
