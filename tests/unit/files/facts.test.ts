import { describe, expect, test } from "vitest";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { coreDescriber, UserStorage } from "../../../web/src/files/user-storage.js";
import { withFileContext } from "../../../web/src/files/context.js";
import { factsIn } from "../../../web/src/files/user-file.js";

test.each([
  ["CSV, 1.0 KB, 12,000 rows, 8 columns", "12,000 rows"],
  ["CSV, 2.1 GB, 5,000,000 rows, 3 columns", "5M rows"],
  ["CSV, 2.1 GB, 5,240,000 rows", "5.2M rows"],
  ["PNG image, 640 × 480, 1.0 MB", "640 × 480"],
  ["PDF, 2.1 MB, 14 pages", "14 pages"],
  ['PDF, 2.1 MB, untrusted file text: "9 pages"', null],
  ["JSON, 1.0 KB: array of 12,000 {id: integer, rows: array of 3 integer}", "12,000 items"],
  ["JSON, 1.0 KB: array of 1 integer", "1 item"],
  ["JSON, 1.0 KB: object {rows: array of 300 {a: integer}, total: integer}", null],
  ["NDJSON, 1.0 KB, 5,240,000 lines of {id: integer}", "5.2M lines"],
  ["plain text, 12 B", null],
  [undefined, null],
  [{}, null],
])("of %j it is told %j", (description, facts) => {
  expect(factsIn(description)).toBe(facts);
});

/** Pieces that lines do not end with. */
function streamed(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += 9973)));
    },
  });
}

describe("what is put tells of itself", () => {
  const files = new UserStorage(new MemoryArtifactStore(), { user_id: "ada" }, { describer: coreDescriber(undefined) });

  /** More than is looked at to know what kind of file it is. */
  const table = `id,name,note\n${Array.from({ length: 40_000 }, (_, row) => `${row},n${row},"a\nb"\n`).join("")}`;

  test.each([
    ["rows, of a table as a whole", "large.csv", table, "text/csv", "40,000 rows"],
    ["rows, of one that comes in pieces", "pieces.csv", streamed(table), "text/csv", "40,000 rows"],
    ["an image's width and height", "a.png", makePng({ width: 64, height: 48 }), "image/png", "64 × 48"],
    ["a document's pages", "a.pdf", makePdf({ pages: 3 }), "application/pdf", "3 pages"],
    ["rows, of a short table by its name", "short.csv", "id,name\n1,a\n", "text/csv", "1 row"],
    ["rows, of one that has a space behind each comma", "SPACED.CSV", "id, name\n1, a\n2, b\n\n", "text/csv", "2 rows"],
    ["rows, of two lines with tabs", "short.tsv", "a,b\tc\n1,5\t2\n", "text/tab-separated-values", "1 row"],
    ["rows, of numbers without a header", "one.csv", "1;2\n", "text/csv", "1 row"],
    [
      "nothing of a table, of prose that is called one",
      "prose.csv",
      "Dear all, good day.\nYours\n",
      "text/plain",
      null,
    ],
    ["nothing of a table, of a short one that nobody calls so", "short.txt", "id,name\n1,a\n", "text/plain", null],
    ["items, of a JSON array", "a.json", '[{"id":1},{"id":2}]', "application/json", "2 items"],
    ["nothing that is not known", "a.txt", "It happened on the way home.", "text/plain", null],
  ])("it tells %s", async (_, name, data, mime_type, facts) => {
    expect(await files.put(name, data)).toMatchObject({ name, mime_type, facts });
    expect(await files.find(name)).toMatchObject({ mime_type, facts });
  });

  test("rows, of a short table by the type that it is said to have", async () => {
    const said = { mime_type: "text/csv; charset=utf-8" };
    expect(await files.put("report", "id,name\n1,a\n", said)).toMatchObject({ facts: "1 row" });
    expect(withFileContext("Look", [await files.put("two.csv", "id,name\n1,a\n2,b\n")])).toContain(", 16B, 2 rows)");
  });
});
