/**
 * Tableau Server and Tableau Cloud.
 * @module
 */
import type { ToolFieldConfig } from "../../core/config.js";
import type { ExternalToolConfig } from "../config.js";

const view: ToolFieldConfig = {
  field_path: "content.*.data",
  content_type: "view",
  summary_template: "View, {description}.",
};

/** Wants TABLEAU_SERVER, TABLEAU_SITE (empty for the default site), TABLEAU_PAT_NAME and TABLEAU_PAT_VALUE. */
export const tableau: ExternalToolConfig = {
  name: "tableau",
  description: "Tableau workbooks, views and data sources",
  transport: "mcp",
  connection: "npx -y @tableau/mcp-server",
  env: {
    SERVER: "${TABLEAU_SERVER}",
    SITE_NAME: "${TABLEAU_SITE}",
    PAT_NAME: "${TABLEAU_PAT_NAME}",
    PAT_VALUE: "${TABLEAU_PAT_VALUE}",
    // Otherwise its makers are told of every call.
    PRODUCT_TELEMETRY_ENABLED: "false",
  },
  // Views are rendered when they are asked for.
  timeout_s: 120,
  artifact_extraction: {
    tool_fields: {
      "get-view-image": [view],
      "get-custom-view-image": [view],
      // Names and answers of RFC 0.3, Appendix B. Tableau's own server has no such tools: its download-workbook, off
      // unless it is asked for, answers with a path or a link.
      download_workbook: [
        {
          field_path: "content",
          content_type: "workbook",
          summary_template: "Workbook '{name}', {description}.",
        },
      ],
      get_view_as_pdf: [
        {
          field_path: "pdf_data",
          content_type: "pdf",
          mime_type: "application/pdf",
          summary_template: "View '{view_name}', {description}.",
        },
      ],
    },
  },
};
