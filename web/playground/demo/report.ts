/**
 * A quarter's report as a PDF of about 4 MB: three pages with a chart, a table and pictures. The PDF is written by hand (ISO 32000-1),
 * with nothing compressed.
 * @module
 */
import { landscape, type Picture } from "./picture.js";
import { dollars, MONTHS, PRODUCTS, QUARTERS, REGIONS, revenue, formatNumber, YEAR } from "./sales.js";

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

/** The title of the report of a quarter such as `Q3`. */
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
    ["Orders", formatNumber(sum / 118)],
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

/** Red, green and blue from 0 to 1. */
type Ink = readonly [red: number, green: number, blue: number];

/** The style of a text. */
interface TextStyle {
  /** Points; 10 when left out. */
  readonly size?: number;
  /** Not so when left out. */
  readonly bold?: boolean;
  /** Nearly black when left out. */
  readonly ink?: Ink;
  /** Where `x` is; `left` when left out. Exact for numbers alone: of other characters no widths are known. */
  readonly align?: "left" | "center" | "right";
}

/** What is drawn on one page, in order. */
class Sheet {
  readonly #operators: string[] = [];

  /** The operators so far. */
  get drawing(): string {
    return this.#operators.join("\n");
  }

  /** A filled rectangle. */
  box(x: number, y: number, width: number, height: number, ink: Ink): void {
    this.#operators.push(`${ink.join(" ")} rg ${[x, y, width, height].map(short).join(" ")} re f`);
  }

  /** A horizontal line. */
  rule(x: number, y: number, width: number, ink: Ink): void {
    this.box(x, y, width, 0.6, ink);
  }

  /** One line of text. */
  text(x: number, y: number, text: string, { size = 10, bold = false, ink = BLACK, align }: TextStyle = {}): void {
    const width = align === undefined || align === "left" ? 0 : measureWidth(text) * size;
    const left = x - (align === "center" ? width / 2 : width);
    const font = bold ? "/F2" : "/F1";
    this.#operators.push(
      `${ink.join(" ")} rg BT ${font} ${size} Tf ${short(left)} ${short(y)} Td ${literal(text)} Tj ET`,
    );
  }

  /** The page's picture. */
  picture(x: number, y: number, width: number, height: number): void {
    this.#operators.push(`q ${short(width)} 0 0 ${short(height)} ${short(x)} ${short(y)} cm /Im1 Do Q`);
  }
}

const BLACK: Ink = [0.1, 0.12, 0.16];

/** In units of the size, as in Helvetica; other characters as its average. */
const WIDTHS: ReadonlyMap<string, number> = new Map([
  ..."0123456789$".split("").map((digit): [string, number] => [digit, 0.556]),
  [",", 0.278],
  [".", 0.278],
  [" ", 0.278],
  ["+", 0.584],
  ["-", 0.333],
  ["%", 0.889],
  ["k", 0.5],
]);

function measureWidth(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (WIDTHS.get(character) ?? 0.53), 0);
}

function short(points: number): string {
  return String(Math.round(points * 100) / 100);
}

/** A4, in points. */
export const PAGE = { width: 595, height: 842 } as const;

/** One page. */
interface PdfPage {
  /** Operators that draw, with the fonts /F1 (Helvetica) and /F2 (bold) and the picture /Im1. */
  readonly drawing: string;
  /** The picture /Im1. */
  readonly picture: Picture;
}

const CATALOG = 1;
const TREE = 2;
const INFO = 3;
const FONTS = [4, 5] as const;
/** The first of three objects per page: the page, its drawing and its picture. */
const FIRST_PAGE = 6;

/** A PDF 1.4. `title` and the drawings' texts are Latin-1. */
export function pdf(title: string, pages: readonly PdfPage[]): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, i) => `${FIRST_PAGE + i * 3} 0 R`);
  return assemblePdf([
    [`<< /Type /Catalog /Pages ${TREE} 0 R /Lang (en) >>`],
    [`<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(" ")}] >>`],
    [`<< /Title ${literal(title)} /Producer (Sluice demo) >>`],
    ...["Helvetica", "Helvetica-Bold"].map((name): Body => [
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`,
    ]),
    ...pages.flatMap((page, i) => pageObjects(page, FIRST_PAGE + i * 3)),
  ]);
}

/** A text as PDF writes it. */
function literal(text: string): string {
  return `(${text.replace(/[\\()]/g, "\\$&")})`;
}

type Body = readonly (string | Uint8Array)[];

function pageObjects({ drawing, picture }: PdfPage, number: number): Body[] {
  const fonts = FONTS.map((font, i) => `/F${i + 1} ${font} 0 R`).join(" ");
  const resources = `<< /Font << ${fonts} >> /XObject << /Im1 ${number + 2} 0 R >> >>`;
  const box = `[0 0 ${PAGE.width} ${PAGE.height}]`;
  const image = `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height}`;
  return [
    [`<< /Type /Page /Parent ${TREE} 0 R /MediaBox ${box} /Resources ${resources} /Contents ${number + 1} 0 R >>`],
    stream("", toBytes(drawing)),
    stream(`${image} /ColorSpace /DeviceRGB /BitsPerComponent 8`, picture.rgb),
  ];
}

function stream(entries: string, data: Uint8Array): Body {
  return [`<< ${entries} /Length ${data.length} >>\nstream\n`, data, "\nendstream"];
}

/** Header, numbered objects, a offsets of their offsets, a trailer that points at the offsets. */
function assemblePdf(objects: readonly Body[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const write = (part: string | Uint8Array): void => {
    const bytes = typeof part === "string" ? toBytes(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  write("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
  const offsets = objects.map((body, i) => {
    const offset = length;
    for (const part of [`${i + 1} 0 obj\n`, ...body, "\nendobj\n"]) write(part);
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const references = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  write(
    `${references}trailer\n<< /Size ${size} /Root ${CATALOG} 0 R /Info ${INFO} 0 R >>\nstartxref\n${length}\n%%EOF\n`,
  );
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function toBytes(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (character) => character.charCodeAt(0));
}
