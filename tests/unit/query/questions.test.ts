/** Thirty questions that people ask of tables: the same that `npm run bench:query` asks in other languages. */
import { describe, expect, test } from "vitest";
import { ORDERS, PEOPLE, QUESTIONS, REPOSITORIES } from "../../../scripts/bench/query/questions.mjs";
import { answerOf, csvTable, jsonTable, ndjsonTable } from "./tables.js";

const TABLES = {
  orders: jsonTable(JSON.stringify(ORDERS)),
  repositories: jsonTable(JSON.stringify(REPOSITORIES)),
  people: csvTable(PEOPLE),
};

test.each(QUESTIONS)("$ask", async ({ of, sql, answer }) => {
  const { rows } = await answerOf(sql, TABLES[of]);
  expect(rows).toEqual(answer);
});

describe("the same rows as NDJSON", () => {
  const lines = ORDERS.map((order) => JSON.stringify(order)).join("\r\n");

  test.each(QUESTIONS.filter(({ of }) => of === "orders"))("$ask", async ({ sql, answer }) => {
    const { rows } = await answerOf(sql, ndjsonTable(lines, 7));
    expect(rows).toEqual(answer);
  });
});
