/** The module that reads contracts, fetched from beside its source. */
import { expect, test } from "vitest";
import { readContract } from "../../../web/src/core/contract-reader.js";

test("contracts are read in a browser", async () => {
  const answer = { results: { n: 1 }, artifacts: [{ name: "a.txt", b64: "QQ", mime: "text/plain" }] };
  expect(await readContract(JSON.stringify({ content: [], structuredContent: answer }))).toMatchObject({
    contract: { results: { n: 1 }, artifacts: [{ name: "a.txt", b64: "QQ==", auto_open: false }] },
  });
  expect(await readContract('{"content":[]}')).toEqual({ kind: "other" });
});
