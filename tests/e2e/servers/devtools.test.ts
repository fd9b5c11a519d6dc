/** The server of Chrome's developer tools behind the proxy: screenshots, and data URLs in a fence of JSON. */
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS } from "./behind.js";
import { bytesOf, expectStored } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { pngSize, readFileOnPage, servePage } from "./page.js";
import { devtools } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
  test("a screenshot, and files that a page read", async () => {
    await using page = await servePage();
    await using server = await behindProxy(driver, devtools(folder.path()));
    const opened = await server.call("new_page", { url: page.url });
    await expectStored(server, opened, []);
    const pageId = Number(/^(\d+): .*\[selected\]/m.exec(opened.content[0]?.text ?? "")?.[1]);

    const screenshot = await server.call("take_screenshot", { pageId });
    const original = await bytesOf(server, screenshot);
    const measured = await server.call("evaluate_script", {
      pageId,
      function: "() => [innerWidth * devicePixelRatio, innerHeight * devicePixelRatio]",
    });
    const [width, height] = (measured.content[0]?.text?.match(/\d+/g) ?? []).map(Number);
    expect(pngSize(original)).toEqual({ width, height });
    await expectStored(server, screenshot, [original]);

    for (const name of ["photo.png", "noise.bin"] as const) {
      const result = await server.call("evaluate_script", { pageId, function: readFileOnPage(name) });
      await expectStored(server, result, [FILES[name]]);
      expect(result.content[0]?.text).toContain("```json");
    }
  });
});
