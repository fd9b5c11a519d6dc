/**
 * Slack as its own server offers it.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Each user signs in; the provider in the OAuthManager is `slack`. */
export const slack: ExternalToolConfig = {
  name: "slack",
  description: "Slack channels, messages, users",
  transport: "mcp",
  connection: "https://mcp.slack.com/mcp",
  auth_type: "oauth2_user",
};
