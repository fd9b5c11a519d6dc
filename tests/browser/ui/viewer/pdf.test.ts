/** `<sluice-viewer>`: PDF, page by page. */
import { expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { configurePdf } from "../../../../web/ui/viewer.js";
import { buttonOf, given, notice, part, pdf, saying, viewing } from "./fixtures.js";

function labels(viewer: SluiceViewer): readonly (string | null)[] {
  return [...viewer.renderRoot.querySelectorAll("canvas")].map((canvas) => canvas.ariaLabel);
}

async function showing(pages: number): Promise<{ viewer: SluiceViewer; number: HTMLInputElement }> {
  const viewer = await viewing(given(pdf(pages), "application/pdf", "report.pdf"));
  await part(viewer, "canvas");
  return { viewer, number: await part<HTMLInputElement>(viewer, "input") };
}

test("a page is drawn, with its text for screen readers", async () => {
  const { viewer } = await showing(3);
  const canvas = await part<HTMLCanvasElement>(viewer, "canvas");
  expect(canvas.ariaLabel).toBe("Page 1 of 3");
  expect(canvas.width).toBeGreaterThan(500);
  const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
  expect(pixels.some((value, at) => at % 4 === 0 && value < 64)).toBe(true);
  expect((await part(viewer, ".sheet .unseen")).textContent).toBe("Page 1");
});

test("of 300 pages few have a canvas, and each can be gone to", async () => {
  const { viewer, number } = await showing(300);
  await userEvent.fill(number, "250");
  await userEvent.keyboard("{Enter}");
  await vi.waitFor(() => expect(labels(viewer)).toContain("Page 250 of 300"), { timeout: 20_000 });
  expect(labels(viewer).length).toBeLessThanOrEqual(8);
  buttonOf(viewer, "Next").click();
  await vi.waitFor(() => expect(labels(viewer)).toContain("Page 251 of 300"), { timeout: 20_000 });
  expect(viewer.renderRoot.querySelectorAll("*").length).toBeLessThan(200);
});

test("arrows turn pages", async () => {
  const { viewer, number } = await showing(5);
  (await part(viewer, ".pdf")).focus();
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(number.value).toBe("2"));
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(number.value).toBe("3"));
  await userEvent.keyboard("{ArrowLeft}");
  await vi.waitFor(() => expect(number.value).toBe("2"));
});

test("pages can be shown at their own size", async () => {
  const { viewer } = await showing(2);
  buttonOf(viewer, "100 %").click();
  await vi.waitFor(async () => {
    const sheet = await part(viewer, ".sheet");
    expect(sheet.clientWidth).toBe(Math.ceil((595 * 96) / 72));
  });
});

test("nothing in a document is a link or a form", async () => {
  const { viewer } = await showing(1);
  expect(viewer.renderRoot.querySelectorAll(".host a, .host form, .host iframe, .host script")).toHaveLength(0);
});

test("a password is not asked for", async () => {
  const viewer = await viewing(given(pdf(1, { locked: true }), "application/pdf", "locked.pdf"));
  await saying(viewer, /protected by a password/);
  expect(viewer.renderRoot.querySelector(".notice button")).toBeNull();
});

test("what is no PDF says so and offers its source", async () => {
  const viewer = await viewing(given("no document", "application/pdf", "report.pdf"));
  await saying(viewer, /is not a PDF/);
  expect(notice(viewer)).toBe("It is not a PDF that can be read. Show source");
});

test("its worker ends with it", async () => {
  const { viewer } = await showing(1);
  const ended = vi.spyOn(Worker.prototype, "terminate");
  viewer.remove();
  await vi.waitFor(() => expect(ended).toHaveBeenCalled());
  ended.mockRestore();
});

test("says so where PDF.js is not to be had", async () => {
  configurePdf({ workerSrc: "/no/such/worker.mjs" });
  const viewer = await viewing(given(pdf(1), "application/pdf", "report.pdf"));
  await saying(viewer, /What shows PDF could not be loaded/);
  expect(notice(viewer)).toMatch(/Show source$/);
});
