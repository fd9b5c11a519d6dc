/**
 * What only servers need that want a person to sign in: loaded for the first of them.
 * @module
 */
export { OAuthManager } from "mcp-sluice/tools";
