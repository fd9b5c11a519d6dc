/** The limits of what a tab remembers, and what happens where the browser or another tab does not let it. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { stored } from "./databases.js";
import { firstResult, go, PATIENCE, run, SITE_URL, visit, type Visit } from "./visit.js";

/** A page of the same origin that runs nothing. */
const BARE = `${SITE_URL}icon.svg`;

/** The parts of the page that are used directly, since a form would take minutes for what they do. */
interface Innards {
  readonly actions: {
    run(tool: string, args: object): Promise<void>;
    remove(shelf: string, id: string): Promise<void>;
  };
  readonly store: {
    readonly state: { readonly calls: readonly { readonly result?: { artifacts: { id: string }[] } }[] };
  };
}

/** Calls a tool several times, with a text of so many characters. */
async function call(page: Page, times: number, characters = 1): Promise<void> {
  await page.evaluate(
    async ([count = 0, length = 0]) => {
      const { actions } = document.querySelector("sluice-playground") as unknown as Innards;
      for (let at = 0; at < count; at += 1) await actions.run("demo.write_note", { text: "x".repeat(length) });
    },
    [times, characters],
  );
}

async function listed(page: Page): Promise<number> {
  await go(page, "Try");
  return page.locator("playground-try").getByRole("complementary").getByRole("listitem").count();
}

async function told(page: Page, sentence: string): Promise<void> {
  await page
    .locator("playground-bar")
    .getByRole("button", { name: /^Notifications/ })
    .click();
  await page.locator("playground-notices").getByText(sentence).first().waitFor();
  await page.keyboard.press("Escape");
}

/** A visitor whose calls are remembered from now on. */
async function remembering(): Promise<Visit> {
  const seen = await visit();
  await seen.page.waitForFunction(() => localStorage.getItem("sluice.memory") === "true");
  await seen.page.waitForTimeout(300);
  return seen;
}

async function reload(page: Page): Promise<void> {
  await page.waitForTimeout(700);
  await page.reload();
  await go(page, "Try");
  await page.getByRole("button", { name: "A PDF of 4 MB", disabled: false }).waitFor();
}

test("50 calls are kept, and it is said once how many were dropped", async () => {
  await using seen = await remembering();
  const { page } = seen;
  await call(page, 55);
  await reload(page);
  expect(await listed(page)).toBe(50);
  await told(page, "6 older calls were dropped: a tab remembers 50 calls and 8 MB.");
  await reload(page);
  await page.locator("playground-bar").getByRole("button", { name: "Notifications", exact: true }).waitFor();
  expect(seen.complaints).toEqual([]);
});

test("8 MB are kept, the newest first; one that is larger takes nothing from the others", async () => {
  await using seen = await remembering();
  const { page } = seen;
  await call(page, 4, 3_000_000);
  await reload(page);
  expect(await listed(page)).toBe(2);
  await told(page, "3 older calls were dropped");
  await call(page, 1, 9_000_000);
  await reload(page);
  expect(await listed(page)).toBe(2);
  await told(page, "1 older call was dropped");
  expect(seen.complaints).toEqual([]);
});

test("a call whose artifacts are gone says so", async () => {
  await using seen = await remembering();
  const { page } = seen;
  await run(page, "export_csv");
  await page.evaluate(async () => {
    const { actions, store } = document.querySelector("sluice-playground") as unknown as Innards;
    const [artifact] = store.state.calls[0]?.result?.artifacts ?? [];
    if (artifact !== undefined) await actions.remove("session", artifact.id);
  });
  await go(page, "Try");
  await reload(page);
  await page.getByText("The artifacts of this call have expired: run it again.").waitFor();
  await page.locator("playground-call").getByRole("button", { name: "Run again" }).click();
  await expect.poll(() => page.getByText("have expired").count()).toBe(0);
  expect(seen.complaints).toEqual([]);
});

test("where there is no more room, nothing is half written; it is said once, and what fits later is written", async () => {
  await using seen = await visit({ url: BARE, waits: false });
  const { page } = seen;
  await page.addInitScript(() => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its store below
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function refusing(value: { list?: string }, ...rest): IDBRequest<IDBValidKey> {
      const { isFull } = globalThis as { isFull?: boolean };
      if (isFull === true && value.list === "calls") throw new DOMException("There is no room.", "QuotaExceededError");
      return put.call(this, value, ...rest);
    };
  });
  await page.goto(SITE_URL);
  await firstResult(page);
  await page.waitForFunction(() => localStorage.getItem("sluice.memory") === "true");
  await call(page, 3);
  await page.waitForTimeout(500);
  const before = await stored(page, "sluice-playground");
  await page.evaluate(() => Object.assign(globalThis, { isFull: true }));
  await call(page, 2);
  await told(page, "This browser has no more room");
  await call(page, 1);
  await page.waitForTimeout(300);
  expect(await page.locator("playground-notices").getByText("no more room").count()).toBe(1);
  expect(await stored(page, "sluice-playground")).toBe(before);
  expect(await listed(page)).toBe(7);

  await page.evaluate(() => Object.assign(globalThis, { isFull: false }));
  await call(page, 1);
  // It is written behind the call.
  await expect.poll(() => stored(page, "sluice-playground"), { timeout: PATIENCE }).not.toBe(before);
  await reload(page);
  expect(await listed(page)).toBe(8);
  expect(seen.complaints).toEqual([]);
});

/** Opens the database in another version from a page of the same origin, which never closes it by itself. */
function hold(page: Page, version: number): Promise<void> {
  return page.evaluate(
    (wanted) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("sluice-playground", wanted);
        opening.addEventListener("success", () => {
          Object.assign(globalThis, { held: opening.result });
          resolve();
        });
        opening.addEventListener("error", () => reject(opening.error ?? new Error("It failed.")));
      }),
    version,
  );
}

test("a newer version of the page in another tab goes first; this one works, and says that it remembers nothing new", async () => {
  await using seen = await remembering();
  const { page, context } = seen;
  const newer = await context.newPage();
  await newer.goto(BARE);
  await hold(newer, 99);
  await call(page, 1);
  await told(page, "Another version of this page is open in another tab");
  await page.reload();
  await firstResult(page);
  await told(page, "Another version of this page is open in another tab");
  expect(seen.complaints).toEqual([]);
});

test("an older version in another tab that does not give way is not waited for", async () => {
  await using seen = await visit({ url: BARE, waits: false });
  const { page, context } = seen;
  await hold(page, 1);
  const other = await context.newPage();
  await other.goto(SITE_URL);
  await firstResult(other);
  await told(other, "Another version of this page is open in another tab");
  await page.close();
  await other.reload();
  await firstResult(other);
  await other.waitForFunction(() => localStorage.getItem("sluice.memory") === "true");
  await run(other, "small_talk");
  await reload(other);
  expect(await listed(other)).toBe(2);
});

test("two tabs, one of them a copy of the other, write lists of their own at the same time", async () => {
  await using seen = await remembering();
  const { page, context } = seen;
  const opening = context.waitForEvent("page");
  await page.evaluate(() => void window.open(location.href));
  const copy = await opening;
  await firstResult(copy);
  await copy.waitForTimeout(500);
  const ids = await Promise.all([page, copy].map((tab) => tab.evaluate(() => sessionStorage.getItem("sluice.tab"))));
  expect(new Set(ids).size).toBe(2);
  await Promise.all([call(page, 10), call(copy, 20)]);
  await Promise.all([reload(page), reload(copy)]);
  expect([await listed(page), await listed(copy)]).toEqual([11, 21]);
  const kept = await stored(page, "sluice-playground");
  for (const id of ids) expect(kept).toContain(id);
  expect(seen.complaints).toEqual([]);
});
