/** Two servers for PDFs behind the proxy: one whose bytes are for its app alone, one that sends pictures of pages. */
import { describe, expect, test } from "vitest";
import { alone, behindProxy, DRIVERS } from "./behind.js";
import { expectStored } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { pdfReader, pdfViewer } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
  test("bytes for an app pass as they are", async () => {
    await using server = await behindProxy(driver, pdfViewer(folder.path(), folder.path("report.pdf")));
    expect(server.tools.find(({ name }) => name === "read_pdf_bytes")).toMatchObject({
      _meta: { ui: { visibility: ["app"] } },
    });
    const listed = await server.call("list_pdfs");
    await expectStored(server, listed, []);
    const result = await server.call("read_pdf_bytes", { url: folder.path("report.pdf") });
    const { bytes } = result.structuredContent as { bytes: string };
    expect(Buffer.from(bytes, "base64").equals(FILES["report.pdf"])).toBe(true);
    expect(await server.stored()).toEqual([]);
  });

  test("a picture in a PDF is stored, its text is shown", async () => {
    const args = { sources: [{ path: folder.path("report.pdf"), pages: "1" }], include_images: true };
    await using direct = await alone(pdfReader(folder.path()));
    const pictures = (await direct.call("read_pdf", args)).content.filter(({ type }) => type === "image");
    expect(pictures).toHaveLength(1);
    await using server = await behindProxy(driver, pdfReader(folder.path()));
    const result = await server.call("read_pdf", args);
    const originals = pictures.map(({ data = "" }) => Buffer.from(data, "base64"));
    await expectStored(server, result, originals);
    expect(JSON.stringify(result.content)).toContain("Report, page 1");
  });
});
