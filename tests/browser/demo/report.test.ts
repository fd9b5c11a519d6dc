import * as pdfjs from "pdfjs-dist";
// oxlint-disable-next-line import/default -- Vite gives the address of a file
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { expect, it, onTestFinished } from "vitest";
import { connected } from "./connected.js";

pdfjs.GlobalWorkerOptions.workerSrc = workerUrl;

it("is a PDF of three pages with a chart, a table and pictures", async () => {
  const { node, store } = await connected();
  const { artifacts } = await node.call("sales_report", { quarter: "Q2" });
  const data = await store.get(artifacts[0]?.id ?? "");

  const document = await pdfjs.getDocument({ data: data ?? new Uint8Array() }).promise;
  onTestFinished(() => document.destroy());

  expect(document.numPages).toBe(3);
  const texts = await Promise.all([1, 2, 3].map((page) => textOf(document, page)));
  expect(texts[0]).toContain("Sales report Q2 2025");
  expect(texts[0]).toContain("Revenue by region and month");
  expect(texts[1]).toContain("Products in Q2");
  expect(texts[1]).toMatch(/Total .*\$/);
  expect(texts[2]).toContain("Outlook");
  for (const page of [1, 2, 3]) {
    const { fnArray } = await (await document.getPage(page)).getOperatorList();
    expect(fnArray).toContain(pdfjs.OPS.paintImageXObject);
  }
});

async function textOf(document: pdfjs.PDFDocumentProxy, page: number): Promise<string> {
  const { items } = await (await document.getPage(page)).getTextContent();
  return items.map((item) => ("str" in item ? item.str : "")).join(" ");
}
