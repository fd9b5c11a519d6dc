/**
 * The playground of checkouts in other folders: `npm start` there makes the same bytes as here, and every kind of address shows what
 * it names, opened and reloaded. Moved, they build as before.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:fs";
import { cp, mkdtemp, readdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/run.mjs";
import { act, copyLink, during, firstResult, go, pick, SITE_URL, visit, visitor, waitForMemory } from "./visit.js";

/** What is made anew in each checkout. `node_modules` is copied whole, by itself. */
const MADE = new Set([".git", "build", "coverage", "dist", "node_modules"]);

/** Milliseconds for a build from nothing, where no compiler's cache helps. */
const BUILD_TIMEOUT = 900_000;

/** A copy of the checkout, built and served by `npm start`. */
interface Checkout extends AsyncDisposable {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly url: string;
}

async function startIn(path: string): Promise<Checkout> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "sluice-folders-")));
  const folder = join(home, path);
  await cp(root, folder, { recursive: true, filter: (from) => from === root || !MADE.has(basename(from)) });
  const modules = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE };
  await cp(join(root, "node_modules"), join(folder, "node_modules"), modules);
  // What is left among temporary files goes with the rest.
  const env = { ...process.env, TMPDIR: home };
  const started = spawn(process.execPath, ["scripts/start.mjs"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const remove = async (): Promise<void> => {
    // Asked to end, it would wait for connections that the browser keeps.
    if (started.kill("SIGKILL")) await once(started, "exit");
    await rm(home, { recursive: true, force: true });
  };
  try {
    return { folder, env, url: await readAddress(started), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where `npm start` says that it serves the playground. */
function readAddress({ stdout, stderr }: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    for (const stream of [stdout, stderr]) {
      stream?.on("data", (text: Buffer) => {
        said = (said + text.toString()).slice(-10_000);
        const [, url] = /^The playground: (\S+)/m.exec(said) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    stdout?.once("close", () => reject(new Error(`It serves nothing:\n${said}`)));
  });
}

/** The hash of each file below a folder. */
async function hashFiles(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashes = paths.map(async (path) => [
    relative(folder, path),
    createHash("sha256")
      .update(await readFile(path))
      .digest("hex"),
  ]);
  return Object.fromEntries(await Promise.all(hashes)) as Record<string, string>;
}

/** Whether a page shows what it should. */
type Look = (page: Page) => Promise<void>;

/** Looks at a page, loads it anew, and looks once more. */
async function lookTwice(page: Page, look: Look): Promise<void> {
  await look(page);
  await waitForMemory(page);
  await page.reload();
  await look(page);
}

const showing =
  (view: string, text: string | RegExp): Look =>
  (page) =>
    page.locator(view).getByText(text).first().waitFor();

/** What every site shows, at addresses of each kind. */
function checkAddresses(url: () => string): void {
  const seen = visitor({ url, permissions: ["clipboard-read", "clipboard-write"] });

  test.each<readonly [string, string, Look]>([
    [
      "#/tools/demo.jingle",
      "the tool",
      (page) => page.locator("playground-tools").getByRole("heading", { name: "jingle" }).waitFor(),
    ],
    ["#/resources/demo?uri=note%3A%2F%2Ftoday", "the resource", showing("playground-resources", "Fair at the lake")],
    ["#/files", "My Files", showing("playground-files", "You have no files yet")],
    ["#/chat", "the chat", showing("playground-chat", "Ask")],
    ["#/guardrails", "the guardrails", showing("playground-guardrails", "Guardrails")],
    ["#/log", "the log", showing("playground-log", "Log")],
  ])("%s shows %s", async (address, _, look) => {
    await using other = await visit({ url: url() + address, waits: false });
    await lookTwice(other.page, look);
    expect(other.complaints).toEqual([]);
  });

  test("an address of what is gone says so", async () => {
    await using other = await visit({ url: `${url()}#/tools/demo.nothing`, waits: false });
    await showing("p.answer", "demo has no tool named demo.nothing.")(other.page);
  });

  test("the first result has its fonts and its menu, and the chat is beside it", async () => {
    await lookTwice(seen.page, async (page) => {
      await firstResult(page);
      await page.getByRole("button", { name: "Share demo.sales_report" }).waitFor();
      await page.locator("playground-call sluice-thumbnail canvas").first().waitFor();
      const fonts = (): Promise<readonly string[]> =>
        page.evaluate(() =>
          [...document.fonts]
            .filter(({ status }) => status === "loaded")
            .map(({ family }) => family.replaceAll(`"`, "")),
        );
      await expect.poll(fonts).toEqual(expect.arrayContaining(["Geist", "Geist Mono"]));
      await go(page, "Chat");
      await page.getByRole("textbox", { name: "Your question" }).waitFor();
      await go(page, "Try");
    });
  });

  test("a call is shown in its own tab and in another", async () => {
    await seen.page.waitForURL(/#\/try\/run\/demo\.sales_report\?quarter=Q3$/);
    const other = await seen.context.newPage();
    await other.goto(seen.page.url());
    for (const page of [seen.page, other]) await lookTwice(page, showing("playground-try", "demo.sales_report"));
  });

  test("an artifact is open in the drawer", async () => {
    const { page } = seen;
    await act(page.locator("playground-try sluice-artifact").first(), "Preview");
    await page.waitForURL(/\?artifact=session%3A/);
    await lookTwice(page, showing("playground-drawer", "960 × 540 pixels"));
    await page.keyboard.press("Escape");
  });

  test("a file of My Files is open", async () => {
    const { page } = seen;
    await act(page.locator("playground-try sluice-artifact").first(), "Save to My Files");
    await go(page, "My Files");
    await act(page.locator("playground-files sluice-artifact").first(), "Preview");
    await page.waitForURL(/#\/files\/\w+/);
    const other = await seen.context.newPage();
    await other.goto(page.url());
    await lookTwice(other, showing("playground-drawer", "960 × 540 pixels"));
  });

  test("a result that a link carries is shown to somebody who has never been here", async () => {
    const { page } = seen;
    await pick(page, "small.json", JSON.stringify({ content: [{ type: "text", text: "A small result." }] }));
    const link = await copyLink(page, "small.json");
    await using other = await visit({ url: link, waits: false });
    await lookTwice(other.page, showing("sluice-result-model", "A small result."));
    expect(other.complaints).toEqual([]);
  });

  test("nothing of it is complained of", () => {
    expect(seen.complaints).toEqual([]);
  });
}

describe("here", () => {
  checkAddresses(() => SITE_URL);
});

describe.each(["app/ui/dist/x", "a folder, #1 & 100 %"])("in %s", (path) => {
  const checkout = during(() => startIn(path), BUILD_TIMEOUT);

  test.each(["dist", "build/site"])("%s has the same bytes as here", async (built) => {
    expect(await hashFiles(join(checkout().folder, built))).toEqual(await hashFiles(join(root, built)));
  });

  checkAddresses(() => checkout().url);

  test("it is built again when it was moved with all that it built", { timeout: BUILD_TIMEOUT }, async () => {
    const moved = join(dirname(checkout().folder), "moved");
    await rename(checkout().folder, moved);
    await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: moved, env: checkout().env });
    expect(await hashFiles(join(moved, "dist"))).toEqual(await hashFiles(join(root, "dist")));
  });
});
