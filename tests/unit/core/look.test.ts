/** A file is inspected while it streams: what its beginning tells, and what only the whole of it does. */
import { describe, expect, test } from "vitest";
import { GZIP, opened, PDF, PNG, prose } from "./samples.js";

const rows = (count: number): Uint8Array =>
  new TextEncoder().encode(`id,name\n${Array.from({ length: count }, (_, at) => `${at},row ${at}`).join("\n")}\n`);

/** What is said of a file that comes in pieces of so many bytes. */
async function said(bytes: Uint8Array, piece: number, claim = {}): Promise<string> {
  const { sluice } = await opened();
  using look = await sluice.look(claim);
  for (let at = 0; at < bytes.length; at += piece) look.push(bytes.subarray(at, at + piece));
  const { mime_type, extension, description } = await look.finish();
  return `${mime_type}, ${extension}: ${description}`;
}

describe("a file that streams", () => {
  test.each([
    ["a table", rows(5_000), {}, "text/csv, csv: CSV, 66.2 KB, 5,000 rows, 2 columns"],
    [
      "a short table that is said to be one",
      rows(2),
      { mime_type: "text/csv" },
      "text/csv, csv: CSV, 24 B, 2 rows, 2 columns",
    ],
    ["one that has the name of one", rows(2), { filename: "rows.csv" }, "text/csv, csv: CSV, 24 B, 2 rows, 2 columns"],
    ["a picture", PNG, {}, "image/png, png: PNG image"],
    ["a document", PDF, {}, "application/pdf, pdf: PDF"],
    ["a compressed file", GZIP, {}, "application/gzip, gz: "],
    ["text", new TextEncoder().encode(prose(20_000)), {}, "text/plain, txt: "],
    ["nothing", new Uint8Array(0), {}, "application/octet-stream, "],
  ])("is known for %s, whatever its pieces are", async (_, bytes, claim, expected) => {
    const whole = await said(bytes, Math.max(1, bytes.length), claim);
    expect(whole).toContain(expected);
    for (const piece of [7, 4096, 1_500_000]) expect(await said(bytes, piece, claim)).toBe(whole);
  });

  test("of more than a piece of the core is read to its end", async () => {
    expect(await said(rows(200_000), 10_000_000)).toContain("200,000 rows");
  });

  test("is not gone on with after the answer", async () => {
    const { sluice } = await opened();
    const look = await sluice.look();
    await look.finish();
    expect(() => look.push(PNG)).toThrow(expect.objectContaining({ code: "E_MISUSE" }));
    await expect(look.finish()).rejects.toThrow(expect.objectContaining({ code: "E_MISUSE" }));
    expect(() => look.push("text" as never)).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
  });
});
