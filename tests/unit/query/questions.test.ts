/** Thirty questions that people ask of tables: the same that `npm run bench:query` asks in other languages. */
import { describe, expect, test } from "vitest";
import { ORDERS, PEOPLE, QUESTIONS, REPOSITORIES } from "../../../scripts/bench/query/questions.mjs";
import type { QueryTable } from "../../../web/src/query/types.js";
import { csvTable, jsonTable, ndjsonTable } from "../../../web/src/query/table.js";
import { answerOf, pieces } from "./tables.js";

const TABLES = {
  orders: () => jsonTable(pieces(JSON.stringify(ORDERS))),
  repositories: () => jsonTable(pieces(JSON.stringify(REPOSITORIES))),
  people: () => csvTable(pieces(PEOPLE)),
} satisfies Record<string, () => Promise<QueryTable>>;

test.each(QUESTIONS)("$ask", async ({ of, sql, answer }) => {
  const { rows } = await answerOf(sql, await TABLES[of]());
  expect(rows).toEqual(answer);
});

describe("the same rows as NDJSON", () => {
  const lines = ORDERS.map((order) => JSON.stringify(order)).join("\r\n");

  test.each(QUESTIONS.filter(({ of }) => of === "orders"))("$ask", async ({ sql, answer }) => {
    const { rows } = await answerOf(sql, await ndjsonTable(pieces(lines, 7)));
    expect(rows).toEqual(answer);
  });
});

test("a note says where the rows of a document were found", async () => {
  const { notes } = await answerOf("SELECT name FROM rows", await TABLES.repositories());
  expect(notes).toEqual(["The rows are those of the array at /data/repositories."]);
});
