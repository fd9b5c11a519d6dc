/** What the demo stored, read as a model reads it: in the built site, in workers within workers, under its policy. */
import { describe, expect, test } from "vitest";
import { run, visitor, exactly } from "./visit.js";

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
