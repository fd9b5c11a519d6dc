/**
 * GitHub as its own server offers it: repositories, issues, pull requests.
 * @module
 */
import type { ExternalToolConfig } from "../config.js";

/** Each user signs in; the provider in the OAuthManager is `github`. */
export const github: ExternalToolConfig = {
  name: "github",
  description: "GitHub repositories, issues, pull requests",
  transport: "mcp",
  connection: "https://api.githubcopilot.com/mcp/",
  auth_type: "oauth2_user",
};
