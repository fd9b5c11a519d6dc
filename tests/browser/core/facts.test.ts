/** The facts of files in a page: each module is fetched from beside the library, with the first file that it knows. */
import { expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";

const isFetched = (module: string): boolean =>
  performance.getEntriesByType("resource").some(({ name }) => new URL(name).pathname.endsWith(`/${module}.wasm`));

const PDF = "%PDF-1.4\n1 0 obj\n<</Type/Pages/Count 14>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n";

/** Nothing, compressed by gzip (RFC 1952) from a file with a name. */
const HEAD = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
const GZIP = Uint8Array.of(...HEAD, ...new TextEncoder().encode("report.csv"), 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);

test("a page fetches the module of PDFs with the first PDF, that of all other files with another, and neither before", async () => {
  const sluice = await createSluice({ store: "memory" });
  const encoder = new TextEncoder();
  expect((await sluice.sniff(encoder.encode("only a text\n"))).extension).toBe("txt");
  expect([isFetched("pdf"), isFetched("facts")]).toEqual([false, false]);
  expect((await sluice.sniff(encoder.encode(PDF))).description).toContain("14 pages");
  expect([isFetched("pdf"), isFetched("facts")]).toEqual([true, false]);
  expect((await sluice.sniff(GZIP)).description).toContain("report.csv");
  expect(isFetched("facts")).toBe(true);
});
