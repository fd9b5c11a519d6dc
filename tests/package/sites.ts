/**
 * Apps as Vite builds and serves them, each answer under a content security policy.
 * @module
 */
import { preview, type InlineConfig } from "vite";

/** An app that is served. */
export interface Site {
  /** Ends with a slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** How Vite sees an app. */
export function projectOf(root: string, policy: string): InlineConfig {
  const answers = { port: 0, headers: { "Content-Security-Policy": policy } };
  return {
    root,
    configFile: false,
    logLevel: "error",
    worker: { format: "es" },
    server: answers,
    preview: answers,
  };
}

/** Where a server of Vite's listens. */
export function siteOf(server: { resolvedUrls: { local: string[] } | null; close(): Promise<void> }): Site {
  return { url: server.resolvedUrls?.local[0] ?? "", close: () => server.close() };
}

/** Serves what `vite build` left, under a policy. */
export async function served(root: string, policy: string): Promise<Site> {
  return siteOf(await preview(projectOf(root, policy)));
}
