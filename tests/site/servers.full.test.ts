/** Servers of a person's own: over HTTP, and those that are none. */
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { listen } from "../package/tools/elsewhere.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { everything } from "./in-view.js";
import { took } from "./measured.js";
import { connect, dial, during, go, PATIENCE, run, SITE_URL, visit, type Visit, visitor } from "./visit.js";

/** What the page knows of its servers. */
interface Innards {
  readonly store: {
    readonly state: { readonly servers: readonly { readonly name: string }[]; readonly server: string };
  };
  readonly actions: { readonly readers: ReadonlyMap<string, unknown> };
}

describe("servers", () => {
  const server = during(serveMcp);
  let seen: Visit;

  beforeEach(async () => {
    seen = await visit();
    return () => seen[Symbol.asyncDispose]();
  });

  describe("a server over HTTP", () => {
    test("is connected by its address; its tools and resources are shown, and it can be left", async () => {
      const { page } = seen;
      await connect(page, server().url);
      expect(
        await page
          .locator("playground-bar")
          .getByRole("button", { name: /connected\. Servers$/ })
          .innerText(),
      ).toMatch(/^local-\d+/);
      await run(page, "report", { year: "2025" });
      await page.locator("playground-tools sluice-artifact").getByText("application/pdf").first().waitFor();

      await go(page, "Resources");
      await page
        .locator("sluice-resources")
        .getByRole("button", { name: /^Today/ })
        .waitFor();

      await page
        .locator("playground-bar")
        .getByRole("button", { name: /Servers$/ })
        .click();
      await page.locator("playground-servers").getByRole("button", { name: "Leave" }).click();
      const left = page.locator("playground-servers").getByRole("listitem");
      await expect.poll(() => left.count(), { timeout: PATIENCE }).toBe(1);
      await page.locator("playground-servers").getByRole("button", { name: "Close" }).click();
      await page
        .locator("sluice-resources")
        .getByRole("button", { name: /^Live metrics/ })
        .waitFor();
      // Leaving ends the session at the server.
      await expect.poll(() => server().sessions.size, { timeout: PATIENCE }).toBe(0);
      expect(seen.complaints).toEqual([]);
    });
  });

  describe("what is no server", () => {
    test("an address where nobody answers is told of in the dialog, and may be written anew", async () => {
      const { page } = seen;
      const gone = await listen(() => () => undefined);
      await gone[Symbol.asyncDispose]();
      await dial(page, `${gone.origin}/mcp`);
      const dialog = page.locator("playground-servers dialog");
      const alert = dialog.getByRole("alert");
      await alert.waitFor();
      expect(await alert.innerText()).toMatch(/could not be reached|network|connect/i);
      expect(await dialog.locator("[name=url]").inputValue()).toBe(`${gone.origin}/mcp`);
      expect(await dialog.getByRole("button", { name: "Connect" }).isEnabled()).toBe(true);
      expect(await alert.innerText()).toContain(`${gone.origin}/mcp`);
      // Nothing of it is left in any list.
      const name = `local-${new URL(gone.origin).port}`;
      expect(await dialog.getByRole("listitem").allInnerTexts()).toEqual([expect.stringContaining("demo")]);
      const state = await page.evaluate(() => {
        const { store, actions } = document.querySelector("sluice-playground") as unknown as Innards;
        const { servers, server: current } = store.state;
        return { servers: servers.map((each) => each.name), current, readers: [...actions.readers.keys()] };
      });
      expect(state).toEqual({ servers: ["demo"], current: "demo", readers: [] });
      await dialog.getByRole("button", { name: "Close" }).click();
      await page.locator("playground-bar").getByRole("button", { name: /^Find/ }).click();
      await page.getByRole("combobox", { name: /^Find/ }).fill(name);
      await page.locator("playground-palette").getByText("No matches.").waitFor();
      await page.locator("playground-palette").getByRole("combobox").fill("");
      await page.keyboard.press("Escape");
      await go(page, "Log");
      await page.getByRole("tab", { name: "Messages" }).click();
      expect(await page.locator("playground-messages").getByText(name).count()).toBe(0);
      await page.reload();
      await go(page, "Try");
      await page
        .locator("playground-bar")
        .getByRole("button", { name: /Servers$/ })
        .click();
      await expect.poll(() => dialog.getByRole("listitem").count()).toBe(1);

      await dialog.locator("[name=url]").fill(server().url);
      await dialog.getByRole("button", { name: "Connect" }).click();
      await page
        .locator("playground-tools")
        .getByRole("button", { name: /^report/ })
        .waitFor();
    });

    test("an address where something else answers", async () => {
      const { page } = seen;
      await dial(page, SITE_URL);
      await page.locator("playground-servers dialog").getByRole("alert").waitFor();
    });
  });
});

/** What a server has to read: templates, subscriptions and what changes (check 10). */
describe("resources", () => {
  const NOTE = "Rain on Sunday: all rain shells to the front.";

  const seen = visitor();

  /** Opens a list, and one of its rows, which `name` begins: what is in it stands beside the list. */
  async function opened(page: Page, tab: string, name: RegExp): Promise<Locator> {
    await go(page, "Resources");
    const list = page.locator("sluice-resources");
    await list.getByRole("tab", { name: new RegExp(`^${tab}`) }).click();
    const row = list.getByRole("listitem").filter({ has: page.getByRole("button", { name, expanded: false }) });
    const wasClosed = await row.count();
    if (wasClosed > 0) await row.getByRole("button", { name }).click();
    await list.getByRole("button", { name, expanded: true }).waitFor();
    return list.locator("section.work");
  }

  describe("resources of the demo", { tags: "check-10" }, () => {
    test("a template: its fields are filled in by what the server completes, and the result is read", async () => {
      const { page } = seen;
      const row = await opened(page, "Templates", /^A region's sales by month/);
      const region = row.getByRole("combobox", { name: "region" });
      await region.pressSequentially("no");
      const offered = row.getByRole("option");
      await offered.first().waitFor();
      expect(await offered.allInnerTexts()).toEqual(["North"]);
      await region.press("ArrowDown");
      await region.press("Enter");
      expect(await region.inputValue()).toBe("North");
      await row.getByRole("combobox", { name: "year" }).pressSequentially("202");
      await row.getByRole("option", { name: "2025" }).click();
      await row.getByRole("button", { name: "Read", exact: true }).click();
      await row.getByText("Jan 2025,").waitFor();
      expect(await row.innerText()).toContain("table://North/2025");
    });

    test("nothing is read of a resource before somebody opens it; then it is a file that is stored", async () => {
      const { page } = seen;
      const row = await opened(page, "Resources", /^Sales report Q1/);
      await row.locator("sluice-artifact").getByText("application/pdf").first().waitFor();
    });

    test("a subscription: what changes gets a dot and a button, which reads it anew", async () => {
      const { page } = seen;
      const before = await opened(page, "Resources", /^Today's note/);
      await before.getByText("Fair at the lake").waitFor();
      await before.getByRole("button", { name: "Subscribe to Today's note" }).click();
      await before.getByText("Subscribed").first().waitFor();

      await run(page, "write_note", { text: NOTE });
      const written = performance.now();
      await page
        .locator("playground-rail")
        .getByRole("button", { name: /^Resources ?, 1 updated/ })
        .waitFor();
      took("check-10", "an update is told of after", performance.now() - written);

      await go(page, "Resources");
      const row = page.locator("sluice-resources").getByRole("listitem").filter({ hasText: "Today's note" });
      await row.locator(".dot").waitFor();
      expect(await row.innerText()).toContain("Subscribed");
      expect(await page.getByText(NOTE).count()).toBe(0);
      // It is still open beside the list, as it was.
      const work = page.locator("sluice-resources section.work");
      await work.getByRole("button", { name: "Refresh Today's note" }).click();
      await work.getByText(NOTE).waitFor();
      expect(await row.locator(".dot").count()).toBe(0);
      await page.locator("playground-rail").getByRole("button", { name: "Resources", exact: true }).waitFor();
    });

    test("nothing of it is complained of", () => expect(seen.complaints).toEqual([]));
  });
});

/** A server at which a person has to sign in (check 12). */
describe("signing in", { tags: "check-12" }, () => {
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
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
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
    const closed = performance.now();
    await page.locator("playground-tools").getByRole("complementary").getByRole("listitem").first().waitFor();
    took("check-12", "the call goes on after", performance.now() - closed);
    await run(page, "whoami");
    await page.locator("playground-tools").getByLabel("What the model sees").getByText("ada@example").waitFor();
    expect(await page.getByRole("group", { name: "A call is waiting for you" }).count()).toBe(0);
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
});
