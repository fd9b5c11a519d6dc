/**
 * Files below one folder, by the reference server for them.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Wants FILESYSTEM_ROOT, the folder that may be used. */
export const filesystem: ExternalToolConfig = {
  name: "filesystem",
  description: "Read and write files in one folder",
  transport: "mcp",
  connection: "npx -y @modelcontextprotocol/server-filesystem ${FILESYSTEM_ROOT}",
  artifact_extraction: {
    tool_fields: {
      // The server sends the block a second time as structured content, where nothing says that it is bytes.
      read_media_file: [
        { field_path: "structuredContent.content.*.data", content_type: "media file" },
        { field_path: "structuredContent.content.*.resource.blob", content_type: "file" },
      ],
    },
  },
};
