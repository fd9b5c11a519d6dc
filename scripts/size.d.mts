/** What of the package has a budget. */
export type Part =
  | "core"
  | "mcp-sluice"
  | "mcp-sluice/mcp"
  | "mcp-sluice/browser"
  | "mcp-sluice/node"
  | "mcp-sluice/tools"
  | "mcp-sluice/tools in Node"
  | "mcp-sluice/planner"
  | "mcp-sluice/planner/redis"
  | "mcp-sluice/s3"
  | "mcp-sluice/serve"
  | "mcp-sluice/serve/redis"
  | "sluice"
  | "tarball";
/** Bytes, gzipped, at most. */
export const BUDGETS: Readonly<Record<Part, number>>;
/** Gzipped bytes of everything in `BUDGETS`, of a tarball and the folder that it was installed to. */
export function measure(tarball: string, folder: string): Promise<Readonly<Record<Part, number>>>;
/** Bytes as kilobytes of 1000. */
export function kilo(bytes: number): string;
