/** The tools of a person's own server: first on the page, by their names for people, with what the server says of them. */
import { expect, test } from "vitest";
import { serving, TOOLS } from "./serving.js";
import { during, go, visit } from "./visit.js";

const server = during(() => serving({ sources: [TOOLS] }));

test("the server that sluice serve was started for comes before the demo", async () => {
  await using seen = await visit({ url: server().url });
  const { page } = seen;
  const served = page.locator("playground-try").getByRole("region", { name: /^Your server tools is connected/ });
  await served.waitFor();
  const demo = page.locator("playground-try").getByRole("heading", { level: 1 });
  const top = async (part: typeof served): Promise<number> => (await part.boundingBox())?.y ?? Number.NaN;
  expect(await top(served)).toBeLessThan(await top(demo));

  await served.getByRole("button", { name: "Erase a note" }).click();
  const form = page.locator("playground-tools").getByRole("region", { name: "erase" });
  await form.getByText("Erase a note").waitFor();
  expect(await form.locator(".chip").allInnerTexts()).toEqual(["destructive", "idempotent"]);
  expect(seen.complaints).toEqual([]);
});

test("a narrow window shows the list, then the tool, and goes back to the list at that tool", async () => {
  await using seen = await visit({ url: server().url, viewport: { width: 390, height: 844 } });
  const { page } = seen;
  await page
    .locator("playground-try")
    .getByRole("region", { name: /^Your server tools/ })
    .waitFor();
  await go(page, "Tools");
  const view = page.locator("playground-tools");
  const list = view.getByRole("complementary", { name: "Tools" });
  const form = view.getByRole("region", { name: "erase" });
  await list.getByRole("button", { name: "erase", exact: true }).click();
  await form.waitFor();
  expect(await list.isVisible()).toBe(false);

  await view.getByRole("button", { name: "All tools" }).click();
  await list.waitFor();
  expect(await form.isVisible()).toBe(false);
  expect(await list.getByRole("button", { name: /^picture/ }).isVisible()).toBe(true);
});
