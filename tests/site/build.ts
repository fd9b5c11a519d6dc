/**
 * Builds the site once, before any test of it. The library it is made of is the caller's to build.
 * @module
 */
import { buildSite } from "../../scripts/site.mjs";

/** Vitest calls this before the first test; `SLUICE_SITE=built` takes the site as it is. */
export async function setup(): Promise<void> {
  if (process.env["SLUICE_SITE"] !== "built") await buildSite();
}
