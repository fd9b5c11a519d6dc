/** A source of the server's that wants a person to sign in, at a real authorization server; the answer comes back to the server. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Script } from "../../dist/planner.js";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything } from "./in-view.js";
import { serveModel } from "./model-server.js";
import { serving } from "./serving.js";
import { ask, during, go, visitor } from "./visit.js";

/** All that the source was ever given, and what it takes no more. */
const [tokens, revoked] = [new Set<string>(), new Set<string>()];

const script: Script = ({ messages, tools }) => {
  if (messages.at(-1)?.role === "tool") return { text: `It says: ${messages.at(-1)?.content ?? ""}` };
  return tools.includes("docs_whoami") ? { calls: [{ name: "docs_whoami", args: {} }] } : { text: "I cannot." };
};

const accounts = during(serveAccounts);
const source = during(() =>
  serveMcp({
    issuer: () => accounts().origin,
    owner: async (token) => {
      if (token !== "") tokens.add(token);
      return revoked.has(token) ? null : accounts().owner(token);
    },
  }),
);
const model = during(() => serveModel(script));
const server = during(() =>
  serving({
    sources: [{ name: "docs", transport: "mcp", connection: source().url, auth_type: "oauth2_user" }],
    model: { url: model().url, name: "scripted" },
  }),
);
const seen = visitor({ url: () => server().url });

/** Agrees in the window that is opened next, and is told that it may be closed. */
async function consent(page: Page, { knows }: { readonly knows: boolean }): Promise<void> {
  const opening = seen.context.waitForEvent("page");
  await page.getByRole("button", { name: "Authorise" }).click();
  const window = await opening;
  if (!knows) await logIn(window, "ada@example");
  await agree(window);
  await window.getByText("Access was given").waitFor();
  expect(window.url().startsWith(`${server().url}oauth/callback`)).toBe(true);
  await window.close();
}

const lastTurn = (page: Page): ReturnType<Page["locator"]> => page.locator("playground-turn").last();

beforeAll(async () => {
  await accounts().open(`${server().url}oauth/callback`, { refreshes: false });
  await seen.context.route(
    ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
    (route) => route.abort(),
  );
});

test("before a person has signed in, the chat does without its tools", async () => {
  const { page } = seen;
  await go(page, "Chat");
  await page.getByText("Answered by this page's server").waitFor();
  await ask(page, "Call whoami");
  await lastTurn(page).getByText("I cannot.").waitFor();
});

test("a person signs in by a button; then the chat has them", async () => {
  const { page } = seen;
  await page.locator("playground-servers").getByRole("button").first().click();
  const dialog = page.getByRole("dialog", { name: "Servers" });
  await dialog.getByRole("button", { name: "Sign in to docs" }).click();
  await consent(page, { knows: false });
  await page.getByRole("group", { name: "A call waits for you" }).waitFor({ state: "detached" });
  await ask(page, "Call whoami");
  await lastTurn(page)
    .getByText(/ada@example/)
    .first()
    .waitFor();
});

test("where consent is wanted anew the run pauses, and goes on by itself once a person has agreed", async () => {
  const { page } = seen;
  for (const token of tokens) revoked.add(token);
  await ask(page, "Call whoami");
  const pause = page.getByRole("group", { name: "A call waits for you" });
  await pause.getByRole("button", { name: "Authorise" }).waitFor();
  await lastTurn(page).getByText("waits for you").waitFor();
  await consent(page, { knows: true });
  await lastTurn(page)
    .getByText(/ada@example/)
    .first()
    .waitFor();
  expect(await pause.count()).toBe(0);
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

test("no token reaches the page", async () => {
  const { page } = seen;
  for (const button of await page.getByRole("button", { name: "What the model saw" }).all()) await button.click();
  const places = [await everything(page), await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))];
  expect(tokens.size).toBeGreaterThan(1);
  for (const token of tokens) for (const place of places) expect(place.includes(token)).toBe(false);
});
