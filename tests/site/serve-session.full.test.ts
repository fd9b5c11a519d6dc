/** The playground of `sluice serve`: its session, its sources, and what the session stored. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makePng } from "../../scripts/demo/png.mjs";
import { during, firstResult, go, run, visit, type Visit, reload } from "./visit.js";
import { serving, TOOLS } from "./serving.js";

const server = during(() => serving({ sources: [TOOLS, { ...TOOLS, name: "other" }] }));
const picture = makePng({ width: 64, height: 40 });
let seen: Visit;

beforeEach(async () => {
  // Without the service worker, which would fetch the whole site for each of them.
  seen = await visit({ url: server().url, serviceWorkers: "block" });
});
afterEach(() => seen[Symbol.asyncDispose]());

const servers = (page: Page): Locator => page.locator("playground-servers");
const listed = (page: Page): Locator => page.locator("playground-served sluice-artifact");

/** Stores something in the session of a page, as any client of the server may. Gives its id. */
async function upload(page: Page, name: string): Promise<string> {
  return page.evaluate(
    async ([filename, bytes]) => {
      const body = Uint8Array.from(bytes as number[]);
      const headers = { "Content-Type": "image/png" };
      const answer = await fetch(`./artifacts?filename=${filename}`, { method: "POST", headers, body });
      return ((await answer.json()) as { artifact: { id: string } }).artifact.id;
    },
    [name, [...picture]] as const,
  );
}

const connected = (page: Page): Promise<void> =>
  servers(page)
    .getByRole("button", { name: /^tools/ })
    .waitFor();

describe("sources of the server", () => {
  test("the first is there without anything to type; its results pass the gate in the page", async () => {
    const { page } = seen;
    await connected(page);
    await run(page, "picture");
    const card = page.locator("playground-tools sluice-artifact").first();
    await card.getByText("image/png").waitFor();
    await card.getByRole("button", { name: /^Preview/ }).click();
    await page.locator("playground-drawer").getByText("Stored in this session").waitFor();
    expect(seen.complaints).toEqual([]);
  });

  test("another is connected by a button, and can be left", async () => {
    const { page } = seen;
    await connected(page);
    await servers(page).getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Servers" });
    expect(await dialog.getByText("mcp-sluice serve").count()).toBe(0);
    await dialog.getByRole("button", { name: "Connect other" }).click();
    await servers(page)
      .getByRole("button", { name: /^other/ })
      .waitFor();
    await run(page, "picture");
    await servers(page).getByRole("button").first().click();
    await dialog.getByRole("listitem").filter({ hasText: "other" }).getByRole("button", { name: "Leave" }).click();
    await dialog.getByRole("button", { name: "Connect other" }).waitFor();
  });
});

describe("what the session stored", () => {
  test("is listed as it comes, shown from the server, downloaded whole, saved and deleted", async () => {
    const { page } = seen;
    await connected(page);
    await go(page, "My Files");
    await page.getByText("The session has stored nothing on the server yet").waitFor();
    const id = await upload(page, "shore.png");
    const card = listed(page).first();
    await card.getByText("shore.png").waitFor();

    await card.getByRole("button", { name: /^Preview/ }).click();
    const image = page.locator("playground-drawer img");
    await image.waitFor();
    expect(await image.getAttribute("src")).toBe(`${server().url}artifacts/${id}`);
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(64);
    await page.getByText("Stored by this page's server").waitFor();
    await page.getByRole("button", { name: "Close the preview" }).click();

    const download = page.waitForEvent("download");
    await card.getByRole("link", { name: /^Download original/ }).click();
    const bytes = await readFile(await (await download).path());
    expect((await download).suggestedFilename()).toBe("shore.png");
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(createHash("sha256").update(picture).digest("hex"));

    await card.getByRole("button", { name: /^More actions/ }).click();
    await card.getByRole("menuitem", { name: "Save to My Files" }).click();
    await page.locator("playground-files").getByRole("button", { name: "Rename shore.png" }).waitFor();
    await card.getByRole("button", { name: /^More actions/ }).click();
    await card.getByRole("menuitem", { name: "Delete" }).click();
    await card.getByRole("button", { name: "Yes" }).click();
    await page.getByText("The session has stored nothing on the server yet").waitFor();
    expect(seen.complaints).toEqual([]);
  });

  test("is there after a reload, and another browser sees nothing of it", async () => {
    const { page } = seen;
    await connected(page);
    const id = await upload(page, "mine.png");
    await reload(page);
    await go(page, "My Files");
    await listed(page).getByText("mine.png").first().waitFor();

    await using other = await visit({ url: server().url, serviceWorkers: "block" });
    await connected(other.page);
    await go(other.page, "My Files");
    await other.page.getByText("The session has stored nothing on the server yet").waitFor();
    const status = (address: string): Promise<number> =>
      other.page.evaluate(async (path) => (await fetch(path)).status, address);
    expect(await status(`./artifacts/${id}`)).toBe(404);
    expect(await other.page.evaluate(() => document.cookie)).toBe("");
  });

  test("is in the address while it is shown, and a link opens it", async () => {
    const { page } = seen;
    await connected(page);
    const id = await upload(page, "linked.png");
    await go(page, "My Files");
    await listed(page).getByText("linked.png").first().waitFor();
    await page.goto("about:blank");
    await page.goto(`${server().url}#/files?artifact=served:${encodeURIComponent(id)}`);
    const drawer = page.locator("playground-drawer");
    await drawer.getByText("linked.png").first().waitFor();
    await expect.poll(() => decodeURIComponent(new URL(page.url()).hash)).toContain(`served:${id}`);
    await page.goBack();
    await drawer.waitFor({ state: "detached" });
  });

  test("goes with the end of the session, and another begins", async () => {
    const { page, context } = seen;
    await connected(page);
    const id = await upload(page, "gone.png");
    const [before] = await context.cookies();
    await go(page, "My Files");
    await page.locator("playground-files").getByRole("button", { name: "End session" }).click();
    const question = page.getByRole("dialog", { name: "End session" });
    await question.getByText(/What the session stored on this page's server is deleted too/).waitFor();
    await question.getByRole("button", { name: "End session" }).click();
    await page.locator("p.answer").getByText("The session ended").waitFor();
    await firstResult(page);
    await connected(page);
    const [after] = await context.cookies();
    expect(after?.value).not.toBe(before?.value);
    await context.addCookies(before === undefined ? [] : [before]);
    expect(await page.evaluate(async (path) => (await fetch(path)).status, `./artifacts/${id}`)).toBe(401);
  });
});

describe("a session that is over", () => {
  test("is said in one sentence with one button, which begins another; sources are there again", async () => {
    const { page } = seen;
    await connected(page);
    await page.evaluate(async () => (await fetch("./sessions/current", { method: "DELETE" })).status);
    const note = page.locator("playground-session").getByRole("alert");
    await note.getByText("Your session on this page's server has ended, and what it stored was deleted.").waitFor();
    await note.getByRole("button", { name: "Start a new session" }).click();
    await note.waitFor({ state: "detached" });
    await connected(page);
    await run(page, "picture");
    await go(page, "My Files");
    await upload(page, "again.png");
    await listed(page).getByText("again.png").first().waitFor();
  });
});

describe("a server that is away", () => {
  test("leaves the rest of the page as it is, and is asked again by a button", async () => {
    await using mortal = await serving({ sources: [TOOLS] });
    await using other = await visit({ url: mortal.url });
    const { page } = other;
    await connected(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await mortal.kill();
    await reload(page);
    const note = page.locator("playground-session").getByRole("alert");
    await note.getByText("This page's server does not answer: check that it is running, and try again.").waitFor();
    await mortal.start();
    await note.getByRole("button", { name: "Try again" }).click();
    await connected(page);
  });
});

describe("a server that knows people", () => {
  const TOKEN = "a-token-of-one-person";
  const guarded = during(() => serving({ sources: [TOOLS] }, { SLUICE_SERVE_TOKEN: TOKEN }));

  test("lets in whoever comes by its link, whose token is left nowhere", async () => {
    await using own = await visit({ url: `${guarded().url}?token=${TOKEN}` });
    await connected(own.page);
    expect(own.page.url().split("#")[0]).toBe(guarded().url);
    const kept = await own.page.evaluate(
      () => document.documentElement.outerHTML + JSON.stringify(Object.entries(localStorage)),
    );
    expect(kept).not.toContain(TOKEN);
    await own.page.reload();
    await connected(own.page);
  });

  test("tells others so, and the rest of the page works", async () => {
    await using other = await visit({ url: guarded().url });
    const note = other.page.locator("playground-session").getByRole("alert");
    await note.getByText(/^You are not signed in/).waitFor();
    await note.getByRole("button", { name: "Try again" }).click();
    await note.getByText(/^You are not signed in/).waitFor();
    await run(other.page, "sales_chart");
  });
});
