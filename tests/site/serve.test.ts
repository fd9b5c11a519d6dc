/** The playground of `sluice serve` with a bucket and Redis behind it, and a server that dies. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { TestRedis } from "../unit/redis/redis-server.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../unit/artifacts/s3/ceph.js";
import { served, serveModel } from "./model-server.js";
import { serving, TOOLS } from "./serving.js";
import { act, ask, during, firstResult, go, visit, visitor } from "./visit.js";
import { isFull } from "../support/full.js";

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

/** What the sessions have in the bucket. */
async function kept(): Promise<readonly string[]> {
  return (await s3().keys(PREFIX)).filter((key) => key.startsWith("sessions/"));
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
  await page.reload();
  await firstResult(page);
  await go(page, "My Files");
  await listed(page).first().getByText("image/png").waitFor();

  await using other = await visit({ url: server().url });
  await go(other.page, "My Files");
  await other.page.getByText("The session has stored nothing there yet").waitFor();
});

// Until the lease of the dead one ends, which a brief run does not wait for.
test.runIf(isFull)(
  "a server that dies in the middle of a chat is no end of it: it goes on when it is back",
  async () => {
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
  },
);

test("ending the session deletes all that is in the bucket", async () => {
  const { page } = seen;
  await go(page, "My Files");
  const reloaded = page.waitForEvent("load");
  await page.locator("playground-files").getByRole("button", { name: "End session" }).click();
  await page.getByRole("dialog", { name: "End session" }).getByRole("button", { name: "End session" }).click();
  await reloaded;
  await firstResult(page);
  await expect.poll(kept, { timeout: 30_000 }).toEqual([]);
  await go(page, "My Files");
  await page.getByText("The session has stored nothing there yet").waitFor();
});
