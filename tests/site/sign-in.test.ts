/** A server at which a person has to sign in (check 12). */
import { beforeAll, expect, test } from "vitest";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything } from "./in-view.js";
import { SITE_URL, dial, during, go, run, visitor } from "./visit.js";

/** All that the server was ever given. */
const tokens = new Set<string>();
/** All that the console said, whatever it was. */
const said: string[] = [];

const accounts = during(serveAccounts);
const server = during(() =>
  serveMcp({
    issuer: () => accounts().origin,
    owner: (token) => {
      if (token !== "") tokens.add(token);
      return accounts().owner(token);
    },
  }),
);
const seen = visitor();

beforeAll(async () => {
  await accounts().open(`${SITE_URL}callback.html`);
  // The provider's pages have fonts from elsewhere.
  await seen.context.route(
    ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
    (route) => route.abort(),
  );
  seen.context.on("console", (message) => said.push(message.text()));
});

test("a pause says who asks and for how long; it can be given up", async () => {
  const { page } = seen;
  await dial(page, server().url);
  const pause = page.getByRole("group", { name: "A call waits for you" });
  await pause.getByRole("button", { name: "Authorise" }).waitFor();
  expect(await pause.innerText()).toContain(new URL(accounts().origin).host);
  expect(await pause.getByRole("timer").innerText()).toMatch(/^(?:10:00|9:\d\d) left$/);
  await pause.getByRole("button", { name: "Cancel" }).click();
  await page.locator("playground-servers dialog").getByRole("alert").waitFor();
  expect(await pause.count()).toBe(0);
  await page.locator("playground-servers").getByRole("button", { name: "Close" }).click();
});

test("once a person has agreed, in a window of its own, the call goes on by itself", async () => {
  const { page, context } = seen;
  await dial(page, server().url);
  const opening = context.waitForEvent("page");
  await page.getByRole("button", { name: "Authorise" }).click();
  const window = await opening;
  await logIn(window, "ada@example");
  const closing = window.waitForEvent("close");
  await agree(window);
  await closing;
  await run(page, "whoami");
  await page.locator("playground-tools").getByLabel("What the model sees").getByText("ada@example").waitFor();
  expect(await page.getByRole("group", { name: "A call waits for you" }).count()).toBe(0);
});

test("no token is in the document, in what the page remembers, or on the console", async () => {
  const { page } = seen;
  expect(tokens.size).toBeGreaterThan(0);
  const places = [await everything(page), said.join("\n")];
  for (const view of ["Log", "Try"]) {
    await go(page, view);
    places.push(await everything(page));
  }
  places.push(
    await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]),
    ),
  );
  for (const token of tokens) for (const place of places) expect(place.includes(token)).toBe(false);
});
