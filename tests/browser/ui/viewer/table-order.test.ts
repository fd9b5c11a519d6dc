/** `<sluice-viewer>`: tables that are sorted, filtered, and gone through by row numbers. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { parseNumber } from "../../../../web/ui/viewer/table-order.js";
import { eventually, refusedBy, violations } from "../support.js";
import { given, part, settled, viewing } from "./fixtures.js";

const REGIONS = ["North", "south", "East", ""];

/** 12,000 orders; the last ones have a text among the amounts, and identifiers longer than a double is exact. */
function orders(): string {
  const lines = Array.from({ length: 12_000 }, (_, at) => {
    const amount = at === 11_999 ? "n/a" : at === 11_998 ? "" : `${((at * 7919) % 12_000) / 4}`;
    return `${9_007_199_254_740_993n + BigInt(11_999 - at)},Customer ${at},${REGIONS[at % 4]},${amount},00${at % 7}`;
  });
  return `id,name,region,amount,code\n${lines.join("\n")}\n`;
}

let viewer: SluiceViewer;

beforeEach(async () => {
  viewer = await viewing(given(orders(), "text/csv", "orders.csv"));
  await settled(viewer);
});

/** Cells of a column in view, from the first row on. */
function column(name: string, count = 3): readonly string[] {
  const heads = [...viewer.renderRoot.querySelectorAll("[role=columnheader]")];
  const at = heads.findIndex((head) => head.textContent === name);
  return Array.from({ length: count }, (_, row) => {
    const line = viewer.renderRoot.querySelector(`[aria-rowindex="${row + 2}"]`);
    return line?.children[at]?.textContent ?? "missing";
  });
}

function header(name: string): HTMLElement {
  const heads = [...viewer.renderRoot.querySelectorAll<HTMLElement>("[role=columnheader]")];
  return heads.find((head) => head.textContent === name) as HTMLElement;
}

const status = (): string => viewer.renderRoot.querySelector(".bar [role=status]")?.textContent ?? "";
const press = (name: string): void => header(name).querySelector("button")?.click();

async function type(label: string, text: string): Promise<void> {
  const field = await part<HTMLInputElement>(viewer, `input[aria-label="${label}"]`);
  await userEvent.clear(field);
  if (text !== "") await userEvent.type(field, text);
}

test("a column of numbers is sorted by number, up, down, and back", async () => {
  expect(header("amount").ariaSort).toBe("none");
  press("amount");
  await eventually(() => expect(column("amount")).toEqual(["0", "0.25", "0.5"]));
  expect([header("amount").ariaSort, header("name").ariaSort]).toEqual(["ascending", "none"]);
  press("amount");
  await eventually(() => expect(column("amount")).toEqual(["2999.75", "2999.5", "2999.25"]));
  expect(header("amount").ariaSort).toBe("descending");
  press("amount");
  await eventually(() => expect(column("name")).toEqual(["Customer 0", "Customer 1", "Customer 2"]));
  expect(header("amount").ariaSort).toBe("none");
});

test("what is no number follows the numbers, and what is empty comes last", async () => {
  press("amount");
  const scroller = await part(viewer, ".table");
  await eventually(() => expect(scroller.ariaBusy).toBe("false"));
  scroller.scrollTop = scroller.scrollHeight;
  const last = (index: number): string | undefined =>
    viewer.renderRoot.querySelector(`[aria-rowindex="${index}"] [role=rowheader]`)?.textContent;
  await eventually(() => expect([last(12_000), last(12_001)]).toEqual(["12,000", "11,999"]));
});

test("identifiers of more digits than a number holds are told apart", async () => {
  press("id");
  await eventually(() => expect(column("id")).toEqual(["9007199254740993", "9007199254740994", "9007199254740995"]));
});

test("texts are sorted whatever their case, and rows of the same text stay in order", async () => {
  press("region");
  await eventually(() => expect(column("region", 1)).toEqual(["East"]));
  expect(column("#", 2)).toEqual(["3", "7"]);
  press("region");
  await eventually(() => expect(column("region", 1)).toEqual(["south"]));
  expect(column("#", 2)).toEqual(["2", "6"]);
});

test("rows are filtered by what is in any cell, and keep their numbers", async () => {
  await type("Filter rows", "CUSTOMER 1199");
  await eventually(() => expect(status()).toBe("11 of 12,000 rows"));
  expect(column("#", 3)).toEqual(["1,200", "11,991", "11,992"]);
  expect((await part(viewer, "[role=table]")).getAttribute("aria-rowcount")).toBe("12");
  press("name");
  await eventually(() => expect(column("name", 2)).toEqual(["Customer 1199", "Customer 11990"]));
  await type("Filter rows", "n/a(");
  await eventually(() => expect(status()).toBe("0 of 12,000 rows"));
  await type("Filter rows", "");
  await eventually(() => expect(status()).toBe("12,000 rows"));
});

describe("a row", () => {
  const first = (): string | null | undefined => {
    const top = viewer.renderRoot.querySelector(".head")?.getBoundingClientRect().bottom ?? 0;
    const rows = [...viewer.renderRoot.querySelectorAll(".rows .record")];
    return rows.find((row) => row.getBoundingClientRect().bottom > top + 2)?.firstElementChild?.textContent;
  };

  test("is gone to by its number", async () => {
    await type("Go to row", "10500");
    await userEvent.keyboard("{Enter}");
    await eventually(() => expect(first()).toBe("10,500"));
    expect(viewer.renderRoot.querySelector(".found [role=rowheader]")?.textContent).toBe("10,500");
  });

  test("beyond the last one is the last one", async () => {
    await type("Go to row", "99999999");
    await userEvent.keyboard("{Enter}");
    await eventually(() =>
      expect(viewer.renderRoot.querySelector(".found [role=rowheader]")?.textContent).toBe("12,000"),
    );
  });

  test("is gone to where it is sorted to, and missed where it is filtered out", async () => {
    await type("Filter rows", "north");
    await eventually(() => expect(status()).toBe("3,000 of 12,000 rows"));
    await type("Go to row", "6001");
    await userEvent.keyboard("{Enter}");
    await eventually(() => expect(first()).toBe("6,001"));
    await type("Go to row", "6002");
    await userEvent.keyboard("{Enter}");
    await eventually(() => expect(status()).toBe("Row 6,002 does not match the filter."));
  });
});

test("numbers stand at the right, under names that do", () => {
  const looks = (name: string): readonly string[] => {
    const cell = viewer.renderRoot.querySelector(`[aria-rowindex="2"] [aria-colindex="${header(name).ariaColIndex}"]`);
    return [getComputedStyle(cell as Element).textAlign, getComputedStyle(cell as Element).fontVariantNumeric];
  };
  expect(looks("id")).toEqual(["end", "tabular-nums"]);
  // Codes with leading zeros are no numbers.
  expect(looks("code")[0]).toBe("start");
  expect(looks("name")[0]).toBe("start");
});

test("it is sorted by keys, and the focus stays on the name", async () => {
  header("name").querySelector("button")?.focus();
  await userEvent.keyboard("{Enter}");
  await eventually(() => expect(header("name").ariaSort).toBe("ascending"));
  expect(header("name").contains((viewer.renderRoot as ShadowRoot).activeElement)).toBe(true);
});

test("nothing of it is out of reach of assistive technology, nor of a strict policy", async () => {
  press("amount");
  await type("Filter rows", "north");
  await eventually(() => expect(status()).toBe("3,000 of 12,000 rows"));
  expect(await violations(viewer)).toEqual([]);
  const refused = await refusedBy(async () => {
    press("amount");
    await vi.waitFor(() => expect(header("amount").ariaSort).toBe("descending"));
  });
  expect(refused).toEqual([]);
});

test.each([
  ["1,234.5", 1234.5],
  ["-3e4", -30_000],
  ["$12.50", 12.5],
  ["99 %", Number.NaN],
  ["99%", 99],
  ["007", Number.NaN],
  ["1,23", Number.NaN],
  ["-", Number.NaN],
  ["", Number.NaN],
])("%j as a number is %d", (text, number) => {
  expect(parseNumber(text)).toBe(number);
});
