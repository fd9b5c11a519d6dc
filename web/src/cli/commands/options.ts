/**
 * Options that several commands have.
 * @module
 */
import type { OptionSpec } from "../command.js";

/** The store's folder. */
export const STORE: OptionSpec = {
  name: "store",
  value: "DIR",
  help: "the store's folder; default: `sluice` in your cache folder",
};

/** The store that results go to. */
export const RESULTS: OptionSpec = { ...STORE, value: "DIR|memory", help: `${STORE.help}; \`memory\` keeps nothing` };

/** The owner of the artifacts that a command finds. */
export const SCOPE: OptionSpec = {
  name: "scope",
  value: "K=V",
  multiple: true,
  help: "only this scope; repeat the option for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out); a key that is left out matches only artifacts without it. Default: all scopes",
};

/** The owner of new artifacts. */
export const OWNER: OptionSpec = {
  ...SCOPE,
  help: "the owner of the artifacts; repeat the option for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out)",
};

/** The configuration of the core. */
export const CONFIG: OptionSpec = {
  name: "config",
  value: "FILE",
  help: "configuration as JSON; `sluice config` lists the keys",
};

/** The file with sources of tools, besides the presets. */
export const SOURCES: OptionSpec = {
  name: "config",
  value: "FILE",
  help: 'a file of sources: {"sources": [{"name": "…", "transport": "mcp", "connection": "…"}]}; transports are mcp, http, utcp and cli, and ${VAR} stands for a variable of the environment',
};

export const JSON_OUT: OptionSpec = { name: "json", help: "print JSON" };

/** The store for users' large files. */
export const LARGE_STORE: OptionSpec = {
  name: "large-store",
  value: "DIR|s3://B/P",
  help: "where users' files above --base64-size-limit-mb are kept: a folder, or a bucket and a prefix; default: --store",
};

/** Which of users' files go to the large store. */
export const SIZE_LIMIT: OptionSpec = {
  name: "base64-size-limit-mb",
  value: "MIB",
  help: "users' files up to this size are kept in --store, larger ones in --large-store; default: 300",
};

/** The largest size of a user's file. */
export const MAX_SIZE: OptionSpec = {
  name: "max-file-size-mb",
  value: "MIB",
  help: "the largest size of a user's file; larger ones are refused (E_FILE_TOO_LARGE); default: 51200",
};

/** Whether users' files outlive a session. */
export const PERSIST: OptionSpec = {
  name: "persist-files",
  value: "true|false",
  choices: ["true", "false"],
  help: "whether users' files outlive a session; if not, a session's files are deleted at its end; default: `true`",
};

/** What other programs call the address to listen at. */
export const ADDRESS = ["--port", "--host", "--address", "--bind"] as const;

/** Where a command that listens offers its metrics. */
export const METRICS: OptionSpec = {
  name: "metrics",
  value: "HOST:PORT",
  help: "offer GET /metrics for Prometheus at an address of its own. Without it they are at that of --listen, if only this machine reaches it without a sign-in, or for clients with the token in SLUICE_METRICS_TOKEN, or in the file named in SLUICE_METRICS_TOKEN_FILE",
};
