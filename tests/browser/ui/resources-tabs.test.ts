/** `<sluice-resources>`: its lists are chosen by tabs. */
import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { violations } from "./accessible.js";
import { eventually } from "./eventually.js";
import { names, part, shown } from "./resources-reader.js";

test("arrow keys choose a list", async () => {
  const element = await shown({
    resources: [{ uri: "note://a", name: "a" }],
    templates: [{ uri_template: "x:{a}", name: "all" }],
  });
  part(element, "#tab-resources").focus();
  await userEvent.keyboard("{ArrowRight}");
  await eventually(() => expect(element.shadowRoot?.activeElement?.id).toBe("tab-templates"));
  expect(names(element)).toEqual(["all"]);
  await userEvent.keyboard("{End}");
  await eventually(() => expect(element.tab).toBe("cached"));
  expect(part(element, "#tab-cached").tabIndex).toBe(0);
});

test.each([1200, 390, 320, 240])("tabs stand in one line at %i pixels", async (width) => {
  await page.viewport(width, 800);
  const resources = Array.from({ length: 5_000 }, (_, at) => ({ uri: `x:${at}`, name: `n${at}` }));
  const element = await shown({ resources });
  const places = [...element.renderRoot.querySelectorAll("[role=tab]")].map((tab) => tab.getBoundingClientRect());
  expect(new Set(places.map(({ top }) => top)).size).toBe(1);
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width);
  expect(part(element, "[role=tablist]").scrollWidth <= width, "whole").toBe(width >= 320);
  part(element, "#tab-resources").focus();
  await userEvent.keyboard("{End}");
  await eventually(() => expect(part(element, "#tab-cached").getBoundingClientRect().right).toBeLessThanOrEqual(width));
  expect(await violations(element)).toEqual([]);
});
