/**
 * The tool that edits artifacts, as hosts see it: constant for a namespace.
 * @module
 */
import type { ArtifactTool } from "../../core/types.js";
import { nameTool } from "../artifact-reader/definition.js";

/** A tool in `tools/list`. */
export type EditTool = Omit<ArtifactTool, "call">;

// Every server's list has it, so what is rare is told by the answers to what is wrong.
const DESCRIPTION =
  "Makes a changed copy of an artifact and answers with its URI. One kind of edit a call: old_string and new_string; patch, of JSON " +
  "(RFC 6902); or cells, add_rows, delete_rows, of CSV or a JSON array, numbered from 1 before the edit.";

const TEXT = { type: "string" } as const;

const LIST = { type: "array" } as const;

const PROPERTIES = {
  uri: TEXT,
  old_string: TEXT,
  new_string: TEXT,
  replace_all: { type: "boolean" },
  patch: { ...LIST, items: { type: "object" } },
  cells: { ...LIST, description: "{row, column, value}", items: { type: "object" } },
  add_rows: { ...LIST, items: {} },
  before_row: { type: "integer" },
  delete_rows: { ...TEXT, description: '"2,5-7"' },
} as const;

/** The names of all arguments. */
export const EDIT_ARGUMENTS: readonly string[] = Object.keys(PROPERTIES);

/** The tool that edits a namespace's artifacts. Pure, because hosts fingerprint definitions. */
export function editTool(namespace: string): EditTool {
  return {
    name: editToolName(namespace),
    title: "Edit an artifact",
    description: DESCRIPTION,
    inputSchema: { type: "object", properties: PROPERTIES, required: ["uri"] },
    // It changes nothing that is there; that it writes is what MCP assumes.
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

/** The name of the tool that edits a namespace's artifacts. */
export function editToolName(namespace: string): string {
  return nameTool(namespace, "artifact_edit");
}
