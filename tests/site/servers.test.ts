/** Servers of a person's own: over HTTP, and those that are none. */
import { beforeEach, describe, expect, test } from "vitest";
import { listen } from "../package/tools/elsewhere.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { SITE_URL, PATIENCE, connect, dial, during, go, run, visit, type Visit } from "./visit.js";

const server = during(serveMcp);
let seen: Visit;

beforeEach(async () => {
  seen = await visit();
  return () => seen[Symbol.asyncDispose]();
});

describe("a server over HTTP", () => {
  test("is connected by its address; its tools and resources are shown, and it can be left", async () => {
    const { page } = seen;
    await connect(page, server().url);
    expect(
      await page
        .locator("playground-bar")
        .getByRole("button", { name: /connected\. Servers$/ })
        .innerText(),
    ).toMatch(/^local-\d+/);
    await run(page, "report", { year: "2025" });
    await page.locator("playground-tools sluice-artifact").getByText("application/pdf").first().waitFor();

    await go(page, "Resources");
    await page
      .locator("sluice-resources")
      .getByRole("button", { name: /^Today/ })
      .waitFor();

    await page
      .locator("playground-bar")
      .getByRole("button", { name: /Servers$/ })
      .click();
    await page.locator("playground-servers").getByRole("button", { name: "Leave" }).click();
    const left = page.locator("playground-servers").getByRole("listitem");
    await expect.poll(() => left.count(), { timeout: PATIENCE }).toBe(1);
    await page.locator("playground-servers").getByRole("button", { name: "Close" }).click();
    await page
      .locator("sluice-resources")
      .getByRole("button", { name: /^Live metrics/ })
      .waitFor();
    // Leaving ends the session at the server.
    await expect.poll(() => server().sessions.size, { timeout: PATIENCE }).toBe(0);
    expect(seen.complaints).toEqual([]);
  });
});

describe("what is no server", () => {
  test("an address where nobody answers is told of in the dialog, and may be written anew", async () => {
    const { page } = seen;
    const gone = await listen(() => () => undefined);
    await gone[Symbol.asyncDispose]();
    await dial(page, `${gone.origin}/mcp`);
    const dialog = page.locator("playground-servers dialog");
    const alert = dialog.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/could not be reached|network|connect/i);
    expect(await dialog.locator("[name=url]").inputValue()).toBe(`${gone.origin}/mcp`);
    expect(await dialog.getByRole("button", { name: "Connect" }).isEnabled()).toBe(true);

    await dialog.locator("[name=url]").fill(server().url);
    await dialog.getByRole("button", { name: "Connect" }).click();
    await page
      .locator("playground-tools")
      .getByRole("button", { name: /^report/ })
      .waitFor();
  });

  test("an address where something else answers", async () => {
    const { page } = seen;
    await dial(page, SITE_URL);
    await page.locator("playground-servers dialog").getByRole("alert").waitFor();
  });
});
