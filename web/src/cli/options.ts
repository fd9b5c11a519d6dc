/**
 * Options that several commands have.
 * @module
 */
import type { OptionSpec } from "./spec.js";

/** Where artifacts are kept. */
export const STORE: OptionSpec = {
  name: "store",
  value: "DIR",
  help: "the store's folder; left out, `sluice` in your cache folder",
};

/** Where results go. */
export const RESULTS: OptionSpec = { ...STORE, value: "DIR|memory", help: `${STORE.help}; \`memory\` keeps nothing` };

/** Whose artifacts are meant, of those that are kept. */
export const SCOPE: OptionSpec = {
  name: "scope",
  value: "K=V",
  multiple: true,
  help: "only this scope, the option once for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out); keys not given match null only. Left out, all scopes",
};

/** Whose the artifacts of a result are. */
export const OWNER: OptionSpec = {
  ...SCOPE,
  help: "whose the artifacts are, the option once for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out)",
};

/** The configuration of the core. */
export const CONFIG: OptionSpec = {
  name: "config",
  value: "FILE",
  help: "configuration as JSON; `sluice config` lists the keys",
};

/** Where sources of tools are, beside the presets. */
export const SOURCES: OptionSpec = {
  name: "config",
  value: "FILE",
  help: 'a file of sources: {"sources": [{"name": "…", "transport": "mcp", "connection": "…"}]}; transports are mcp, http, utcp and cli, and ${VAR} stands for a variable of the environment',
};

/** For programs that read the output. */
export const JSON_OUT: OptionSpec = { name: "json", help: "print JSON" };
