/** Playwright's server behind the proxy: screenshots, and data URLs inside of Markdown. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS } from "./behind.js";
import { bytesOf, expectStored } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { pngSize, readFileOnPage, servePage } from "./page.js";
import { playwright } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
  test("a screenshot, and files that a page read", async () => {
    await using page = await servePage();
    await using server = await behindProxy(driver, playwright(folder.path()));
    await expectStored(server, await server.call("browser_navigate", { url: page.url }), []);

    const screenshot = await server.call("browser_take_screenshot", { type: "png" });
    // It keeps what it sends, and says where.
    const [, saved = ""] = /\]\(([^)]+\.png)\)/.exec(screenshot.content[0]?.text ?? "") ?? [];
    await expectStored(server, screenshot, [await readFile(folder.path(saved))]);
    expect(pngSize(await bytesOf(server, screenshot))).toEqual({ width: 1280, height: 720 });

    for (const name of ["photo.png", "noise.bin"] as const) {
      const result = await server.call("browser_evaluate", { function: readFileOnPage(name) });
      await expectStored(server, result, [FILES[name]]);
      expect(result.content[0]?.text).toContain("### Result");
    }
    await expectStored(server, await server.call("browser_close"), []);
  });
});
