/** Calls that take long: progress, cancelling, and continuing in the background (check 11). Limits: silence.test.ts. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { took } from "./measured.js";
import { begin, go, visitor } from "./visit.js";

/** Longer than a person waits without wanting to do something else. */
const SECONDS = "14";

const seen = visitor();

const card = (page: Page): Locator => page.locator("playground-tools playground-call");

describe("a call that takes long", { tags: "check-11" }, () => {
  test("tells how far it is and for how long it has run, and ends when it is cancelled", async () => {
    const { page } = seen;
    await begin(page, "slow_import", { seconds: SECONDS });
    await card(page)
      .getByRole("status")
      .filter({ hasText: /^[\d,]+ of 14,000 orders$/ })
      .waitFor();
    // It goes on twice a second, which nobody wants to have read aloud.
    const shown = card(page)
      .locator("[aria-hidden=true]")
      .filter({ hasText: /orders$/ });
    const [before, aloud] = [await shown.textContent(), await card(page).getByRole("status").textContent()];
    await expect.poll(() => shown.textContent()).not.toBe(before);
    expect(await card(page).getByRole("status").textContent()).toBe(aloud);
    await card(page)
      .getByText(/^[2-9] s$/)
      .waitFor();
    const bar = card(page).getByRole("progressbar", { name: "demo.slow_import" });
    expect(await bar.getAttribute("max")).toBe("14000");
    expect(await bar.evaluate((element) => (element as HTMLProgressElement).value)).toBeGreaterThan(0);
    expect(await card(page).getByRole("button", { name: "Continue in background" }).count()).toBe(0);

    await card(page).getByRole("button", { name: "Cancel" }).click();
    const pressed = performance.now();
    await card(page).getByText("Cancelled.").waitFor();
    took("check-11", "cancelled after", performance.now() - pressed);
    expect(await card(page).locator("sluice-result").count()).toBe(0);
  });

  test("after ten seconds goes on in the background, and tells when it has ended", async () => {
    const { page } = seen;
    await begin(page, "slow_import", { seconds: SECONDS });
    await card(page).getByRole("button", { name: "Continue in background" }).click();
    await go(page, "Resources");
    const bell = page.getByRole("button", { name: "Notifications, 1 new" });
    await bell.waitFor();
    await bell.click();
    const notices = page.locator("playground-notices");
    await notices.getByText("demo.slow_import is done.").waitFor();
    await notices.getByRole("button", { name: "Show" }).click();
    await page
      .locator("playground-try")
      .getByLabel("What the model sees")
      .getByText(/"imported": ?13965/)
      .waitFor();
    await page.getByRole("button", { name: "Notifications", exact: true }).waitFor();
  });
});

test("a question of the server's stands where the call was made, and its answer goes there", async () => {
  const { page } = seen;
  await begin(page, "asks");
  const pause = page.getByRole("group", { name: "A call is waiting for you" });
  await pause.getByRole("textbox", { name: /^Answer/ }).fill("North");
  await pause.getByRole("button", { name: "Answer" }).click();
  await card(page).getByLabel("What the model sees").getByText("The answer was: North").waitFor();
  expect(await pause.count()).toBe(0);
});

test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));
