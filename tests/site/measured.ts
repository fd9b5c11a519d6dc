/**
 * Numbers that tests see, each with its bar. They are the `meta` of the test, which Vitest's JSON report has: `npm run bench:site`
 * reads them there.
 * @module
 */
import { expect, type RunnerTestCase } from "vitest";
import { getCurrentTest } from "vitest/suite";
import type { CHECKS } from "./visitor-checks.js";

declare module "vitest" {
  interface TaskMeta {
    measurements?: Measurement[];
  }
}

/** What a number may be at most, or has to be at least. */
export type Bar = ({ readonly most: number } | { readonly least: number }) & { readonly unit: string };

/** The tag of what a number belongs to. */
export type Check = keyof typeof CHECKS;

/** A number that was seen. */
export type Measurement = Bar & { readonly check: Check; readonly what: string; readonly seen: number };

/** Milliseconds after which a person notices that they wait. */
const AT_ONCE = 1000;

/** Holds a number against its bar, in the running test, which goes on where it fails: what comes next may say more. */
export function measured(check: Check, what: string, seen: number, bar: Bar): void {
  putDown({ check, what, seen, ...bar });
  if ("most" in bar) expect.soft(seen).toBeLessThanOrEqual(bar.most);
  else expect.soft(seen).toBeGreaterThanOrEqual(bar.least);
}

/** Puts down for how many milliseconds something lasted. No test fails by it: the machine may do much else. */
export function took(check: Check, what: string, milliseconds: number, most: number = AT_ONCE): void {
  putDown({ check, what, seen: Math.round(milliseconds), most, unit: "ms" });
}

function putDown(measurement: Measurement): void {
  const { meta } = getCurrentTest<RunnerTestCase>();
  (meta.measurements ??= []).push(measurement);
}
