/** What tells which tests a page names, and whether they are there. */
import { expect, test } from "vitest";
import { missingIn, rowsOf } from "./rows.js";
import { titlesIn } from "./titles.js";

const PAGE = `
| a | b | shown by |
|---|---|---|
| 1 one | what | \`unit/docs/rows.test.ts\` rows are those of the tables that name tests<br>\`unit/docs/rows.test.ts\` there is none |
| 2 | what | no test |
| 3 | what | |

| other | table |
|---|---|
| not | this |
`;

test("rows are those of the tables that name tests", () => {
  const file = "unit/docs/rows.test.ts";
  expect(rowsOf(PAGE)).toEqual([
    {
      cells: ["1 one", "what"],
      tests: [
        { file, title: "rows are those of the tables that name tests" },
        { file, title: "there is none" },
      ],
    },
    { cells: ["2", "what"], tests: [{ file: "", title: "no test" }] },
    { cells: ["3", "what"], tests: [] },
  ]);
});

test("a test that is not there is missing, with its row", async () => {
  expect(await missingIn(rowsOf(PAGE))).toEqual(["1 one: unit/docs/rows.test.ts: there is none", "2: : no test"]);
});

test("titles are found in whatever way tests are written", () => {
  const source = `
    describe("group", () => {
      test("one", () => {});
      it.each([1])("two %d", () => test("inner", () => {}));
      test.skipIf(true).each\`a\`("three", () => {});
      other("none", () => {});
    });`;
  expect([...titlesIn("a.test.ts", source)].sort()).toEqual(["inner", "one", "three", "two %d"]);
  expect(titlesIn("a.cpp", "TEST(Suite, Name) {\n// TEST(No, Test)\n")).toEqual(["Suite.Name"]);
});

test("tests that never run are none", () => {
  const source = `
    test.skip("one", () => {});
    it.skip.each([1])("two %d", () => {});
    test.todo("three");
    describe.skip("group", () => test("four", () => {}));
    describe.concurrent("group", () => test("five", () => {}));`;
  expect(titlesIn("a.test.ts", source)).toEqual(["five"]);
  expect(titlesIn("a.cpp", "TEST(Suite, DISABLED_Name) {\nTEST(DISABLED_Suite, Name) {\n")).toEqual([]);
});
