/** The facts of files in a page: their module is fetched from beside the library, with the first file that has any. */
import { expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";

const isFetched = (): boolean => performance.getEntriesByType("resource").some(({ name }) => /facts\.wasm/.test(name));

const PDF = "%PDF-1.4\n1 0 obj\n<</Type/Pages/Count 14>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n";

test("a page fetches the module of facts when a file has some, and not before", async () => {
  const sluice = await createSluice({ store: "memory" });
  const encoder = new TextEncoder();
  expect((await sluice.sniff(encoder.encode("only a text\n"))).extension).toBe("txt");
  expect(isFetched()).toBe(false);
  expect((await sluice.sniff(encoder.encode(PDF))).description).toContain("14 pages");
  expect(isFetched()).toBe(true);
});
