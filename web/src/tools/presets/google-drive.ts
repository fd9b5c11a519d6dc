/**
 * Google Drive as its own server offers it.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Each user signs in; the provider in the OAuthManager is `google-drive`. */
export const googleDrive: ExternalToolConfig = {
  name: "google-drive",
  description: "Google Drive files and folders",
  transport: "mcp",
  connection: "https://drivemcp.googleapis.com/mcp/v1",
  auth_type: "oauth2_user",
  artifact_extraction: {
    tool_fields: {
      download_file_content: [
        { field_path: "content", content_type: "file", summary_template: "'{title}' from Drive, {description}." },
      ],
    },
  },
};
