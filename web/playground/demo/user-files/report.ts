/**
 * A report as a page of HTML that stands alone.
 * @module
 */
import { dollars, MONTHS, REGIONS, revenue, YEAR } from "../sales.js";

const STYLE =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:46rem;padding:0 1rem;color:#16324a;background:#fff}" +
  "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #cbd5de;padding:.3rem .6rem;text-align:right}" +
  "th:first-child,td:first-child{text-align:left}";

/** The year by region and quarter; `title` and `author` are anybody's. */
export function reportPage(title: string, author: string): string {
  const quarters = [0, 1, 2, 3];
  const head = ["Region", ...quarters.map((quarter) => `${MONTHS[quarter * 3]}–${MONTHS[quarter * 3 + 2]}`)];
  const rows = REGIONS.map((region, at) => [region, ...quarters.map((quarter) => dollars(sum(at, quarter)))]);
  const line = (tag: "th" | "td", cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style>` +
    `<h1>${escaped(title)}</h1><p>Revenue of ${YEAR}, written for ${escaped(author)}. The shop does not exist.</p>` +
    `<table>${line("th", head)}${rows.map((row) => line("td", row)).join("")}</table></html>`
  );
}

function sum(region: number, quarter: number): number {
  return [0, 1, 2].reduce((total, month) => total + revenue(region, quarter * 3 + month), 0);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
