/** Queries of several tables, and what is exact where all rows are kept. */
import { describe, expect, test } from "vitest";
import type { NamedTables, QueryTable } from "../../../web/src/query/types.js";
import { csvTable, jsonTable, tableOf } from "../../../web/src/query/table.js";
import { answerOf, failureOf, pieces, rowsOf } from "./tables.js";

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

const at = (key: string): Promise<QueryTable> => jsonTable(pieces(JSON.stringify(SHOP)), { pointer: `/${key}` });
const tables: NamedTables = {
  open: async (name) => (Object.hasOwn(SHOP, name) ? at(name) : undefined),
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
    ["SELECT c.address.city, o.id FROM customers c JOIN orders o ON c.id = o.by.id WHERE o.total < 2", [["Oslo", 3]]],
    ["SELECT c.id, o.id FROM customers c JOIN orders o ON c.id = o.customer WHERE o.id = 3", [["C2", 3]]],
    [
      "SELECT * FROM customers c JOIN orders o ON c.id = o.customer WHERE o.id = 3",
      [["C2", "Ben", { city: "Rome" }, 3, "C2", 1, { id: "C1" }]],
    ],
    ["SELECT id FROM customers EXCEPT SELECT customer FROM orders", [["C3"]]],
    ["SELECT COUNT(*) FROM rows r JOIN orders o ON o.customer = r.id", [[3]]],
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
  ])("%s", async (sql, wanted) => {
    expect(await rowsOf(sql, await at("customers"), { tables })).toEqual(wanted);
  });

  test.each([
    ["SELECT id FROM custmers", /no table "custmers".*mean "customers".*"rows", "customers", "orders"/],
    ["SELECT o.totl FROM customers c JOIN orders o ON o.customer = c.id", /no column "totl".*mean "total"/],
    ["SELECT totl FROM customers c JOIN orders o ON o.customer = c.id", /"totl"/],
  ])("%s", async (sql, sentence) => {
    expect(await failureOf(sql, await at("customers"), { tables })).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });

  test("the rows of all tables count together, and all tables are closed", async () => {
    const sql = "SELECT c.id FROM customers c JOIN orders o ON c.id = o.customer";
    const closed: string[] = [];
    const seen = async (key: string): Promise<QueryTable> => ({
      ...(await at(key)),
      close: async () => void closed.push(key),
    });
    const open = async (key: string): Promise<QueryTable> => seen(key);
    const failure = await failureOf(sql, await at("customers"), { tables: { ...tables, open }, maxKeptRows: 5 });
    expect(failure).toMatchObject({ code: "E_TOO_LARGE" });
    expect(closed.toSorted()).toEqual(["customers", "orders"]);
  });
});

describe("texts of a group", () => {
  const sql = "SELECT GROUP_CONCAT(customer), STRING_AGG(DISTINCT customer, '; '), GROUP_CONCAT(id, '/')";
  test.each(["FROM orders", "FROM orders WHERE id IN (SELECT id FROM orders)"])("%s", async (from) => {
    expect(await rowsOf(`${sql} ${from}`, await at("customers"), { tables })).toEqual([
      ["C1,C1,C2", "C1; C2", "1/2/3/4"],
    ]);
  });

  test("are bounded", async () => {
    const table = tableOf(
      ["t"],
      (async function* () {
        for (let count = 0; count < 30; count += 1) yield [["x".repeat(1_000_000)]];
      })(),
    );
    expect(await failureOf("SELECT GROUP_CONCAT(t) FROM rows", table)).toMatchObject({ code: "E_TOO_LARGE" });
  });
});

test.each([
  ["SELECT SUM(total) OVER (PARTITION BY customer) FROM orders", /ROW_NUMBER\(\) is the only window function/],
  ["SELECT RANK() OVER (ORDER BY total) FROM orders", /ROW_NUMBER\(\) is the only window function/],
  ["SELECT GROUP_CONCAT(id SEPARATOR ', ') FROM orders", /GROUP_CONCAT\(a, ', '\)/],
  ["SELECT COLLECT_LIST(id) FROM orders", /no function COLLECT_LIST\. The aggregates are COUNT, SUM/],
])("%s", async (sql, sentence) => {
  const failure = await failureOf(sql, await at("customers"), { tables });
  expect(failure).toMatchObject({ message: expect.stringMatching(sentence) as string });
});

test("long numbers stay exact where all rows are kept", async () => {
  const text = "id,x,d\n1,9007199254740993,10.1234567890123456789\n2,9007199254740995,9.1234567890123456789\n";
  const from = "FROM rows a JOIN rows b ON a.id = b.id";
  const ask = async (list: string, rest = ""): Promise<unknown[][]> =>
    rowsOf(`SELECT ${list} ${from} ${rest}`, await csvTable(pieces(text)));
  expect(await ask("a.x + 1, a.x * 2, a.x - 1, CAST(a.x AS BIGINT)", "WHERE a.id = 1")).toEqual([
    ["9007199254740994", "18014398509481986", "9007199254740992", "9007199254740993"],
  ]);
  expect(await ask("SUM(a.x), MAX(a.d), MIN(a.d)")).toEqual([
    ["18014398509481988", "10.1234567890123456789", "9.1234567890123456789"],
  ]);
  expect(await ask("a.id", "WHERE a.d > 9.5")).toEqual([[1]]);
  expect(await ask("a.id", "ORDER BY a.d")).toEqual([[2], [1]]);
});

test("a table of many columns is refused with a star, and answered by names", async () => {
  const columns = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
  const wide = (): QueryTable =>
    tableOf(
      columns,
      (async function* () {
        yield [columns.map((_, index) => index)];
      })(),
    );
  expect(await failureOf("SELECT * FROM rows", wide())).toMatchObject({ code: "E_TOO_LARGE" });
  expect(await failureOf("SELECT * FROM rows a JOIN rows b ON a.c1 = b.c1", wide())).toMatchObject({
    code: "E_TOO_LARGE",
  });
  expect(await rowsOf("SELECT c99999 FROM rows", wide())).toEqual([[99_999]]);
  expect(await rowsOf("SELECT a.c5 FROM rows a JOIN rows b ON a.c1 = b.c1", wide())).toEqual([[5]]);
});

test("others have their turn while one batch is answered", async () => {
  const rows = Array.from({ length: 400 }, () => ["a".repeat(3000)]);
  const table = tableOf(
    ["t"],
    (async function* () {
      yield rows;
    })(),
  );
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const { rows: found } = await answerOf(`SELECT COUNT(*) FROM rows WHERE t LIKE '%${"a_".repeat(50)}b%'`, table);
  clearInterval(timer);
  expect(found).toEqual([[0]]);
  expect(turns).toBeGreaterThan(2);
});
