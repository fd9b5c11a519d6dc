/**
 * A browser, looked into with the developer tools of Chrome.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Starts a browser of its own without a window, and tells its makers nothing. */
export const chromeDevtools: ExternalToolConfig = {
  name: "chrome-devtools",
  description: "Inspect pages: network, console, performance, screenshots",
  transport: "mcp",
  connection: "npx -y chrome-devtools-mcp --headless --isolated --no-usage-statistics --no-performance-crux",
  timeout_s: 60,
  artifact_extraction: {
    tool_fields: {
      take_screenshot: [
        { field_path: "content.*.data", content_type: "screenshot", summary_template: "Screenshot, {description}." },
      ],
    },
  },
};
