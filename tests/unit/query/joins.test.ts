/** Queries of several tables. */
import { describe, expect, test } from "vitest";
import type { NamedTables, QueryTable } from "../../../web/src/query/types.js";
import { cellTable, csvTable, failureOf, jsonTable, rowsOf } from "./tables.js";

const SHOP = {
  customers: [
    { id: "C1", name: "Ada", address: { city: "Oslo" } },
    { id: "C2", name: "Ben", address: { city: "Rome" } },
    { id: "C3", name: "Cy", address: { city: "Oslo" } },
  ],
  orders: [
    { id: 1, customer: "C1", total: 5, by: { id: "C2" } },
    { id: 2, customer: "C1", total: 7, by: { id: "C2" } },
    { id: 3, customer: "C2", total: 1, by: { id: "C1" } },
    { id: 4, customer: null, total: 9 },
  ],
};

const at = (key: string): QueryTable => jsonTable(JSON.stringify(SHOP), `/${key}`);
const tables: NamedTables = {
  open: async (name) => at(name),
  names: async () => Object.keys(SHOP),
};

describe("two tables in one query", () => {
  test.each<[string, unknown[][]]>([
    ["SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE customer IS NOT NULL)", [["C3"]]],
    ["SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders)", []],
    ["SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL", [["C3"]]],
    ["SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)", [["C3"]]],
    [
      "SELECT id FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE c.id = o.customer AND o.total > 5)",
      [["C1"]],
    ],
    [
      "SELECT Customers.name, SUM(total) AS t FROM customers JOIN orders o ON customers.id = O.customer GROUP BY name ORDER BY t",
      [
        ["Ben", 1],
        ["Ada", 12],
      ],
    ],
    [
      "SELECT c.address->>'city', o.id FROM customers c JOIN orders o ON c.id = o.by->>'id' WHERE o.total < 2",
      [["Oslo", 3]],
    ],
    ["SELECT c.id, o.id FROM customers c JOIN orders o ON c.id = o.customer WHERE o.id = 3", [["C2", 3]]],
    [
      "SELECT * FROM customers c JOIN orders o ON c.id = o.customer WHERE o.id = 3",
      [["C2", "Ben", '{"city":"Rome"}', 3, "C2", 1, '{"id":"C1"}']],
    ],
    ["SELECT id FROM customers EXCEPT SELECT customer FROM orders", [["C3"]]],
    ["SELECT COUNT(*) FROM rows r JOIN orders o ON o.customer = r.id", [[3]]],
    ["SELECT COUNT(*) FROM Customers", [[3]]],
    [
      "SELECT name, (SELECT SUM(total) FROM orders o WHERE o.customer = c.id) AS s FROM customers c ORDER BY s DESC LIMIT 1",
      [["Ada", 12]],
    ],
    [
      "WITH t AS (SELECT customer, MAX(total) AS m FROM orders GROUP BY customer) SELECT name, m FROM customers c JOIN t ON t.customer = c.id ORDER BY m",
      [
        ["Ben", 1],
        ["Ada", 7],
      ],
    ],
    ["SELECT id FROM orders WHERE total > (SELECT AVG(total) FROM orders) ORDER BY total DESC", [[4], [2]]],
    [
      "SELECT id, SUM(total) OVER (PARTITION BY customer ORDER BY id) FROM orders WHERE customer = 'C1'",
      [
        [1, 5],
        [2, 12],
      ],
    ],
  ])("%s", async (sql, wanted) => {
    expect(await rowsOf(sql, at("customers"), { tables })).toEqual(wanted);
  });

  test.each([
    ["SELECT id FROM custmers", /no table "custmers".*mean "customers".*"rows", "customers", "orders"/],
    ["SELECT o.totl FROM customers c JOIN orders o ON o.customer = c.id", /no column "totl".*mean "total"/],
    ["SELECT totl FROM customers c JOIN orders o ON o.customer = c.id", /"totl"/],
    ["SELECT c.address.city FROM customers c", /A member of JSON is written c\.address->>'\$\.city'/],
    ["SELECT id FROM orders, UNNEST(customer)", /json_each/],
  ])("%s", async (sql, sentence) => {
    expect(await failureOf(sql, at("customers"), { tables })).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });
});

describe("texts of a group", () => {
  const sql = "SELECT GROUP_CONCAT(customer), GROUP_CONCAT(DISTINCT customer), STRING_AGG(id, '/')";
  test.each(["FROM orders", "FROM orders WHERE id IN (SELECT id FROM orders)"])("%s", async (from) => {
    expect(await rowsOf(`${sql} ${from}`, at("customers"), { tables })).toEqual([["C1,C1,C2", "C1,C2", "1/2/3/4"]]);
  });

  test("are bounded", async () => {
    const table = cellTable(
      ["t"],
      Array.from({ length: 80 }, () => ["x".repeat(1_000_000)]),
    );
    expect(await failureOf("SELECT GROUP_CONCAT(t) FROM rows", table)).toMatchObject({ code: "E_TOO_LARGE" });
  });
});

test.each([
  ["SELECT GROUP_CONCAT(id SEPARATOR ', ') FROM orders", /group_concat\(a, ', '\)/],
  ["SELECT COLLECT_LIST(id) FROM orders", /json_group_array/],
  ["SELECT EXTRACT(YEAR FROM id) FROM orders", /strftime/],
  ["SELECT YEAR(id) FROM orders", /strftime/],
  ["SELECT id FROM orders WHERE customer ILIKE 'c%'", /LIKE ignores/],
  ["SELECT id::text FROM orders", /CAST/],
  ["SELECT LEFT(customer, 1) FROM orders", /substr|column/],
])("%s", async (sql, sentence) => {
  const failure = await failureOf(sql, at("customers"), { tables });
  expect(failure).toMatchObject({ message: expect.stringMatching(sentence) as string });
});

test("long numbers stay exact in joins", async () => {
  const text = "id,x\n1,9007199254740993\n2,9007199254740995\n";
  const sql =
    "SELECT a.x + 1, a.x * 2, a.x - 1, CAST(a.x AS BIGINT) FROM rows a JOIN rows b ON a.id = b.id WHERE a.id = 1";
  expect(await rowsOf(sql, csvTable(text))).toEqual([
    ["9007199254740994", "18014398509481986", "9007199254740992", "9007199254740993"],
  ]);
  const sum = "SELECT SUM(a.x) FROM rows a JOIN rows b ON a.id = b.id";
  expect(await rowsOf(sum, csvTable(text))).toEqual([["18014398509481988"]]);
});

test("a table of many columns is answered by names", async () => {
  const columns = Array.from({ length: 4000 }, (_, index) => `c${index}`);
  const wide = cellTable(columns, [columns.map((_, index) => index)]);
  expect(await rowsOf("SELECT c3999 FROM rows", wide)).toEqual([[3999]]);
  expect(await rowsOf("SELECT a.c5 FROM rows a JOIN rows b ON a.c1 = b.c1", wide)).toEqual([[5]]);
});
