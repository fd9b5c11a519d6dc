/**
 * Builds and serves the site once, before its tests. The library that it is made of has to be built already.
 * @module
 */
import type { TestProject } from "vitest/node";
import { buildSite, serveSite } from "../../scripts/site.mjs";

declare module "vitest" {
  export interface ProvidedContext {
    siteUrl: string;
  }
}

/** Where the site is said to be served, for what other pages show of a link to it. */
export const PUBLIC_URL = "https://sluice.example/play/";

/** Vitest calls this before the first test. `SLUICE_SITE=built` uses the existing site. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (process.env["SLUICE_SITE"] !== "built") await buildSite({ url: PUBLIC_URL });
  const site = await serveSite(0);
  provide("siteUrl", site.url);
  return () => site.close();
}
