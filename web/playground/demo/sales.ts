/**
 * The figures of a fictional shop, which all demo tools share.
 * @module
 */
import { makeRandom } from "./random.js";

/** Where the shop sells. */
export const REGIONS: readonly string[] = ["Central", "East", "North", "South", "West"];

/** What the shop sells, each with its price in dollars. */
export const PRODUCTS: readonly (readonly [name: string, price: number])[] = [
  ["Trail tent", 289],
  ["Down jacket", 219],
  ["Rucksack 45 l", 164.5],
  ["Hiking boots", 149.9],
  ["Sleeping bag", 129],
  ["Rain shell", 98.5],
  ["Camp stove", 64.9],
  ["Head torch", 39.5],
  ["Water filter", 34.9],
  ["Wool socks", 14.9],
];

/** The quarters that there are figures of. */
export const QUARTERS: readonly string[] = ["Q1", "Q2", "Q3", "Q4"];

/** The year that all figures are of. */
export const YEAR = 2025;

/** Names of months, from January. */
export const MONTHS: readonly string[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** What one region took in one month, in whole dollars; `month` from 0, below it the year before. */
export function revenue(region: number, month: number): number {
  const chance = makeRandom(region * 97 + month * 13 + 5);
  const season = 1 + 0.35 * Math.sin(((month - 2) / 12) * 2 * Math.PI) + month * 0.018;
  return Math.round((210_000 + region * 38_000) * season * (0.88 + chance() * 0.24));
}

/** One order. */
export interface Order {
  /** Its number, `SO-100001`. */
  readonly order: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** One of REGIONS. */
  readonly region: string;
  /** One of PRODUCTS. */
  readonly product: string;
  /** How many were ordered. */
  readonly units: number;
  /** Dollars for one. */
  readonly price: number;
  /** Dollars for all. */
  readonly total: number;
}

/** That many orders, spread over the year. */
export function orders(count: number, seed = 1): Order[] {
  const chance = makeRandom(seed);
  const start = Date.UTC(YEAR, 0, 1);
  return Array.from({ length: count }, (_, i) => {
    const [product, price] = PRODUCTS[Math.floor(chance() * PRODUCTS.length)] ?? ["", 0];
    const units = 1 + Math.floor(chance() ** 3 * 12);
    return {
      order: `SO-${String(100_001 + i)}`,
      date: new Date(start + Math.floor((i / count) * 365) * 86_400_000).toISOString().slice(0, 10),
      region: REGIONS[Math.floor(chance() * REGIONS.length)] ?? "",
      product,
      units,
      price,
      total: Math.round(units * price * 100) / 100,
    };
  });
}

/** Orders as CSV with a line of names (RFC 4180); no field needs quotes. */
export function csv(rows: readonly Order[]): string {
  const lines = rows.map((row) => Object.values(row).join(","));
  return `order,date,region,product,units,price,total\r\n${lines.map((line) => `${line}\r\n`).join("")}`;
}

/** A whole number with separators: `1,204,300`. Without Intl, which takes long to start. */
export function formatNumber(amount: number): string {
  return String(Math.round(amount)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Whole dollars: `$1,204,300`. */
export function dollars(amount: number): string {
  return `$${formatNumber(amount)}`;
}
