/**
 * The built site, opened by a new visitor in Chromium, with its requests and console errors recorded.
 * @module
 */
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { beforeAll, inject } from "vitest";
import { launchChromium, recordComplaints } from "../support/chromium.js";

/** Where the site is served, for all tests. Ends with `/`. */
export const SITE_URL: string = inject("siteUrl");

/** A page and what happened in it. */
export interface Seen {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors and warnings, and uncaught errors. */
  readonly complaints: readonly string[];
  /** URLs that were requested. */
  readonly requests: readonly string[];
}

/** A visitor. */
export interface Visit extends Seen, AsyncDisposable {}

/** Options for a visit. */
export interface VisitOptions extends BrowserContextOptions {
  /** The page to open. Defaults to the site. */
  readonly url?: string | (() => string);
  /** Whether to wait for the first result. Defaults to true. */
  readonly waits?: boolean;
}

/** Milliseconds to wait for anything, on a busy machine. */
export const PATIENCE = 60_000;

let launched: Promise<Browser> | undefined;

/** The browser of this process: one for all files that it runs, since a visitor is a context of its own. */
function browser(): Promise<Browser> {
  return (launched ??= launchChromium());
}

/** Opens a page as a new visitor. */
export async function visit({ url = SITE_URL, waits = true, ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await (await browser()).newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints = recordComplaints(page);
  const requests: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  await page.goto(typeof url === "string" ? url : url());
  if (waits) await firstResult(page);
  return { page, context, complaints, requests, [Symbol.asyncDispose]: () => context.close() };
}

/** One visitor for the surrounding tests. */
export function visitor(options: VisitOptions = {}): Seen {
  const current = during(() => visit(options));
  return {
    get page() {
      return current().page;
    },
    get context() {
      return current().context;
    },
    get complaints() {
      return current().complaints;
    },
    get requests() {
      return current().requests;
    },
  };
}

/** Opens something before the surrounding tests, within `timeout` milliseconds, and disposes of it after them. */
export function during<T extends AsyncDisposable>(open: () => Promise<T>, timeout?: number): () => T {
  let opened: T | undefined;
  beforeAll(async () => {
    const it = await open();
    opened = it;
    return () => it[Symbol.asyncDispose]();
  }, timeout);
  return () => {
    if (opened === undefined) throw new Error("It is used before it is opened.");
    return opened;
  };
}

/** Waits until the example that runs by itself has its result, and the demo is connected behind it. */
export async function firstResult(page: Page): Promise<void> {
  await page.locator("sluice-result").first().waitFor();
  await page.locator("sluice-artifact").first().waitFor();
  await page
    .locator("playground-rail")
    .getByRole("button", { name: /^Tools, \d/ })
    .waitFor();
}

/** Loads the page anew, which comes back to where it was, and shows Try. Waits until it is ready for anything. */
export async function reload(page: Page): Promise<void> {
  await page.reload();
  await go(page, "Try");
  await firstResult(page);
  await page.getByRole("button", { name: "A PDF of 4 MB", disabled: false }).waitFor();
}

/** Waits until the page has written down what it remembers over a reload. */
export async function waitForMemory(page: Page): Promise<void> {
  await page.waitForFunction(() => localStorage.getItem("sluice.memory") === "true");
  await page.waitForTimeout(500);
}

/** Waits until the service worker answers for the page. */
export async function controlled(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
}

/** Shows a view by its button in the rail. */
export async function go(page: Page, view: string): Promise<void> {
  await page
    .locator("playground-rail")
    .getByRole("button", { name: new RegExp(`^${view}`) })
    .click();
}

/** Runs a tool by its form, with the fields that are named filled in, and waits for its result. */
export async function run(page: Page, tool: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
  await begin(page, tool, fields);
  await page.locator("playground-tools").getByRole("button", { name: "Run again" }).waitFor();
}

/** Runs a tool, and waits for nothing. */
export async function begin(page: Page, tool: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
  await go(page, "Tools");
  const view = page.locator("playground-tools");
  // A narrow window shows the tool of before in place of the list.
  const back = view.getByRole("button", { name: "All tools" });
  if (await back.isVisible()) await back.click();
  await view
    .getByRole("complementary")
    .getByRole("button", { name: new RegExp(`^${tool}`) })
    .click();
  for (const [name, value] of Object.entries(fields)) {
    const field = view.locator(`playground-arguments [name=${name}]`);
    if ((await field.evaluate((element) => element.localName)) === "select") await field.selectOption(value);
    else await field.fill(value);
  }
  await view.getByRole("button", { name: "Run", exact: true }).click();
}

/** Asks a question in the chat, and waits for nothing. */
export async function ask(page: Page, question: string): Promise<void> {
  await go(page, "Chat");
  const field = page.getByRole("textbox", { name: "Your question" });
  await page.locator("playground-chat").getByRole("button", { name: "Ask", exact: true }).waitFor();
  await field.fill(question);
  await field.press("Enter");
}

/** Connects a server by its address, from the first view, and waits until its tools are shown. */
export async function connect(page: Page, url: string, withFiles = false): Promise<void> {
  await dial(page, url, withFiles);
  await page.locator("playground-tools").getByRole("complementary").getByRole("listitem").first().waitFor();
}

/** Connects the demo whose tools work with My Files, and waits until its tools are shown. */
export async function connectFiles(page: Page): Promise<void> {
  await page.locator("playground-servers").getByRole("button").first().click();
  await page.getByRole("dialog", { name: "Servers" }).getByRole("button", { name: "Add it" }).click();
  await page
    .locator("playground-tools")
    .getByRole("button", { name: /^summarize_file/ })
    .waitFor();
}

/** Gives an address to the dialog, and waits for nothing. */
export async function dial(page: Page, url: string, withFiles = false): Promise<void> {
  await go(page, "Try");
  await page
    .locator("playground-try")
    .getByRole("button", { name: /^Connect my server/ })
    .click();
  const form = page.locator("playground-servers dialog form");
  await form.locator("[name=url]").fill(url);
  if (withFiles) await form.getByRole("checkbox", { name: /^Use my files/ }).check();
  await form.getByRole("button", { name: "Connect" }).click();
}

/** Does what an entry of the list says that ⌘K opens. */
export async function command(page: Page, name: string): Promise<void> {
  await page.locator("playground-bar").getByRole("button", { name: /^Find/ }).click();
  const palette = page.locator("playground-palette");
  await palette.getByRole("combobox").fill(name);
  await palette.getByRole("option", { name }).click();
}

/** Chooses one of an artifact's actions, which may be in its menu. */
export async function act(card: Locator, action: string): Promise<void> {
  const name = new RegExp(`^${action}`);
  await card.getByRole("button", { name: /^More actions/ }).waitFor();
  const button = card.getByRole("button", { name }).or(card.getByRole("link", { name }));
  if ((await button.count()) > 0) return button.first().click();
  await card.getByRole("button", { name: /^More actions/ }).click();
  await card.getByRole("menuitem", { name: action }).click();
}

/** Shows a file of My Files: beside the list, or below its line, where a second press would hide it again. */
export async function openFile(page: Page, name: string | RegExp): Promise<void> {
  const list = page.locator("playground-files").getByRole("list", { name: "Files" });
  const item = list.locator(".file").filter({ hasText: name }).first();
  await item.waitFor();
  if ((await item.getAttribute("aria-expanded")) !== "true") await item.click();
  await page.locator("playground-files .work").waitFor();
}

/** Gives files to the page as somebody does who picks them. */
export async function pick(page: Page, name: string, bytes: Uint8Array | string, mimeType = ""): Promise<void> {
  await go(page, "Try");
  const file = { name, mimeType, buffer: Buffer.from(bytes) };
  await page.locator("playground-try input[type=file]").setInputFiles(file);
  await page.locator("playground-try playground-call").getByRole("heading", { name, exact: true }).waitFor();
  await page.locator("playground-try playground-call").getByRole("button", { name: "Run again" }).waitFor();
}

/** Copies the link that carries a result, from its menu. */
export async function copyLink(page: Page, result: string): Promise<string> {
  await page.getByRole("button", { name: `Share ${result}` }).click();
  await page.getByRole("menuitem", { name: "Copy link" }).click();
  await page.getByText("The link is copied").waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The text that a model gets of the result that is shown, character for character. */
export async function exactly(scope: Locator): Promise<string | null> {
  const view = scope.locator("sluice-result-model");
  const exact = view.getByRole("button", { name: "Exact" });
  if ((await exact.getAttribute("aria-pressed")) === "false") await exact.click();
  return view.locator("code").textContent();
}
