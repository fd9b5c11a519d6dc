/**
 * The tool and the resource template that hosts see, constant for a namespace.
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import { humanSize } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import type { ArtifactTool } from "../../core/types.js";
import { shortened } from "./answer.js";

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

const DESCRIPTION =
  "Reads an artifact: content of an earlier tool result that was stored instead of shown, named by an artifact:// URI. " +
  "With only the URI it says what the artifact is and which of the other arguments fit. Give at most one of bytes, " +
  "lines, rows, pages, pointer, search and query. PDF, Office, EPUB, HTML, images and archives are read too. " +
  "Every answer is short and says how to read on. Changes nothing.";

const PROPERTIES = {
  uri: { type: "string", description: "The artifact:// URI, as a result named it." },
  bytes: {
    type: "string",
    description:
      'A range of bytes from 0, last one included: "0-1023", "4096-", or "-512" for the end. Text, else hex.',
  },
  lines: { type: "string", description: 'Lines of text from 1, last one included: "1-50", "51-" or "7".' },
  rows: {
    type: "string",
    description:
      'Rows of CSV, TSV or a sheet (header repeated), NDJSON, elements of a JSON array, entries of an archive (path, bytes, modified), from 1: "1-20".',
  },
  pages: {
    type: "string",
    description: 'Text of pages, slides, sheets or sections of a document, from 1: "7" or "3-5".',
  },
  pointer: {
    type: "string",
    description: 'A JSON Pointer (RFC 6901) to one value of a JSON document: "/a/b/0"; "" is the whole document.',
  },
  search: {
    type: "string",
    description:
      "Plain text to find, upper and lower case alike. Says how many places there are, and shows at most 50.",
  },
  query: {
    type: "string",
    description:
      'SQL (SELECT) over the rows, as the table "rows": "SELECT city, SUM(price) FROM rows GROUP BY city". In a JSON object each ' +
      "array is a table by its key, in a workbook each sheet by its name. Text has the columns number and line. With pointer, rows are that array's.",
  },
  sheet: {
    type: "string",
    description:
      'A sheet of a workbook by name or number, for rows, query and search; cells of it for the first two: "Q1!B2:D40".',
  },
  entry: {
    type: "string",
    description: "The path of a file in an archive, to read that file: all other arguments are about it.",
  },
  as: {
    type: "string",
    enum: ["text", "links", "image"],
    description:
      "text: HTML as readable text; links: those of HTML or a document; image: an image, or a page of a PDF, as a picture.",
  },
  region: {
    type: "string",
    description: 'With as "image", a part to look closer at: "x,y,w,h" in pixels of the whole as it was shown.',
  },
  limit: { type: "integer", minimum: 1, description: "Most characters of content wanted, if fewer than usual." },
} as const;

/** The name of the tool that reads a namespace's artifacts, as the notes in results give it. */
export function readToolName(namespace: string): string {
  return namespace === "" ? "artifact_read" : `${namespace}_artifact_read`;
}

/** The tool that reads a namespace's artifacts. Pure, because hosts fingerprint definitions. */
export function readTool(namespace: string): ToolDefinition {
  return {
    name: readToolName(namespace),
    title: "Read a stored artifact",
    description: DESCRIPTION,
    inputSchema: { type: "object", properties: PROPERTIES, required: ["uri"], additionalProperties: false },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
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
  if (typeof said === "string" && said.trim() !== "") return shortened(unhidden(said).trim(), MAX_DESCRIPTION);
  return `${plainType(ref.mime_type) ?? "of unknown type"}, ${humanSize(ref.size_bytes)}`;
}

/** A quoted file name that cannot break out of its quotes, without invisible characters, at most 60 characters. */
export function quoteName(filename: string): string {
  const defused = unhidden(filename)
    .replace(/[<>[\]()`*]/g, "_")
    .replace(/:\/\//g, "_");
  return JSON.stringify(shortened(defused, MAX_QUOTED));
}

/** The caller's text in quotes, for an error. */
export function quote(text: string): string {
  return JSON.stringify(shortened(text, MAX_QUOTED));
}

/** Replaces control, bidirectional, zero-width and tag characters, which hide or reorder text. */
function unhidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ");
}
