/**
 * A browser, driven by Playwright.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Starts a browser of its own without a window, and forgets what it did. */
export const playwright: ExternalToolConfig = {
  name: "playwright",
  description: "Browse pages, click, type, take screenshots",
  transport: "mcp",
  connection: "npx -y @playwright/mcp --headless --isolated",
  timeout_s: 60,
  artifact_extraction: {
    tool_fields: {
      browser_take_screenshot: [
        { field_path: "content.*.data", content_type: "screenshot", summary_template: "Screenshot, {description}." },
      ],
    },
  },
};
