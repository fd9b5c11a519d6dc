/** What the demo stored, read as a model reads it: in the built site, in workers within workers, under its policy. */
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { paragraph, presentation, shape, word } from "../support/documents.js";
import { documents } from "../support/office.js";
import { severalImages } from "./places.js";
import { act, exactly, pick, run, SITE_URL, visitor } from "./visit.js";

describe("a model reads in the page", () => {
  const seen = visitor();

  const observed = async (): Promise<string> => (await exactly(seen.page.locator("main playground-call"))) ?? "";

  /** The answer of `artifact_read` to what a tool stored. */
  async function read(tool: string, args: Readonly<Record<string, string>>): Promise<string> {
    await run(seen.page, tool);
    const [uri = ""] = /demo_[0-9a-f]{12}/.exec(await observed()) ?? [];
    await run(seen.page, "artifact_read", { uri, ...args });
    return observed();
  }

  test("a PDF by its pages", async () => {
    expect(await read("sales_report", { pages: "1" })).toContain("Sales report");
  });

  test("the sum of a column", async () => {
    const query = "SELECT COUNT(*) AS orders FROM rows";
    expect(await read("export_csv", { query })).toMatch(/orders\\n\d+\\n/);
  });

  test("a page of HTML as text, with nothing to complain about", async () => {
    expect(await read("web_page", { as: "text", lines: "1-3" })).toContain("lines 1");
    expect(seen.complaints).toEqual([]);
  });
});

/** Files that were dropped, as a person sees them. */
describe("a file is previewed as what it is", () => {
  const seen = visitor();

  async function preview(name: string, bytes: Uint8Array): Promise<Locator> {
    await pick(seen.page, name, bytes);
    await act(seen.page.locator("playground-try sluice-artifact").first(), "Preview");
    return seen.page.locator("playground-drawer sluice-viewer");
  }

  test("a sound plays beside its numbers, and a page of HTML is a page there, its source one tab away", async () => {
    const { page } = seen;
    await page.goto(`${SITE_URL}#/try/run/demo.jingle`);
    const seat = page.locator("playground-try sluice-viewer");
    const player = seat.locator("audio");
    await expect.poll(() => player.evaluate((audio: HTMLAudioElement) => audio.duration)).toBeGreaterThan(3);

    await page.goto(`${SITE_URL}#/try/run/demo.web_page`);
    await seat.frameLocator("iframe").getByRole("heading", { name: "Sales 2025" }).waitFor();
    await seat.getByRole("tab", { name: "Source" }).click();
    await seat.getByText("<title>Sales 2025</title>").waitFor();
    expect(seen.complaints).toEqual([]);
  });

  test("a Word document is a page of text", async () => {
    const body = paragraph("Lease", "Heading1") + paragraph("The rent is 900 a month.");
    const viewer = await preview("lease.docx", await word(body));
    await viewer.getByRole("heading", { name: "Lease", exact: true }).waitFor();
    await viewer.getByText("The rent is 900 a month.").waitFor();
  });

  test("a workbook is a table for each sheet", async () => {
    const viewer = await preview("sales.xlsx", (await documents())["sales.xlsx"] ?? new Uint8Array());
    await viewer.getByRole("table").getByText("12").waitFor();
    await viewer.getByRole("button", { name: "Q2" }).click();
    await viewer.getByRole("table").getByText("Oslo").waitFor();
  });

  test("a presentation is its slides", async () => {
    const slides = [shape("title", "Where we are"), shape("title", "Where we go")];
    const viewer = await preview("plan.pptx", await presentation(slides.map((slide) => [slide])));
    await viewer.getByRole("heading", { name: "Slide 2 of 2" }).waitFor();
    await viewer.getByText("Where we go").waitFor();
  });

  test("several images are a sheet of them by their numbers, each of which opens", async () => {
    const { page } = seen;
    await pick(page, "images.json", await severalImages(12), "application/json");
    const sheet = page.locator("playground-contact-sheet");
    await sheet.getByText(/^12 images, [\d.]+ KB$/).waitFor();
    await sheet.getByRole("button", { name: "Preview image 7" }).click();
    await page.locator("playground-drawer sluice-viewer img").waitFor();
    await page.getByRole("button", { name: "Close the preview" }).click();
  });

  test("a table in Windows-1252 has its letters", async () => {
    const rows = "Stadt;Stra\u00dfe\nK\u00f6ln;H\u00fchnerweg\n".repeat(2000);
    const viewer = await preview("staedte.csv", Buffer.from(rows, "latin1"));
    await viewer.getByRole("table").getByText("H\u00fchnerweg").first().waitFor();
    expect(seen.complaints).toEqual([]);
  });
});
