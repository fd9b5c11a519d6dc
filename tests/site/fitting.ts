/**
 * Whether a page fits a narrow window, and can be touched.
 * @module
 */
import type { Page } from "playwright-core";

/** CSS pixels that a finger needs. */
const FINGER = 44;

/** What can be scrolled sideways and is neither a piece of code nor a preview. */
export async function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const look = (root: ParentNode, path: string): void => {
      for (const element of root.querySelectorAll<HTMLElement>("*")) {
        const { overflowX } = getComputedStyle(element);
        const scrolls = /auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1;
        if (scrolls && !element.matches("pre")) found.push(`${path} ${element.localName}.${element.className}`);
        if (element.shadowRoot !== null && element.localName !== "sluice-viewer") {
          look(element.shadowRoot, `${path} ${element.localName}`);
        }
      }
    };
    look(document, "");
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page");
    return found;
  });
}

/** What is touched, and is not as high as a finger needs; a label is touched for its field. */
export async function tooSmall(page: Page): Promise<readonly string[]> {
  return page.evaluate((least) => {
    const touched = "a[href], button, input, select, textarea, summary, [role=menuitem], [role=option], [role=tab]";
    const found: string[] = [];
    const look = (root: ParentNode): void => {
      for (const element of root.querySelectorAll<HTMLElement>("*")) {
        if (element.shadowRoot !== null) look(element.shadowRoot);
        if (!element.matches(touched) || !element.checkVisibility({ visibilityProperty: true })) continue;
        const { height: high } = (element.closest("label") ?? element).getBoundingClientRect();
        const name = element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40);
        if (high > 0 && high < least - 0.5) found.push(`${element.localName} "${name}": ${high} px`);
      }
    };
    look(document);
    return found;
  }, FINGER);
}
