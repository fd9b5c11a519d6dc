/** The playground of `sluice serve` with a bucket and Redis behind it, and a server that dies. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { Script } from "../../dist/planner.js";
import { agree, logIn, serveAccounts } from "../package/tools/accounts.js";
import { serveMcp } from "../package/tools/mcp-serving.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../unit/artifacts/s3/ceph.js";
import { TestRedis } from "../unit/redis/redis-server.js";
import { everything } from "./in-view.js";
import { served, serveModel } from "./model-server.js";
import { tooSmall, tooWide, violations } from "./page-checks.js";
import { leave, type Place, WINDOWS } from "./places.js";
import { serving, TOOLS } from "./serving.js";
import { act, ask, during, firstResult, go, visit, visitor, reload } from "./visit.js";

describe("a server of one's own", () => {
  const PREFIX = "playground";

  const s3 = during(() => TestS3.started());
  const redis = during(() => TestRedis.started());
  const model = during(() => serveModel(served));
  const server = during(() => {
    const config = {
      sources: [TOOLS],
      model: { url: model().url, name: "scripted" },
      store: `s3://${BUCKET}/${PREFIX}`,
      state: redis().url,
    };
    return serving(config, {
      AWS_ENDPOINT_URL_S3: s3().endpoint,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      SLUICE_SERVE_SECRET: randomBytes(32).toString("hex"),
    });
  });
  const seen = visitor({ url: () => server().url });

  const lastTurn = (page: Page): Locator => page.locator("playground-turn").last();
  const listed = (page: Page): Locator => page.locator("playground-served sluice-artifact");

  /** What the sessions have in the bucket. The marker of their store stays. */
  async function kept(): Promise<readonly string[]> {
    const keys = await s3().keys(PREFIX);
    return keys.filter((key) => key.startsWith("sessions/") && key !== "sessions/sluice-store.json");
  }

  async function answered(page: Page): Promise<Locator> {
    await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
    return lastTurn(page);
  }

  /** What the server's model is asked, once the page knows that it is there. */
  async function question(page: Page, text: string): Promise<void> {
    await go(page, "Chat");
    await page.getByText("Answered by this page's server").waitFor();
    await ask(page, text);
  }

  test("the chat calls the tool; the picture is in the bucket, and its card shows it from there", async () => {
    const { page } = seen;
    await question(page, "Draw the picture");
    const card = (await answered(page)).locator("sluice-artifact").first();
    expect(await kept()).not.toEqual([]);

    await card.getByRole("button", { name: /^Preview/ }).click();
    const image = page.locator("playground-drawer img");
    await image.waitFor();
    const address = (await image.getAttribute("src")) ?? "";
    expect(address).toMatch(new RegExp(`^${server().url}artifacts/tools_[0-9a-f]{12,}$`));
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(320);

    const download = page.waitForEvent("download");
    await act(card, "Download original");
    const bytes = await readFile(await (await download).path());
    const { sha256 } = await page.evaluate(async (path) => {
      return (await (await fetch(`${path}/meta`)).json()) as { sha256: string };
    }, address);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    await page.getByRole("button", { name: "Close the preview" }).click();
  });

  test("a reload keeps the session and what it stored; another browser sees nothing of it", async () => {
    const { page } = seen;
    await reload(page);
    await go(page, "My Files");
    await listed(page).first().getByText("image/png").waitFor();

    await using other = await visit({ url: server().url });
    await go(other.page, "My Files");
    await other.page.getByText("The session has stored nothing on the server yet").waitFor();
  });

  // Until the lease of the dead one ends, which a brief run does not wait for.
  test("a server that dies in the middle of a chat is no end of it: it goes on when it is back", async () => {
    const { page } = seen;
    const file = join(server().folder, "done");
    await question(page, `Wait for ${file}`);
    const call = lastTurn(page).getByRole("group", { name: "Call of tools.slow" });
    await call.getByText(/^Looked \d+ times$/).waitFor();
    await server().kill();
    await writeFile(file, "");
    await server().start();
    const turn = await answered(page);
    await turn.getByText("The picture is drawn.").waitFor();
    await call.getByText("is done").waitFor();
    expect(await turn.getByRole("group", { name: "Call of tools.slow" }).count()).toBe(1);
    expect(await call.locator("sluice-artifact").count()).toBe(1);
  });

  test("ending the session deletes all that is in the bucket", async () => {
    const { page } = seen;
    await go(page, "My Files");
    await page.locator("playground-files").getByRole("button", { name: "End session" }).click();
    await page.getByRole("dialog", { name: "End session" }).getByRole("button", { name: "End session" }).click();
    await page.locator("p.answer").getByText("The session ended").waitFor();
    await firstResult(page);
    await expect.poll(kept, { timeout: 30_000 }).toEqual([]);
    await go(page, "My Files");
    await page.getByText("The session has stored nothing on the server yet").waitFor();
  });
});

/** What the playground of `sluice serve` shows more than others, in both themes and in two widths: what axe says of it, and whether it fits. */
describe("its views", () => {
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
        await page.getByRole("button", { name: "Start a new session" }).waitFor();
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
    test.each(OWN)("$name", { timeout: 180_000 }, async ({ show }) => {
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
    await page.locator("playground-served").getByRole("heading", { name: "On this page's server" }).waitFor();
  }
});

/** A source of the server's that wants a person to sign in, at a real authorization server; the answer comes back to the server. */
describe("signing in", () => {
  /** All that the source was ever given, and what it takes no more. */
  const [tokens, revoked] = [new Set<string>(), new Set<string>()];

  const script: Script = ({ last, tools }) => {
    if (last.role === "tool") return { text: `It says: ${last.content}` };
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
    await page.getByRole("group", { name: "A call is waiting for you" }).waitFor({ state: "detached" });
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
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
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
    const pause = page.getByRole("group", { name: "A call is waiting for you" });
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
});
