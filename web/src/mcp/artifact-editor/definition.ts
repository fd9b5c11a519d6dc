/**
 * The tool that edits artifacts, as hosts see it: constant for a namespace.
 * @module
 */
import type { ArtifactTool } from "../../core/types.js";

/** A tool in `tools/list`. */
export type EditTool = Omit<ArtifactTool, "call">;

const DESCRIPTION =
  "Makes a changed copy of an artifact and answers with the copy's artifact:// URI, to pass on as an argument or edit again: " +
  "use it instead of writing long content yourself. Give one kind of edit: old_string and new_string for text; patch for " +
  "a JSON document; cells, add_rows, delete_rows for CSV, TSV, NDJSON or a JSON array, whose rows count from 1 as they " +
  "are before the edit. The artifact itself stays as it is.";

const VALUE = { description: "Any JSON value." } as const;

const CELL = { description: 'Any JSON value; in CSV, a string is written as it is: "7.50".' } as const;

const PROPERTIES = {
  uri: { type: "string", description: "The artifact:// URI of what to change." },
  old_string: {
    type: "string",
    description: "Exact text to replace. It must occur once: include enough of what surrounds it.",
  },
  new_string: { type: "string", description: 'The text in its place; "" deletes.' },
  replace_all: { type: "boolean", description: "Replaces every occurrence." },
  patch: {
    type: "array",
    description: "JSON Patch (RFC 6902).",
    items: {
      type: "object",
      properties: {
        op: { type: "string", enum: ["add", "remove", "replace", "move", "copy", "test"] },
        path: { type: "string" },
        from: { type: "string" },
        value: VALUE,
      },
      required: ["op", "path"],
    },
  },
  cells: {
    type: "array",
    description: "Cells to set.",
    items: {
      type: "object",
      properties: {
        row: { type: "integer" },
        column: { type: "string", description: "Its name, or its number from 1." },
        value: CELL,
      },
      required: ["row", "column", "value"],
    },
  },
  add_rows: { type: "array", description: "Rows to add, as arrays or as objects by column.", items: {} },
  before_row: { type: "integer", description: "Adds them before this row, not at the end." },
  delete_rows: { type: "string", description: 'Rows to delete: "7", "5-7" or "2,5-7".' },
} as const;

/** The names of all arguments. */
export const EDIT_ARGUMENTS: readonly string[] = Object.keys(PROPERTIES);

/** The tool that edits a namespace's artifacts. Pure, because hosts fingerprint definitions. */
export function editTool(namespace: string): EditTool {
  return {
    name: editToolName(namespace),
    title: "Edit a stored artifact",
    description: DESCRIPTION,
    inputSchema: { type: "object", properties: PROPERTIES, required: ["uri"], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** The name of the tool that edits a namespace's artifacts. */
export function editToolName(namespace: string): string {
  return namespace === "" ? "artifact_edit" : `${namespace}_artifact_edit`;
}
