/** Questions of tables, answered by SQLite in a web worker. */
import { expect, test } from "vitest";
import { createSluice } from "mcp-sluice";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { query } from "../../web/src/query/query.js";
import { answerOf, bytesOf, csvTable, failureOf, jsonTable, rowsOf } from "../unit/query/tables.js";

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";

const CITIES = csvTable(`city,total\n${Array.from({ length: 20_000 }, (_, at) => `city ${at % 7},${at}\n`).join("")}`);

test("a table is asked, of bytes that come in pieces", async () => {
  const sql = "SELECT city, COUNT(*) AS n, MAX(total) FROM rows GROUP BY city ORDER BY city LIMIT 2";
  expect(await answerOf(sql, CITIES)).toMatchObject({
    columns: ["city", "n", "MAX(total)"],
    rows: [
      ["city 0", 2858, 19_999],
      ["city 1", 2857, 19_993],
    ],
  });
});

test("tables are joined, and members behind the first thousand rows are found", async () => {
  const items = Array.from({ length: 1500 }, (_, id) => ({ id, ...(id === 1400 && { late: "x" }) }));
  const text = JSON.stringify({ items, names: [{ id: 1400, name: "Ada" }] });
  const tables = { open: async (name: string) => jsonTable(text, `/${name}`), names: async () => ["items", "names"] };
  const sql = "SELECT name, late FROM items JOIN names n ON n.id = items.id WHERE late = 'x'";
  expect(await rowsOf(sql, jsonTable(text), { tables })).toEqual([["Ada", "x"]]);
});

test("time, an abort and what reading throws end it", async () => {
  expect(await failureOf(ENDLESS, CITIES, { timeoutMs: 200 })).toMatchObject({ code: "E_TOO_LARGE", path: "query" });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("no longer wanted")), 100);
  expect(await failureOf(ENDLESS, CITIES, { signal: controller.signal })).toEqual(new Error("no longer wanted"));
  const failure = new Error("the disk is gone");
  const bytes = {
    async *open(start: number) {
      yield* bytesOf("a,b\n").open(start);
      throw failure;
    },
  };
  await expect(query("SELECT 1 FROM rows", { ...CITIES, bytes })).rejects.toBe(failure);
});

test("what a store in IndexedDB has is asked by the tool that reads", async () => {
  const store = new IndexedDbArtifactStore({ name: `query-${crypto.randomUUID()}` });
  const sluice = await createSluice({ store });
  const text = `id,total\n${Array.from({ length: 100_000 }, (_, id) => `${id},${id % 10}\n`).join("")}`;
  const { id } = await store.putBytes(new TextEncoder().encode(text), { mime_type: "text/csv" });
  const [read] = sluice.tools({});
  const sql = "SELECT SUM(total) AS sum FROM rows WHERE id >= 50000";
  const result = await read?.call({ uri: `artifact://${id}`, query: sql });
  expect(result?.content[0].text).toMatch(/\nsum\n225000\n/);
});
