/**
 * Builds and serves the site once, before its tests. The library that it is made of has to be built already.
 * @module
 */
import type { TestProject } from "vitest/node";
import { buildSite, serveSite, TEST_URL } from "../../scripts/site.mjs";

declare module "vitest" {
  export interface ProvidedContext {
    siteUrl: string;
  }
}

/** Vitest calls this before the first test. `SLUICE_SITE=built` uses the existing site. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (process.env["SLUICE_SITE"] !== "built") await buildSite({ url: TEST_URL });
  const site = await serveSite(0);
  provide("siteUrl", site.url);
  return () => site.close();
}
