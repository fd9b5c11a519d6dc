/**
 * A quarter's report: three pages with a chart, a table and pictures, as a PDF of about 4 MB.
 * @module
 */
import { pdf, type PdfPage } from "./pdf.js";
import { landscape } from "./picture.js";
import { dollars, MONTHS, PRODUCTS, QUARTERS, REGIONS, revenue, separated, YEAR } from "./sales.js";
import { Sheet, type Ink } from "./sheet.js";

/** Pixels of each picture: three of them are what makes the file large. */
const PICTURE = { width: 820, height: 567 } as const;
const LEFT = 48;
const WIDE = 499;
const NAVY: Ink = [0.09, 0.17, 0.3];
const GREY: Ink = [0.42, 0.46, 0.52];
const PALE: Ink = [0.93, 0.95, 0.97];
const WHITE: Ink = [1, 1, 1];
/** One of each month of a quarter. */
const SERIES: readonly Ink[] = [
  [0.16, 0.42, 0.69],
  [0.2, 0.63, 0.6],
  [0.93, 0.6, 0.22],
];

/** What the report of a quarter, such as `Q3`, is called. */
export function reportTitle(quarter: string): string {
  return `Sales report ${quarter} ${YEAR}`;
}

/** The report of one of QUARTERS. */
export function salesReport(quarter: string): Uint8Array<ArrayBuffer> {
  const index = QUARTERS.indexOf(quarter);
  const months = [0, 1, 2].map((month) => index * 3 + month);
  const sheets = [overview(quarter, months), table(quarter, months), outlook(quarter, index)];
  const pages = sheets.map((sheet, i): PdfPage => {
    sheet.picture(LEFT, 52, WIDE, (WIDE * PICTURE.height) / PICTURE.width);
    footer(sheet, i + 1, quarter);
    const picture = landscape(PICTURE.width, PICTURE.height, index * 10 + i + 3, index + i);
    return { drawing: sheet.drawing, picture };
  });
  return pdf(reportTitle(quarter), pages);
}

function overview(quarter: string, months: readonly number[]): Sheet {
  const sheet = new Sheet();
  sheet.box(0, 762, 595, 80, NAVY);
  sheet.text(LEFT, 798, reportTitle(quarter), { size: 26, bold: true, ink: WHITE });
  sheet.text(LEFT, 778, "Fieldwork Outdoor Supply \xb7 figures of a shop that does not exist", {
    ink: [0.78, 0.84, 0.92],
  });
  const sum = total(months);
  const before = total(months.map((month) => month - 3));
  const change = ((sum - before) / before) * 100;
  const tiles = [
    ["Revenue", dollars(sum)],
    ["Orders", separated(sum / 118)],
    ["Average order", "$118"],
    ["Against the quarter before", `${change < 0 ? "" : "+"}${change.toFixed(1)}%`],
  ] as const;
  for (const [i, [name, value]] of tiles.entries()) {
    const x = LEFT + i * 127;
    sheet.box(x, 694, 118, 54, PALE);
    sheet.text(x + 9, 731, name, { size: 8, ink: GREY });
    sheet.text(x + 9, 708, value, { size: 17, bold: true, ink: NAVY });
  }
  chart(sheet, months);
  return sheet;
}

/** Groups of bars, one for each region, over an axis. */
function chart(sheet: Sheet, months: readonly number[]): void {
  const [base, tall, step] = [436, 200, 100_000];
  sheet.text(LEFT, 668, "Revenue by region and month", { size: 13, bold: true, ink: NAVY });
  for (const [i, month] of months.entries()) {
    sheet.box(418 + i * 46, 668, 9, 9, SERIES[i] ?? NAVY);
    sheet.text(430 + i * 46, 668, MONTHS[month] ?? "", { size: 9, ink: GREY });
  }
  const amounts = REGIONS.map((_, region) => months.map((month) => revenue(region, month)));
  const top = Math.ceil(Math.max(...amounts.flat()) / step) * step;
  for (let mark = 0; mark <= top; mark += step) {
    const y = base + (mark / top) * tall;
    sheet.rule(LEFT + 34, y, WIDE - 34, mark === 0 ? GREY : [0.85, 0.87, 0.9]);
    sheet.text(LEFT + 28, y - 3, mark === 0 ? "$0" : `$${mark / 1000}k`, { size: 8, ink: GREY, align: "right" });
  }
  for (const [region, bars] of amounts.entries()) {
    const x = LEFT + 46 + region * 93;
    for (const [i, amount] of bars.entries()) {
      const height = (amount / top) * tall;
      sheet.box(x + i * 24, base, 21, height, SERIES[i] ?? NAVY);
      sheet.text(x + i * 24 + 10.5, base + height + 3, `${Math.round(amount / 1000)}k`, {
        size: 7,
        ink: GREY,
        align: "center",
      });
    }
    sheet.text(x + 34.5, base - 13, REGIONS[region] ?? "", { size: 9, bold: true, align: "center" });
  }
}

function table(quarter: string, months: readonly number[]): Sheet {
  const sheet = heading(`Products in ${quarter}`, "Dollars, all regions together");
  const shares = PRODUCTS.map(([, price], i) => price ** 0.6 * (1 + ((i * 7) % 5) / 6));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const columns = ["Product", ...months.map((month) => MONTHS[month] ?? ""), "Quarter"];
  const line = (y: number, cells: readonly string[], bold: boolean, ink?: Ink): void => {
    for (const [i, cell] of cells.entries()) {
      const x = i === 0 ? LEFT + 10 : LEFT + 150 + i * 85;
      sheet.text(x, y, cell, { bold, align: i === 0 ? "left" : "right", ...(ink !== undefined && { ink }) });
    }
  };
  sheet.box(LEFT, 734, WIDE, 22, NAVY);
  line(741, columns, true, WHITE);
  const sums = months.map((month) => total([month]));
  for (const [i, [name]] of PRODUCTS.entries()) {
    const y = 712 - i * 22;
    if (i % 2 === 1) sheet.box(LEFT, y, WIDE, 22, PALE);
    const amounts = sums.map((sum) => (sum * (shares[i] ?? 0)) / whole);
    line(y + 7, [name, ...[...amounts, total(months) * ((shares[i] ?? 0) / whole)].map(dollars)], false);
  }
  const last = 712 - PRODUCTS.length * 22;
  sheet.rule(LEFT, last + 21, WIDE, NAVY);
  line(last + 7, ["Total", ...[...sums, total(months)].map(dollars)], true);
  return sheet;
}

function outlook(quarter: string, index: number): Sheet {
  const sheet = heading("Outlook", `What follows ${quarter}`);
  const next = QUARTERS[(index + 1) % QUARTERS.length] ?? "";
  const paragraphs = [
    [
      "Demand",
      `Orders for ${next} are ahead of plan in three of five regions. West remains the largest,`,
      "and Central grows fastest from a small base.",
    ],
    [
      "Stock",
      "Tents and boots are available from all five warehouses. Down jackets are short until",
      "the second delivery, which is at sea.",
    ],
    [
      "Prices",
      "Freight costs eased a little. Prices stay as they are; the discount on rucksacks ends",
      "with the season.",
    ],
    [
      "Returns",
      "3.1% of orders came back, mostly boots in the wrong size. The new size guide is online",
      "and will show its effect in the next report.",
    ],
  ] as const;
  for (const [i, [title, ...lines]] of paragraphs.entries()) {
    const y = 736 - i * 76;
    sheet.box(LEFT, y - 38, 3, 50, SERIES[i % SERIES.length] ?? NAVY);
    sheet.text(LEFT + 14, y, title, { size: 12, bold: true, ink: NAVY });
    for (const [row, text] of lines.entries()) sheet.text(LEFT + 14, y - 17 - row * 15, text, { size: 10.5 });
  }
  return sheet;
}

function heading(title: string, below: string): Sheet {
  const sheet = new Sheet();
  sheet.text(LEFT, 792, title, { size: 20, bold: true, ink: NAVY });
  sheet.text(LEFT, 774, below, { ink: GREY });
  sheet.rule(LEFT, 764, WIDE, [0.8, 0.83, 0.87]);
  return sheet;
}

function footer(sheet: Sheet, page: number, quarter: string): void {
  sheet.text(LEFT, 28, reportTitle(quarter), { size: 8, ink: GREY });
  sheet.text(LEFT + WIDE, 28, `${page} / 3`, { size: 8, ink: GREY, align: "right" });
}

function total(months: readonly number[]): number {
  return REGIONS.reduce((sum, _, region) => months.reduce((part, month) => part + revenue(region, month), sum), 0);
}
