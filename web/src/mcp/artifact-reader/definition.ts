/**
 * The tool and the resource template that hosts see, constant for a namespace.
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import { humanSize } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import type { ArtifactTool } from "../../core/types.js";
import { shortenText } from "./answer.js";

/** A tool in `tools/list`. */
export type ToolDefinition = Omit<ArtifactTool, "call">;

/** A resource in `resources/list`. `size` is in bytes. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  readonly size: number;
}

/** A template in `resources/templates/list`. */
export interface ListedTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** One of the contents of `resources/read`: text, or bytes in Base64. */
export type ReadContent = (
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string }
) & { readonly _meta?: object };

/** The result of `resources/read`. */
export interface ReadContents {
  readonly contents: readonly [ReadContent];
}

const SCHEME = "artifact://";

// Every server's list has it, so what is rare is told by the answers: of `info`, and of what is wrong. Hosts find it by its words.
const DESCRIPTION =
  "Reads an artifact: content of a tool result that was stored, not shown. Given its artifact:// uri alone it says how to read it; " +
  'else give one of bytes, lines, rows or pages ("1-50", the last 9 "-9"), pointer, search, query. For text, CSV, JSON, tables, PDF, Office, HTML, archives, images.';

const TEXT = { type: "string" } as const;

const explain = (description: string): object => ({ ...TEXT, description });

const PROPERTIES = {
  uri: TEXT,
  bytes: explain('"0-1023"'),
  lines: TEXT,
  rows: TEXT,
  pages: TEXT,
  pointer: explain('JSON Pointer: "/a/0"'),
  search: TEXT,
  query: explain("SQLite: SELECT a, SUM(b) FROM rows GROUP BY a; c->>'$.d' in JSON; JOIN 'artifact://…'"),
  sheet: explain('workbook, database table; cells: "Q1!B2:D40"'),
  entry: explain("file in archive"),
  as: { ...TEXT, enum: ["text", "links", "image"] },
  region: explain("x,y,w,h"),
  limit: { type: "integer" },
  header: { type: "integer" },
  delimiter: TEXT,
  encoding: TEXT,
} as const;

/**
 * The name of one of our tools, as MCP lists it. Codex makes `_` of every other sign in names, and a model has to find the name that a
 * sentence gives; ids and the store keep the namespace as it is.
 */
export function nameTool(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace.replace(/[^A-Za-z0-9_]/g, "_")}_${name}`;
}

/** The name of the tool that reads a namespace's artifacts, as the notes in results give it. */
export function readToolName(namespace: string): string {
  return nameTool(namespace, "artifact_read");
}

/** The tool that reads a namespace's artifacts. Pure, because hosts fingerprint definitions. */
export function readTool(namespace: string): ToolDefinition {
  return {
    name: readToolName(namespace),
    title: "Read an artifact",
    description: DESCRIPTION,
    inputSchema: { type: "object", properties: PROPERTIES, required: ["uri"] },
    // The other hints are about tools that change something.
    annotations: { readOnlyHint: true, openWorldHint: false },
    // Claude Code loads all other tools when a model looks for them.
    _meta: { "anthropic/alwaysLoad": true },
  };
}

/** The template for parts of artifacts as resources. */
export function resourceTemplate(namespace: string): ListedTemplate {
  return {
    uriTemplate: `${SCHEME}{id}{?bytes,lines,rows,pages,pointer}`,
    name: namespace === "" ? "artifact" : `${namespace}_artifact`,
    title: "Part of a stored artifact",
    description:
      "A range of bytes as a blob; lines, rows, pages or the value at a JSON Pointer as text. At most 4 MiB.",
  };
}

/** An artifact in a list of resources. Its file name is omitted, because it is untrusted. */
export function listing(ref: Described): ListedResource {
  const mimeType = plainType(ref.mime_type);
  const { description } = ref.source;
  return {
    uri: artifactUri(ref.id),
    name: ref.id,
    description: typeof description === "string" ? describe(ref) : `Stored, ${humanSize(ref.size_bytes)}`,
    ...(mimeType !== undefined && { mimeType }),
    size: ref.size_bytes,
  };
}

/** `artifact://<id>`. Ids need no encoding. */
export function artifactUri(id: string): string {
  return SCHEME + id;
}

const MAX_DESCRIPTION = 500;
const MAX_QUOTED = 60;

/** The parts of a reference that describe an artifact. */
type Described = Pick<ArtifactRef, "id" | "mime_type" | "size_bytes" | "source">;

/** One line that describes an artifact: the core's description, else type and size. */
export function describe(ref: Described): string {
  const said = ref.source.description;
  if (typeof said === "string" && said.trim() !== "") return shortenText(unhidden(said).trim(), MAX_DESCRIPTION);
  return `${plainType(ref.mime_type) ?? "of unknown type"}, ${humanSize(ref.size_bytes)}`;
}

/** A quoted file name that cannot break out of its quotes, without invisible characters, at most 60 characters. */
export function quoteName(filename: string): string {
  const defused = unhidden(filename)
    .replace(/[<>[\]()`*]/g, "_")
    .replace(/:\/\//g, "_");
  return JSON.stringify(shortenText(defused, MAX_QUOTED));
}

/** The caller's text in quotes, for an error. */
export function quote(text: string): string {
  return JSON.stringify(shortenText(text, MAX_QUOTED));
}

/** Replaces control, bidirectional, zero-width and tag characters, which hide or reorder text. */
function unhidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ");
}
