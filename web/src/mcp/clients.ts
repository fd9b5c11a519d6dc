/**
 * What MCP clients do with results, by the names that they introduce themselves with. `docs/hosts.md` has the evidence for each row,
 * with its date. What nobody has seen is not assumed.
 * @module
 */
import { objectOr, stringOr } from "../jsonrpc/rpc.js";

/** What a client does with results. */
export interface ClientTraits {
  /** Whether it shows image blocks to a model that sees. */
  readonly showsImages: boolean;
  /** Whether its model reads `_meta` of results: of all, or of those that are errors. */
  readonly printsMeta: "always" | "errors" | "never";
  /** Whether it takes links to artifacts, or calls throw at any link. */
  readonly links: "take" | "throw" | "unknown";
}

interface Row extends Partial<Omit<ClientTraits, "showsImages">> {
  /** Always, or from this version on. */
  readonly showsImages?: true | string;
}

/**
 * The rows, by name in lower case. A version is the first one that was seen to show images where older ones do not, or are unknown. Without
 * a version, the client tells none that means anything.
 */
const CLIENTS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["@langchain/mcp-adapters", { printsMeta: "always", links: "throw" }],
  ["claude-code", { showsImages: "2.0.0" }],
  ["codex-mcp-client", { showsImages: "0.53.0" }],
  ["cursor-vscode", { showsImages: true }],
  ["gemini-cli-mcp-client", { showsImages: true, printsMeta: "errors" }],
  ["mcp-inspector", { links: "take" }],
  ["opencode", { showsImages: "1.18.33" }],
  ["visual studio code", { showsImages: "1.100.0" }],
  ["visual studio code - insiders", { showsImages: "1.100.0" }],
]);

/** Most characters of a name or a version. Longer ones belong to no client of the table. */
const MAX_CHARS = 64;

/** Returns what is known of a client. `info` is what it says of itself: `clientInfo` of MCP. */
export function traitsOf(info: unknown): ClientTraits {
  const { name, version } = objectOr(info);
  const {
    showsImages = false,
    printsMeta = "never",
    links = "unknown",
  } = CLIENTS.get(bounded(name).toLowerCase()) ?? {};
  return {
    showsImages: typeof showsImages === "string" ? isSince(bounded(version), showsImages) : showsImages,
    printsMeta,
    links,
  };
}

function bounded(value: unknown): string {
  const text = stringOr(value) ?? "";
  return text.length > MAX_CHARS ? "" : text;
}

/** Compares versions. A pre-release counts as its release, and what is no version as older than any. */
function isSince(version: string, first: string): boolean {
  return /^\d/.test(version) && version.localeCompare(first, "en", { numeric: true }) >= 0;
}
