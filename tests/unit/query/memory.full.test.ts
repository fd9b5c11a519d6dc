/** A million rows of CSV in constant memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { QueryTable } from "../../../web/src/query/types.js";
import { amount } from "../../support/full.js";
import { rowsOf } from "./tables.js";

const ROWS = amount(200_000, 1_000_000);

/** MiB that a query may take, whatever the number of rows: the million has 80. */
const MOST = 60;

const PADDING = "some more text, so that a row is as long as real ones";

/** Rows that are made together, and have bytes of the same length. */
const TOGETHER = 1000;

function makePart(from: number): Uint8Array {
  let text = from === 0 ? "id,city,status,total,remark\n" : "";
  for (let id = from; id < from + TOGETHER; id += 1) {
    text += `${id},the city of ${id % 50},${id % 4 === 0 ? "open" : "paid"},${(id % 400) / 4},"${PADDING}"\n`;
  }
  return new TextEncoder().encode(text);
}

const table: QueryTable = {
  form: { kind: "csv", start: 0, delimiter: ",", newline: "\n" },
  bytes: {
    async *open(start) {
      let at = 0;
      for (let from = 0; from < ROWS; from += TOGETHER) {
        const part = makePart(from);
        if (at + part.length > start) yield part.subarray(Math.max(0, start - at));
        at += part.length;
      }
    },
  },
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The most memory that work holds on to, in MiB beyond what is in use before: garbage is collected first, whenever it is looked at. */
async function growth(work: () => Promise<void>): Promise<number> {
  collect();
  const before = process.memoryUsage();
  let peak = 0;
  const look = (): void => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    peak = Math.max(peak, heapUsed + external - before.heapUsed - before.external);
  };
  const timer = setInterval(look, 100);
  await work();
  clearInterval(timer);
  return peak / 2 ** 20;
}

test.each([
  ["SELECT city, COUNT(*), SUM(total) FROM rows WHERE status = 'paid' GROUP BY city ORDER BY city", 50],
  ["SELECT * FROM rows ORDER BY total DESC, id LIMIT 10", 10],
  ["SELECT DISTINCT city FROM rows", 50],
  ["SELECT id, remark FROM rows WHERE city LIKE '%of 7' AND id % 1000 = 7", ROWS / 1000],
  ["SELECT COUNT(*), COUNT(DISTINCT city), MAX(remark) FROM rows WHERE remark IS NOT NULL", 1],
])(
  "%s",
  async (sql, count) => {
    const seen = await growth(async () => {
      expect(await rowsOf(sql, table, { timeoutMs: 120_000 })).toHaveLength(count);
    });
    expect(seen).toBeLessThan(MOST);
  },
  180_000,
);
