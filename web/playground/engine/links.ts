/**
 * Resources that a result names and does not hold. All of it is a server's.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import type { KeptResult } from "./gating.js";

/** Links of one result. */
const MAX_LINKS = 100;
/** Characters of a URI, and of what is said of it. */
const [MAX_URI, MAX_SAID] = [8192, 500];

/** The resource links among a result's blocks, each URI once, as artifacts that are not there yet. */
export function linksIn({ tool, server, reduced }: Pick<KeptResult, "tool" | "server" | "reduced">): ShownArtifact[] {
  const links = new Map<string, ShownArtifact>();
  for (const block of blocksIn(reduced.text)) {
    if (links.size >= MAX_LINKS) break;
    const { type, uri, name, title, description, mimeType, size } = objectOf(block);
    if (type !== "resource_link" || typeof uri !== "string" || uri.length > MAX_URI || links.has(uri)) continue;
    links.set(uri, {
      id: `link-${links.size + 1}`,
      filename: said(name) ?? uri.slice(0, MAX_SAID),
      mime_type: said(mimeType) ?? null,
      namespace: server,
      ...(typeof size === "number" && { size_bytes: size }),
      source: { tool, uri, description: said(description) ?? said(title) },
      deferred: true,
    });
  }
  return [...links.values()];
}

function blocksIn(text: string): readonly unknown[] {
  try {
    const { content } = objectOf(JSON.parse(text));
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}

function said(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_SAID) : undefined;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
