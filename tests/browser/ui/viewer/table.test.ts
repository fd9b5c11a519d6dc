/** `<sluice-viewer>`: tables, however long or wide. */
import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { given, notice, part, settled, texts, viewing } from "./fixtures.js";

const ROWS = 60_000;

function csv(rows: number, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `column ${i}`).join(",");
  const lines = Array.from({ length: rows }, (_, at) =>
    Array.from({ length: columns }, (_each, column) => `${at}.${column}`).join(","),
  );
  return `${names}\n${lines.join("\n")}\n`;
}

/** Every node in the document, those in shadow trees too. */
function nodes(root: Node): number {
  let count = 1;
  if (root instanceof Element && root.shadowRoot) count += nodes(root.shadowRoot);
  for (const child of root.childNodes) count += nodes(child);
  return count;
}

function row(viewer: SluiceViewer, index: number): readonly string[] {
  const found = viewer.renderRoot.querySelector(`[aria-rowindex="${index}"]`);
  return [...(found?.children ?? [])].map((cell) => cell.textContent);
}

async function attributes(viewer: SluiceViewer): Promise<readonly (string | null)[]> {
  const table = await part(viewer, "[role=table]");
  return [table.getAttribute("aria-rowcount"), table.getAttribute("aria-colcount")];
}

test("60,000 rows are few nodes, and reading them does not block the page", async () => {
  const file = given(csv(ROWS, 12), "text/csv", "rows.csv");
  // Making it is a task of its own.
  await page.viewport(1000, 700);
  const tasks: number[] = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: "longtask" });
  const viewer = await viewing(file);
  await settled(viewer);
  const scroller = await part(viewer, ".table");
  expect(await attributes(viewer)).toEqual([String(ROWS + 1), "13"]);
  expect(row(viewer, 1).slice(0, 3)).toEqual(["#", "column 0", "column 1"]);
  expect(row(viewer, 2).slice(0, 3)).toEqual(["1", "0.0", "0.1"]);
  await vi.waitFor(() => {
    scroller.scrollTop = scroller.scrollHeight;
    expect(row(viewer, ROWS + 1).slice(0, 2)).toEqual(["60,000", "59999.0"]);
  });
  for (const { shadowRoot } of document.querySelectorAll("sluice-viewer")) {
    for (const number of shadowRoot?.querySelectorAll(".record .number") ?? []) {
      expect(number.scrollWidth).toBeLessThanOrEqual(number.clientWidth);
    }
  }
  observer.disconnect();
  // Told rather than tested: others may take the processor meanwhile.
  console.log(`longest task: ${Math.round(Math.max(0, ...tasks))} ms; ${nodes(document)} nodes`);
  expect(nodes(document)).toBeLessThan(5000);
});

test("the head stays on top, and keys scroll", async () => {
  const viewer = await viewing(given(csv(1000, 4), "text/csv", "rows.csv"));
  await settled(viewer);
  const scroller = await part(viewer, ".table");
  scroller.focus();
  await userEvent.keyboard("{PageDown}");
  await vi.waitFor(() => expect(scroller.scrollTop).toBeGreaterThan(100));
  const head = await part(viewer, ".head");
  await vi.waitFor(() => expect(head.getBoundingClientRect().top).toBeCloseTo(scroller.getBoundingClientRect().top, 0));
  await userEvent.keyboard("{End}");
  await vi.waitFor(() => expect(row(viewer, 1001)[0]).toBe("1,000"));
});

test("of many columns the first 200 are shown, those in view drawn", async () => {
  const viewer = await viewing(given(csv(500, 300), "text/csv", "wide.csv"));
  await settled(viewer);
  expect(await attributes(viewer)).toEqual(["501", "201"]);
  expect(notice(viewer)).toBe("The first 200 of 300 columns are shown.");
  expect(nodes(document)).toBeLessThan(5000);
  const scroller = await part(viewer, ".table");
  scroller.scrollLeft = scroller.scrollWidth;
  await vi.waitFor(() => expect(row(viewer, 2).at(-1)).toBe("0.199"));
  const last = [...viewer.renderRoot.querySelectorAll("[role=columnheader]")].at(-1);
  expect(last?.getAttribute("aria-colindex")).toBe("201");
  expect(nodes(document)).toBeLessThan(5000);
});

describe("CSV", () => {
  test.each([
    ["quotes", "text/csv", 'a,b\n"x, ""y""\nz",2\n', ['x, "y"\nz', "2"]],
    ["semicolons and \\r\\n", "text/csv", "a;b\r\n1;2\r\n", ["1", "2"]],
    ["tabs", "text/tab-separated-values", "a,b\tc\n1,1\t2\n", ["1,1", "2"]],
    ["rows that are too long", "text/csv", "a\n1,2\n", ["1", "2"]],
  ])("with %s", async (_, type, text, cells) => {
    const viewer = await viewing(given(text, type, "a.csv"));
    await settled(viewer);
    await vi.waitFor(() => expect(row(viewer, 2).slice(1)).toEqual(cells));
  });

  test("above the limit shows its first part", async () => {
    const line = `${"x".repeat(99)}\n`;
    const viewer = await viewing(given(new Blob(["name\n", line.repeat(115_000)]), "text/csv", "long.csv"));
    await settled(viewer);
    expect(notice(viewer)).toBe("The first 10.0 MB of 11.0 MB is shown. Load all (11.0 MB)");
  });

  test("that is one endless quote is shown as text", async () => {
    const viewer = await viewing(given(`a,b\n"${"x".repeat(3_000_000)}`, "text/csv", "bomb.csv"));
    await settled(viewer);
    await part(viewer, ".text .line");
    expect(viewer.renderRoot.querySelector(".table")).toBeNull();
  });
});

describe("JSON", () => {
  test("arrays of objects are tables, with a column for each name", async () => {
    const rows = [{ a: 1, b: "x, ]y" }, { b: '\\"', c: { d: [1] } }, 5];
    const viewer = await viewing(given(JSON.stringify(rows), "application/json", "rows.json"));
    await settled(viewer);
    await vi.waitFor(() => expect(row(viewer, 4)).toHaveLength(5));
    expect([1, 2, 3, 4].map((index) => row(viewer, index).slice(1))).toEqual([
      ["a", "b", "c", "value"],
      ["1", "x, ]y", "", ""],
      ["", '\\"', '{"d":[1]}', ""],
      ["", "", "", "5"],
    ]);
  });

  test("numbers stay as they are written", async () => {
    const viewer = await viewing(given('[{"n": 12345678901234567890, "x": 1.0e400}]', "application/json", "n.json"));
    await settled(viewer);
    await vi.waitFor(() => expect(row(viewer, 2).slice(1)).toEqual(["12345678901234567890", "1.0e400"]), {
      timeout: 20_000,
    });
  });

  test("60,000 objects are few nodes", async () => {
    const rows = Array.from({ length: ROWS }, (_, id) => ({ id, name: `Customer ${id}`, amount: id * 1.5 }));
    const viewer = await viewing(given(JSON.stringify(rows), "application/json", "rows.json"));
    await settled(viewer);
    expect(await attributes(viewer)).toEqual([String(ROWS + 1), "4"]);
    expect(nodes(document)).toBeLessThan(5000);
  });

  test("lines of objects are tables", async () => {
    const viewer = await viewing(given('{"a":1}\n\n{"a":2}', "application/x-ndjson", "a.ndjson"));
    await settled(viewer);
    await vi.waitFor(() => expect(row(viewer, 3)).toEqual(["2", "2"]));
  });

  test.each([
    ["an object", '{"a": [{"b": 1}]}'],
    ["an array of numbers", "[1, 2]"],
    ["an empty array", "[]"],
    ["broken from the start", "[{]"],
    ["empty", ""],
  ])("that is %s is shown as code", async (_, text) => {
    const viewer = await viewing(given(text, "application/json", "a.json"));
    await settled(viewer);
    await vi.waitFor(() => expect(texts(viewer, ".written").join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, "")));
  });

  test("what is broken behind the first rows keeps those", async () => {
    const viewer = await viewing(given('[{"a":1},{"a":}]', "application/json", "a.json"));
    await settled(viewer);
    expect(notice(viewer)).toBe("The text after the last row is not JSON and is left out.");
    await vi.waitFor(() => expect(row(viewer, 2)).toEqual(["1", "1"]));
  });
});
