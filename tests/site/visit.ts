/**
 * The site as it is built, opened by a new visitor in real Chromium; everything it asks for and complains of is noted.
 * @module
 */
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from "playwright-core";
import { createSluice, MemoryArtifactStore, type ArtifactRef, type SluiceConfig } from "../../dist/index.js";
import { findChromium } from "../../scripts/chromium.mjs";
import { serveSite } from "../../scripts/site.mjs";

/** The site, served. */
export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly browser: Browser;
}

/** A visitor. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, and what nobody caught. */
  readonly complaints: readonly string[];
  /** Addresses that were asked for over the network. */
  readonly requests: readonly string[];
}

/** Patience for what a loaded machine does slowly, in milliseconds. */
export const PATIENCE = 60_000;

/** Serves the site, and starts a browser. */
export async function served(): Promise<Served> {
  const site = await serveSite(0);
  const browser = await chromium.launch({ executablePath: findChromium() ?? "chromium" });
  return {
    url: site.url,
    browser,
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await site.close();
    },
  };
}

/** Opens the site as somebody who was never there, and waits for the first result unless told otherwise. */
export async function visit(
  { url, browser }: Served,
  { waits = true, ...options }: BrowserContextOptions & { readonly waits?: boolean } = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  context.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  if (waits) await firstResult(page);
  return { page, context, complaints, requests, [Symbol.asyncDispose]: () => context.close() };
}

/** Waits until the example that runs by itself has its result. */
export async function firstResult(page: Page): Promise<void> {
  await page.locator("sluice-result").first().waitFor();
  await page.locator("sluice-artifact").first().waitFor();
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

/** Connects a server by its address, from the first view, and waits until its tools are shown. */
export async function connect(page: Page, url: string): Promise<void> {
  await dial(page, url);
  await page.locator("playground-tools").getByRole("complementary").getByRole("listitem").first().waitFor();
}

/** Gives an address to the dialog, and waits for nothing. */
export async function dial(page: Page, url: string): Promise<void> {
  await go(page, "Try");
  await page
    .locator("playground-try")
    .getByRole("button", { name: /^Connect my server/ })
    .click();
  const form = page.locator("playground-servers dialog form");
  await form.locator("[name=url]").fill(url);
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

/** Everything that is in the document, shadow roots and what is written in fields included. */
export async function everything(page: Page): Promise<string> {
  return page.evaluate(() => {
    const parts: string[] = [];
    const look = (root: ParentNode): void => {
      for (const element of root.querySelectorAll("*")) {
        for (const { value } of element.attributes) parts.push(value);
        if ("value" in element) parts.push(String(element.value));
        for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) parts.push(String(node.nodeValue));
        if (element.shadowRoot !== null) look(element.shadowRoot);
      }
    };
    look(document);
    return parts.join("\n");
  });
}

/** A result in view: what the engine says of it, and its original. */
export interface InView {
  readonly tool: string;
  readonly server: string;
  readonly observation: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly artifacts: readonly ArtifactRef[];
  /** JSON text, as the server sent it. */
  readonly original: string;
}

/** What the page itself is given of the result in view, and the original that "Raw" shows. */
export async function inView(page: Page): Promise<InView> {
  return page.evaluate(async () => {
    const { store, actions } = document.querySelector("sluice-playground") as unknown as Innards;
    const { result, tool } = store.state.calls.find(({ id }) => id === store.state.call) ?? {};
    if (result === undefined || tool === undefined) throw new Error("There is no result in view.");
    const { id, server, observation, bytesIn, bytesOut, artifacts } = result;
    const original = await new Response(await actions.raw(id)).text();
    return { tool: tool.slice(tool.indexOf(".") + 1), server, observation, bytesIn, bytesOut, artifacts, original };
  });
}

/** What the library makes of the same JSON text for a model, in this process. */
export async function gated(
  { original, tool, server }: Pick<InView, "original" | "tool" | "server">,
  config: SluiceConfig = {},
): Promise<string> {
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
  const scope = { user_id: "ada", session_id: "s1" };
  await using stream = sluice.open({ tool, namespace: server, scope, dialect: "observation" });
  await stream.write(new TextEncoder().encode(original));
  return (await stream.close()).text;
}

/** What is used of the page's own objects. */
interface Innards {
  readonly store: {
    readonly state: {
      readonly call: string | undefined;
      readonly calls: readonly {
        readonly id: string;
        readonly tool: string;
        readonly result?: Omit<InView, "original" | "tool"> & { readonly id: string };
      }[];
    };
  };
  readonly actions: { raw(result: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> };
}

/** Gives files to the page as somebody does who picks them. */
export async function pick(page: Page, name: string, bytes: Uint8Array | string, mimeType = ""): Promise<void> {
  await go(page, "Try");
  const file = { name, mimeType, buffer: Buffer.from(bytes) };
  await page.locator("playground-try input[type=file]").setInputFiles(file);
  await page.locator("playground-try playground-call").getByRole("heading", { name, exact: true }).waitFor();
  await page.locator("playground-try playground-call").getByRole("button", { name: "Run again" }).waitFor();
}
