/**
 * The app in `app/tools`, opened in a browser, and asked.
 * @module
 */
import type { Browser, BrowserContext, Page } from "playwright-core";

/** Where the app answers. */
export const PLACES = ["page", "worker"] as const;
export type Place = (typeof PLACES)[number];

/** The app, opened by a new user. */
export interface Visit extends AsyncDisposable {
  readonly context: BrowserContext;
  /** What the console said. */
  readonly complaints: readonly string[];
  /** Asks one of the questions of `app/tools/answers.js`. */
  ask(place: Place, question: string, terms?: object): Promise<unknown>;
}

/** Opens the app, and waits until it can be asked. */
export async function open(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  // The provider's pages have fonts from elsewhere.
  await context.route(
    ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
    (route) => route.abort(),
  );
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url);
  await page.locator("output:not(:empty)").waitFor();
  return {
    context,
    complaints,
    ask: (place, question, terms = {}) => asked(page, [place, question, terms]),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

interface App {
  ask(...asking: readonly unknown[]): Promise<unknown>;
}

function asked(page: Page, asking: readonly unknown[]): Promise<unknown> {
  return page.evaluate((all) => (globalThis as unknown as App).ask(...all), asking);
}
