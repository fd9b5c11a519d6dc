/**
 * The resources of the demo server, some of which change. Loaded when a client asks for them.
 * @module
 */
import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/client";
import { base64 } from "../base64.js";
import { type Live, METRICS, NOTE } from "./live.js";
import { MONTHS, PRODUCTS, QUARTERS, REGIONS, revenue, YEAR } from "./sales.js";

const CATALOGUE = "catalogue://products.csv";
const YEARS: readonly string[] = [YEAR - 2, YEAR - 1, YEAR].map(String);
/** Resources on one page of the list. */
const PAGE = 4;

const RESOURCES: readonly Resource[] = [
  {
    uri: NOTE,
    name: "today",
    title: "Today's note",
    description: "Changes when write_note is called.",
    mimeType: "text/plain",
  },
  {
    uri: METRICS,
    name: "live",
    title: "Live metrics",
    description: "Changes every five seconds while you are subscribed.",
    mimeType: "application/json",
  },
  { uri: CATALOGUE, name: "products.csv", title: "Products", description: "Names and prices.", mimeType: "text/csv" },
  ...QUARTERS.map((quarter) => ({
    uri: `report://sales/${quarter}`,
    name: `sales-${quarter.toLowerCase()}.pdf`,
    title: `Sales report ${quarter} ${YEAR}`,
    description: "A PDF of 4 MB.",
    mimeType: "application/pdf",
  })),
];

/** The resource templates. */
export const TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: "report://sales/{quarter}",
    name: "sales_report",
    title: "Sales report of a quarter",
    description: `A PDF of 4 MB; quarters of ${YEAR}.`,
    mimeType: "application/pdf",
  },
  {
    uriTemplate: "table://{region}/{year}",
    name: "sales_by_month",
    title: "A region's sales by month",
    description: "A small CSV table.",
    mimeType: "text/csv",
  },
];

const VARIABLES: Readonly<Record<string, readonly string[]>> = { quarter: QUARTERS, region: REGIONS, year: YEARS };

/** One page of the list; undefined for an unknown cursor. */
export function readPage(cursor: string | undefined): { resources: Resource[]; nextCursor?: string } | undefined {
  const from = cursor === undefined ? 0 : Number(cursor);
  if (cursor !== undefined && !(from > 0 && from % PAGE === 0 && from < RESOURCES.length)) return undefined;
  const next = from + PAGE;
  const resources = RESOURCES.slice(from, next);
  return next < RESOURCES.length ? { resources, nextCursor: String(next) } : { resources };
}

/** The contents of a resource; undefined for an unknown URI. */
export async function readContents(uri: string, live: Live): Promise<ReadResourceResult | undefined> {
  if (uri === NOTE) return text(uri, "text/plain", live.note);
  if (uri === METRICS) return text(uri, "application/json", live.metrics);
  if (uri === CATALOGUE)
    return text(uri, "text/csv", `product,price\r\n${PRODUCTS.map((row) => `${row.join(",")}\r\n`).join("")}`);
  const { quarter = "", region, year } = REPORT.exec(uri)?.groups ?? TABLE.exec(uri)?.groups ?? {};
  if (QUARTERS.includes(quarter)) {
    const { salesReport } = await import("./report.js");
    return { contents: [{ uri, mimeType: "application/pdf", blob: base64(salesReport(quarter)) }] };
  }
  const table = byMonth(region, year);
  return table === undefined ? undefined : text(uri, "text/csv", table);
}

/** Whether a URI is listed. */
export function isResource(uri: string): boolean {
  return RESOURCES.some((resource) => resource.uri === uri);
}

/** Values of a template's variable that start with a text, ignoring case. */
export function completeVariable(template: string, variable: string, written: string): readonly string[] {
  const isThere = TEMPLATES.some(
    ({ uriTemplate }) => uriTemplate === template && uriTemplate.includes(`{${variable}}`),
  );
  const values = isThere ? (VARIABLES[variable] ?? []) : [];
  return values.filter((value) => value.toLowerCase().startsWith(written.toLowerCase()));
}

const REPORT = /^report:\/\/sales\/(?<quarter>\w{1,8})$/;
const TABLE = /^table:\/\/(?<region>\w{1,16})\/(?<year>\d{4})$/;

/** A region's revenue in each month of a year, as CSV. */
function byMonth(region = "", year = ""): string | undefined {
  const index = REGIONS.findIndex((name) => name.toLowerCase() === region.toLowerCase());
  if (index < 0 || !YEARS.includes(year)) return undefined;
  const before = (YEAR - Number(year)) * MONTHS.length;
  return `month,revenue\r\n${MONTHS.map((month, i) => `${month} ${year},${revenue(index, i - before)}\r\n`).join("")}`;
}

function text(uri: string, mimeType: string, content: string): ReadResourceResult {
  return { contents: [{ uri, mimeType, text: content }] };
}
