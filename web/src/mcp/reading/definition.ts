/**
 * What hosts are told of reading back: one tool and one template, the same for a namespace always.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import { humanSize } from "../../core/amounts.js";
import { described, type Described } from "./untrusted.js";
import type { ListedResource, ListedTemplate, ReadTool } from "./wire.js";

const SCHEME = "artifact://";

const DESCRIPTION =
  "Reads an artifact: content of an earlier tool result that was stored instead of shown, named by an artifact:// URI. " +
  "With only the URI it says what the artifact is and which of the other arguments fit. Give at most one of bytes, " +
  "lines, rows, pointer and search. Every answer is short and says how to read on. Changes nothing.";

const PROPERTIES = {
  uri: { type: "string", description: "The artifact:// URI, as a result named it." },
  bytes: {
    type: "string",
    description:
      'A range of bytes from 0, last one included: "0-1023", "4096-", or "-512" for the end. Text, else hex.',
  },
  lines: { type: "string", description: 'Lines of a text from 1, last one included: "1-50", "51-" or "7".' },
  rows: {
    type: "string",
    description: 'Rows of CSV or TSV (header repeated), NDJSON, or elements of a JSON array, from 1: "1-20".',
  },
  pointer: {
    type: "string",
    description: 'A JSON Pointer (RFC 6901) to one value of a JSON document: "/a/b/0"; "" is the whole document.',
  },
  search: { type: "string", description: "Plain text to find, upper and lower case alike; at most 50 places." },
  limit: { type: "integer", minimum: 1, description: "Most characters of content wanted, if fewer than usual." },
} as const;

/** The name of the tool that reads a namespace's artifacts, as the notes in results say it. */
export function readToolName(namespace: string): string {
  return namespace === "" ? "artifact_read" : `${namespace}_artifact_read`;
}

/** The tool that reads a namespace's artifacts. A pure function: hosts fingerprint definitions. */
export function readTool(namespace: string): ReadTool {
  return {
    name: readToolName(namespace),
    title: "Read a stored artifact",
    description: DESCRIPTION,
    inputSchema: { type: "object", properties: PROPERTIES, required: ["uri"], additionalProperties: false },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** The template by which parts of artifacts are read as resources. */
export function resourceTemplate(namespace: string): ListedTemplate {
  return {
    uriTemplate: `${SCHEME}{id}{?bytes,lines,rows,pointer}`,
    name: namespace === "" ? "artifact" : `${namespace}_artifact`,
    title: "Part of a stored artifact",
    description: "A range of bytes as a blob; lines, rows or the value at a JSON Pointer as text. At most 4 MiB.",
  };
}

/** An artifact in a list of resources. Its file name is not in it: that is a server's word. */
export function listing(ref: Described): ListedResource {
  const mimeType = plainType(ref.mime_type);
  const { description } = ref.source;
  return {
    uri: artifactUri(ref.id),
    name: ref.id,
    description: typeof description === "string" ? described(ref) : `Stored, ${humanSize(ref.size_bytes)}`,
    ...(mimeType !== undefined && { mimeType }),
    size: ref.size_bytes,
  };
}

/** `artifact://<id>`; nothing in an id needs to be encoded. */
export function artifactUri(id: string): string {
  return SCHEME + id;
}
