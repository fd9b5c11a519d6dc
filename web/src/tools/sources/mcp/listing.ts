/**
 * Lists of resources as a server sends them: entries that are none of MCP's cost only themselves.
 * @module
 */
import { objectOr } from "../../../mcp/rpc.js";
import type { ServerMessage } from "./before-client.js";

/** Members of an entry that are read, beside what it is known by. */
const TEXTS = ["title", "description", "mimeType"] as const;

/** What lists are called, and what their entries are known by. */
const LISTS = [
  ["resources", "uri"],
  ["resourceTemplates", "uriTemplate"],
] as const;

/** Entries of one page that are kept account of. */
const MAX_ENTRIES = 100_000;

/**
 * A message as it is, or with lists that a client takes. Of each entry only what is read is left; one that lacks something,
 * or has it in a wrong type, becomes one without a URI, which is left out and counted like any other that cannot be shown.
 */
export function withFitEntries(message: ServerMessage): ServerMessage {
  const result = objectOr(message["result"]);
  for (const [list, key] of LISTS) {
    const entries = result[list];
    if (!Array.isArray(entries)) continue;
    const fit = entries.slice(0, MAX_ENTRIES).map((entry: unknown) => fitEntry(entry, key) ?? { [key]: "", name: "" });
    return { ...message, result: { ...result, [list]: fit } };
  }
  return message;
}

function fitEntry(entry: unknown, key: string): ServerMessage | undefined {
  const given = objectOr(entry);
  const { name, size } = given;
  if (typeof given[key] !== "string" || typeof name !== "string") return undefined;
  if (size !== undefined && !Number.isFinite(size)) return undefined;
  const texts = TEXTS.filter((text) => given[text] !== undefined);
  if (texts.some((text) => typeof given[text] !== "string")) return undefined;
  return {
    [key]: given[key],
    name,
    ...Object.fromEntries(texts.map((text) => [text, given[text]])),
    ...(size !== undefined && { size }),
  };
}
