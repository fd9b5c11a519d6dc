/** A run of the chat that waits for a person's consent at a real authorization server, and goes on by itself. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything } from "./in-view.js";
import { SITE_URL, ask, connect, during, go, visitor } from "./visit.js";

/** All that the server was ever given. */
const tokens = new Set<string>();
/** Those that it takes no more. */
const revoked = new Set<string>();

const accounts = during(serveAccounts);
const server = during(() =>
  serveMcp({
    issuer: () => accounts().origin,
    owner: async (token) => {
      if (token !== "") tokens.add(token);
      return revoked.has(token) ? null : accounts().owner(token);
    },
  }),
);
const seen = visitor();

/** Agrees in the window that is opened next. */
async function consent(page: Page, { knows }: { readonly knows: boolean }): Promise<void> {
  const opening = seen.context.waitForEvent("page");
  await page.getByRole("button", { name: "Authorise" }).click();
  const window = await opening;
  const closing = window.waitForEvent("close");
  if (!knows) await logIn(window, "ada@example");
  // Where this was agreed to before nobody is asked, and the window closes by itself.
  await agree(window).catch(() => undefined);
  await closing;
}

const lastTurn = (page: Page): ReturnType<Page["locator"]> => page.locator("playground-turn").last();

beforeAll(async () => {
  await accounts().open(`${SITE_URL}callback.html`, { refreshes: false });
  await seen.context.route(
    ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
    (route) => route.abort(),
  );
});

test("a tool of a server where a person is signed in is called without asking", async () => {
  const { page } = seen;
  const connecting = connect(page, server().url);
  await consent(page, { knows: false });
  await connecting;
  await ask(page, "Call whoami");
  await lastTurn(page)
    .getByText(/ada@example/)
    .first()
    .waitFor();
});

test("where consent is wanted anew the run pauses, and goes on once a person has agreed", async () => {
  const { page } = seen;
  for (const token of tokens) revoked.add(token);
  await ask(page, "Call whoami");
  const pause = page.getByRole("group", { name: "A call waits for you" });
  await pause.getByRole("button", { name: "Authorise" }).waitFor();
  await lastTurn(page).getByText("waits for you").waitFor();
  expect(await pause.getByRole("timer").innerText()).toMatch(/^(?:10:00|9:\d\d) left$/);
  await consent(page, { knows: true });
  await lastTurn(page)
    .getByText(/ada@example/)
    .first()
    .waitFor();
  expect(await pause.count()).toBe(0);
  await lastTurn(page)
    .getByText(/^2 steps · 1 call ·/)
    .waitFor();
});

test("a person who declines is not asked again: the model is told", async () => {
  const { page } = seen;
  for (const token of tokens) revoked.add(token);
  await ask(page, "Call whoami");
  const pause = page.getByRole("group", { name: "A call waits for you" });
  await pause.getByRole("button", { name: "Cancel" }).click();
  await lastTurn(page)
    .getByText(/did not give access/)
    .first()
    .waitFor();
  expect(await pause.count()).toBe(0);
});

test("no token is in the document, in what the model saw, or in what the page remembers", async () => {
  const { page } = seen;
  for (const button of await page.getByRole("button", { name: "What the model saw" }).all()) await button.click();
  const places = [await everything(page), await page.evaluate(() => JSON.stringify([Object.entries(localStorage)]))];
  await go(page, "Log");
  places.push(await everything(page));
  expect(tokens.size).toBeGreaterThan(1);
  for (const token of tokens) for (const place of places) expect(place.includes(token)).toBe(false);
});
