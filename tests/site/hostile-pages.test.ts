/** Pages that tools have the viewer open, and that mean no good: with a service worker, at an address; without, in the page. */
import { beforeAll, describe, expect, test } from "vitest";
import { serveFiles } from "./file-server.js";
import { connect, controlled, during, go, PATIENCE, run, visitor } from "./visit.js";

describe.each(["allow", "block"] as const)("a page that opens by itself, service workers: %s", (serviceWorkers) => {
  const server = during(serveFiles);
  const seen = visitor({ serviceWorkers });
  const pages: string[] = [];

  beforeAll(async () => {
    const { page, context } = seen;
    if (serviceWorkers === "allow") await controlled(page);
    context.on("page", (opened) => pages.push(opened.url()));
    await connect(page, server().url, true);
    await run(page, "hostile");
    await page.locator("playground-drawer iframe").waitFor();
  });

  test("runs no script, sends no form, goes nowhere, and asks for nothing", async () => {
    const { page } = seen;
    const frame = page.locator("playground-drawer iframe");
    // The driver's own scripts within the frame would be complained of.
    const textOf = (selector: string): Promise<string> =>
      frame.evaluate(
        (shown: HTMLIFrameElement, wanted) => shown.contentDocument?.querySelector(wanted)?.textContent ?? "",
        selector,
      );
    await expect.poll(() => textOf("h1"), { timeout: PATIENCE }).toBe("A report");
    const before = page.url();
    await frame.evaluate((shown: HTMLIFrameElement) => {
      for (const each of shown.contentDocument?.querySelectorAll<HTMLElement>("button, a") ?? []) each.click();
    });
    expect(await textOf("#said")).toBe("No script ran");
    expect(page.url()).toBe(before);
    expect(await page.title()).not.toBe("taken");
    expect(await page.evaluate(() => localStorage.getItem("sluice.taken"))).toBeNull();
    expect(pages).toEqual([]);
    expect(server().taken).toEqual([]);
  });

  test("has a name that leads nowhere, and words that are no markup", async () => {
    const { page } = seen;
    await page.locator("playground-tools").getByText("<img src=x onerror=alert(1)> stored").waitFor();
    await page.getByRole("button", { name: "Close the preview" }).click();
    await go(page, "My Files");
    await page.locator("playground-files .file").getByText("hostile.html", { exact: true }).waitFor();
  });

  test("complains of nothing", () => expect(seen.complaints).toEqual([]));
});
