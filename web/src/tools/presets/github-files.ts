/**
 * Files of GitHub repositories, each stored whole: to be handed on to other tools instead of being read by a model.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Wants GITHUB_TOKEN, a token that may read the repositories. */
export const githubFiles: ExternalToolConfig = {
  name: "github-files",
  description: "Files of GitHub repositories, stored as artifacts",
  transport: "mcp",
  connection: "https://api.githubcopilot.com/mcp/x/repos/readonly",
  auth_type: "bearer",
  auth_config: { token: "${GITHUB_TOKEN}" },
  tool_filter: ["get_file_contents$", "search_code$"],
  artifact_extraction: {
    tool_fields: {
      // Files of bytes come as typed blocks, which are always stored; files of text only where they are long.
      get_file_contents: [
        { field_path: "content.*.resource.text", content_type: "file", summary_template: "File {uri}, {description}." },
      ],
    },
  },
};
