/**
 * The installed Chromium, and what its pages complain of. Debian's `chromium` and its headless shell differ a little: the tests pass
 * with either.
 * @module
 */
import { chromium, type Browser, type Page } from "playwright-core";
import { findChromium } from "../../scripts/chromium.mjs";

// The driver of the checkout: the servers of `tests/e2e` bring one of another version.
export type { Browser, Frame, Page } from "playwright-core";

/** Starts the browser of the tests. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? "chromium" });
}

/** What counts as a complaint. */
export interface ComplaintOptions {
  /** Whether everything that the console says counts, not its errors and warnings alone. */
  readonly isStrict?: boolean;
}

/** Records what a page's console complains of, as `type: text`, and its uncaught errors, from now on. */
export function recordComplaints(page: Page, { isStrict = false }: ComplaintOptions = {}): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const [type, text] = [message.type(), message.text()];
    // The full browser asks every host for an icon, and the headless shell does not. Few servers of tests have one.
    if (URL.canParse(message.location().url) && new URL(message.location().url).pathname === "/favicon.ico") return;
    // The driver's own note where it blocks service workers.
    if (text.startsWith("Service Worker registration blocked")) return;
    if (isStrict || type === "error" || type === "warning") complaints.push(`${type}: ${text}`);
  });
  page.on("pageerror", ({ message }) => complaints.push(message));
  return complaints;
}
