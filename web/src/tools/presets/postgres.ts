/**
 * A PostgreSQL database, by DBHub: the reference server that ToolNode 2.1 names is no longer maintained, and lets a
 * statement behind `COMMIT;` out of its read-only transaction.
 * @module
 */
import type { ToolFieldConfig } from "../../core/config.js";
import type { ExternalToolConfig } from "../config.js";

/** A column of `{"type": "Buffer", "data": […]}`. */
const bytea = (field_path: string): ToolFieldConfig => ({
  field_path,
  content_type: "binary data",
  summary_template: "bytea, {description}.",
});

/**
 * Wants DATABASE_URL. Transactions are read-only where a statement does not ask for another kind; what makes sure is a
 * role that may only read.
 */
export const postgres: ExternalToolConfig = {
  name: "postgres",
  description: "Query PostgreSQL databases",
  transport: "mcp",
  connection: "npx -y @bytebase/dbhub --transport=stdio",
  env: {
    // Not an argument: those are shown to everybody on the machine, and the password is in it.
    DSN: "${DATABASE_URL}",
    // DBHub says of itself that it is read-only in a file alone; its driver hands this to the database.
    PGOPTIONS: "-c default_transaction_read_only=on",
  },
  // With the drivers of all databases it takes a while until it is fetched for the first time.
  timeout_s: 120,
  artifact_extraction: {
    tool_fields: {
      // The second is what versions before 1.0 answer, the last ones for Node 20.
      execute_sql: [bytea("data.statements.*.rows.*.*.data"), bytea("data.rows.*.*.data")],
    },
  },
};
