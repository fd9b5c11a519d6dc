/** What the playground of `sluice serve` shows more than others, in both themes and in two widths: what axe says of it, and whether it fits. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { tooSmall, tooWide, violations } from "./page-checks.js";
import { served, serveModel } from "./model-server.js";
import { leave, type Place, WINDOWS } from "./places.js";
import { serving, TOOLS } from "./serving.js";
import { ask, during, go, visitor } from "./visit.js";
import { isFull } from "../support/full.js";

const model = during(() => serveModel(served));
const server = during(() => {
  const docs = { name: "docs", transport: "mcp", connection: "http://127.0.0.1:9/mcp", auth_type: "oauth2_user" };
  return serving({
    sources: [TOOLS, { ...TOOLS, name: "other" }, docs],
    model: { url: model().url, name: "scripted" },
  });
});

/** In an order in which one visitor can see them all. */
const OWN: readonly Place[] = [
  {
    name: "the sources of the server",
    show: async (page) => {
      await page.locator("playground-servers").getByRole("button").first().click();
      await page.getByRole("button", { name: "Sign in to docs" }).waitFor();
    },
  },
  { name: "My Files without anything at the server", show: files },
  {
    name: "the chat with the server",
    show: async (page) => {
      await ask(page, "Draw the picture");
      await page.locator("playground-turn").last().getByText("The picture is drawn.").waitFor();
      await page.locator("playground-turn").last().getByRole("button", { name: "What the model saw" }).click();
    },
  },
  {
    name: "the choice of a model",
    show: async (page) => {
      await go(page, "Chat");
      await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
      await page.getByRole("radio", { name: /^This page's server/ }).waitFor();
    },
  },
  {
    name: "My Files with what the server keeps",
    show: async (page) => {
      await files(page);
      await page.locator("playground-served sluice-artifact").first().waitFor();
    },
  },
  {
    name: "a session that is over",
    show: async (page) => {
      await go(page, "Try");
      await page.evaluate(async () => (await fetch("./sessions/current", { method: "DELETE" })).status);
      await page.getByRole("button", { name: "Begin a new session" }).waitFor();
    },
  },
];

describe.each(WINDOWS)("in $width px", ({ width, options }) => {
  const seen = visitor({ url: () => server().url, ...options });
  const isPhone = width < 500;

  beforeAll(() =>
    seen.page
      .locator("playground-servers")
      .getByRole("button", { name: /^tools/ })
      .waitFor(),
  );

  // A brief run sees the phone alone, where more may go wrong.
  test.runIf(isFull || isPhone).each(OWN)("$name", { timeout: 180_000 }, async ({ show }) => {
    const { page } = seen;
    await leave(page);
    await show(page);
    expect(await violations(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    expect(isPhone ? await tooSmall(page) : []).toEqual([]);
  });
});

async function files(page: Page): Promise<void> {
  await go(page, "My Files");
  await page.locator("playground-served").getByRole("heading", { name: "At this page's server" }).waitFor();
}
