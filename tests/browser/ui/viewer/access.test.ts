/** `<sluice-viewer>`: for keyboards, screen readers and strict pages. */
import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { refusedBy, violations } from "../support.js";
import { given, type Given, part, pdf, png, settled, viewing, wav } from "./fixtures.js";

const CSV = `name,amount\n${"Anna,12\n".repeat(200)}`;
const CODE = `// A comment\nexport function add(a: number, b: number): number {\n  return a + b; // "sum"\n}\n`.repeat(
  20,
);
const FILES: readonly (readonly [string, () => Promise<Given>, string])[] = [
  ["an image", async () => given(await png(200, 100), "image/png", "chart.png"), "img"],
  ["a PDF", () => Promise.resolve(given(pdf(3), "application/pdf", "report.pdf")), "canvas"],
  ["a page", () => Promise.resolve(given("<h1>Hello</h1>", "text/html", "page.html")), "iframe"],
  ["code", () => Promise.resolve(given(CODE, "text/x-typescript", "add.ts")), ".token-comment"],
  ["a table", () => Promise.resolve(given(CSV, "text/csv", "rows.csv")), ".record .cell"],
  ["sound", () => Promise.resolve(given(wav(), "audio/wav", "tone.wav")), "audio"],
  ["bytes", () => Promise.resolve(given(new Uint8Array(5000), null, "data")), ".bytes"],
];

function focused(viewer: SluiceViewer): string {
  const { activeElement } = viewer.shadowRoot ?? {};
  return activeElement?.id || activeElement?.textContent.trim() || (activeElement?.className ?? "");
}

describe.each(FILES)("with %s", (_, file, sign) => {
  test("axe finds nothing in any tab, in both themes", async () => {
    const viewer = await viewing(await file());
    await part(viewer, sign);
    const found = [...(await violations(viewer))];
    for (const tab of ["source", "info"] as const) {
      viewer.tab = tab;
      await viewer.updateComplete;
      if (tab === "source") await part(viewer, ".row");
      found.push(...(await violations(viewer)));
    }
    expect(found).toEqual([]);
  });

  test("nothing is wider than a narrow page", async () => {
    const viewer = await viewing(await file());
    await page.viewport(390, 700);
    await part(viewer, sign);
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
    const small = [...viewer.renderRoot.querySelectorAll("button, a.button, input")].filter(
      (each) => each.checkVisibility() && each.getBoundingClientRect().height < 44,
    );
    expect(small).toEqual([]);
  });
});

test("tabs are gone through with arrows, and shown at once", async () => {
  const viewer = await viewing(given("text", "text/plain", "a.txt"));
  await settled(viewer);
  (await part(viewer, "#tab-preview")).focus();
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-source"));
  expect(viewer.tab).toBe("source");
  await userEvent.keyboard("{End}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-info"));
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-preview"));
  const chosen = [...viewer.renderRoot.querySelectorAll("[role=tab]")].map(({ ariaSelected }) => ariaSelected);
  expect(chosen).toEqual(["true", "false", "false"]);
  expect((await part(viewer, "[role=tabpanel]")).getAttribute("aria-labelledby")).toBe("tab-preview");
});

test("Tab goes from the file to its tabs, what is drawn, and on", async () => {
  const viewer = await viewing(given(CSV, "text/csv", "rows.csv"));
  await settled(viewer);
  const seen: string[] = [];
  for (let step = 0; step < 3; step += 1) {
    await userEvent.keyboard("{Tab}");
    seen.push(focused(viewer));
  }
  expect(seen[0]).toBe("Download");
  expect(seen[1]).toBe("tab-preview");
  expect(viewer.shadowRoot?.activeElement?.className).toBe("table");
});

// Last, since the policy stays with the page.
test("a page without inline styles and scripts refuses nothing", async () => {
  const refused = await refusedBy(async () => {
    for (const [, file, sign] of FILES) {
      const viewer = await viewing(await file());
      await part(viewer, sign);
    }
  });
  expect(refused).toEqual([]);
});
