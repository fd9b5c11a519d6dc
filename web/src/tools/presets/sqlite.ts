/**
 * A SQLite database in a file.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Wants SQLITE_FILE, the path of the database. */
export const sqlite: ExternalToolConfig = {
  name: "sqlite",
  description: "Query and change a SQLite database",
  transport: "mcp",
  connection: "npx -y mcp-server-sqlite-npx ${SQLITE_FILE}",
  artifact_extraction: {
    tool_fields: {
      // A BLOB: a column of `{"type": "Buffer", "data": […]}`.
      read_query: [{ field_path: "*.*.data", content_type: "binary data", summary_template: "BLOB, {description}." }],
    },
  },
};
