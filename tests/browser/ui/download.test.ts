/** Originals as files: where they are, what they are called, and what is read of them. */
import { expect, test, vi } from "vitest";
import { downloadAddress, fileNameOf, saveAsFile } from "../../../web/ui/download.js";
import type { ArtifactBytes } from "../../../web/ui/shown.js";

const MB = 1024 ** 2;
const REPORT = { id: "demo_6c0e06280000", filename: "report.pdf" };

test.each([
  ["/artifacts/1", "/artifacts/1?download"],
  ["/artifacts/1?key=2#page=3", "/artifacts/1?key=2&download"],
])("%s is downloaded from %s", (href, expected) => {
  expect(downloadAddress(href)).toBe(expected);
});

test.each([
  ["photo\u202egpj.exe", "photo_gpj.exe"],
  ["a\u0000b\nc", "a_b_c"],
  ["../../etc/passwd", "_.._etc_passwd"],
  ["C:\\a<b>|c?*.txt", "C__a_b__c__.txt"],
  ["invoice.pdf          .exe", "invoice.pdf .exe"],
  [" .. ", "demo_6c0e06280000"],
  ["", "demo_6c0e06280000"],
  [null, "demo_6c0e06280000"],
  [`${"x".repeat(500)}.tar.gz`, `${"x".repeat(117)}.gz`],
  ["x".repeat(50_000), "x".repeat(120)],
])("the name %j is saved as %j", (filename, expected) => {
  expect(fileNameOf({ ...REPORT, filename })).toBe(expected);
});

test("what has no name at all has one as a file", () => {
  expect(fileNameOf({ id: "...", filename: "..." })).toBe("download");
});

test("many pieces are one file, while the page has its turns", async () => {
  let sent = 0;
  // Each piece is there at once: nothing else would let the page answer.
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (sent === 40) return controller.close();
    controller.enqueue(new Uint8Array(MB).fill(sent));
    sent += 1;
  };
  const saved = nextFile();
  const bytes: ArtifactBytes = { open: () => Promise.resolve(new ReadableStream({ pull })) };
  expect(await saveAsFile(REPORT, bytes, new AbortController().signal)).toBe(true);
  const { name, blob } = await saved;
  expect([name, blob.type, blob.size]).toEqual(["report.pdf", "application/octet-stream", 40 * MB]);
  const read = new Uint8Array(await blob.arrayBuffer());
  expect(Array.from({ length: 40 }, (_, at) => read[at * MB])).toEqual(Array.from({ length: 40 }, (_, at) => at));
});

test("bytes that are gone are no file", async () => {
  expect(await saveAsFile(REPORT, { open: () => Promise.resolve(null) }, new AbortController().signal)).toBe(false);
});

test("nobody who gave up gets a file, and the source is told", async () => {
  const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
  const cancel = vi.fn<(reason: unknown) => void>();
  const ending = new AbortController();
  const open = (): Promise<ReadableStream<Uint8Array>> => {
    ending.abort(new Error("enough"));
    return Promise.resolve(new ReadableStream({ cancel }));
  };
  await expect(saveAsFile(REPORT, { open }, ending.signal)).rejects.toThrow("enough");
  expect(cancel).toHaveBeenCalledOnce();
  expect(click).not.toHaveBeenCalled();
  click.mockRestore();
});

/** The next file that the page hands to the browser, which is not asked to keep it. */
function nextFile(): Promise<{ name: string; blob: Blob }> {
  return new Promise((resolve, reject) => {
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      click.mockRestore();
      const { href, download: name } = this;
      fetch(href)
        .then(async (response) => resolve({ name, blob: await response.blob() }))
        .catch(reject);
    });
  });
}
