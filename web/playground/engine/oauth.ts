/**
 * The OAuth client. Loaded for the first server that asks for a sign-in.
 * @module
 */
export { OAuthManager } from "mcp-sluice/tools";
