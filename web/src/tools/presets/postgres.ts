/**
 * A PostgreSQL database, by the reference server for it.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Wants DATABASE_URL. The server opens read-only transactions; a role that may only read is safer. */
export const postgres: ExternalToolConfig = {
  name: "postgres",
  description: "Query PostgreSQL databases",
  transport: "mcp",
  // The server takes the URL as an argument and looks at no variable.
  connection: "npx -y @modelcontextprotocol/server-postgres ${DATABASE_URL}",
  artifact_extraction: {
    tool_fields: {
      // bytea: a column of `{"type": "Buffer", "data": […]}`.
      query: [{ field_path: "*.*.data", content_type: "bytea", summary_template: "bytea, {description}." }],
    },
  },
};
