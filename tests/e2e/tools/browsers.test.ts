/** Servers that drive a browser, through a ToolNode: screenshots, and data URLs in Markdown and in fences of JSON. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { FILES, useFolder } from "../servers/folder.js";
import { pngSize, readFileOnPage, servePage } from "../servers/page.js";
import { devtools, playwright, type Server } from "../servers/programs.js";
import { bytesOf, frontOf, kept, seen } from "./in-front.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

/** It keeps what it sends: there, and not where the tests run. */
function playwrightIn(path: string): Server {
  const server = playwright(path);
  return { ...server, args: [...server.args, `--output-dir=${path}`] };
}

test.runIf(isFull)("Playwright", async () => {
  await using page = await servePage();
  await using front = await frontOf("web", playwrightIn(folder.path()), { timeout_s: 60 });
  expect(await seen(front, await front.call("browser_navigate", { url: page.url }))).toEqual(kept());

  const screenshot = await front.call("browser_take_screenshot", { type: "png" });
  const [, saved = ""] = /\]\(([^)]+\.png)\)/.exec(screenshot.text) ?? [];
  const name = saved.split("/").pop();
  expect(await seen(front, screenshot)).toEqual(kept(await readFile(folder.path(name))));
  expect(pngSize(await bytesOf(front, screenshot))).toEqual({ width: 1280, height: 720 });

  for (const file of ["photo.png", "noise.bin"] as const) {
    const result = await front.call("browser_evaluate", { function: readFileOnPage(file) });
    expect(await seen(front, result)).toEqual(kept(FILES[file]));
    expect(result.text).toContain("### Result");
  }
});

test.runIf(isFull)("Chrome's developer tools", async () => {
  await using page = await servePage();
  await using front = await frontOf("web", devtools(folder.path()), { timeout_s: 60 });
  const opened = await front.call("new_page", { url: page.url });
  expect(await seen(front, opened)).toEqual(kept());
  const pageId = Number(/(\d+): [^\n]*\[selected\]/.exec(opened.value as string)?.[1]);

  const screenshot = await front.call("take_screenshot", { pageId });
  const original = await bytesOf(front, screenshot);
  expect(await seen(front, screenshot)).toEqual(kept(original));
  expect(pngSize(original).width).toBeGreaterThan(300);

  for (const file of ["photo.png", "noise.bin"] as const) {
    const result = await front.call("evaluate_script", { pageId, function: readFileOnPage(file) });
    expect(await seen(front, result)).toEqual(kept(FILES[file]));
    expect(result.text).toContain("```json");
  }
});
