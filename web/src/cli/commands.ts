/**
 * Every command with its operands, options and examples: what is parsed, and what `--help` says.
 * @module
 */
import { CONFIG, JSON_OUT, OWNER, RESULTS, SCOPE, STORE } from "./options.js";
import { FILE_COMMANDS } from "./files/commands.js";
import { RESOURCE_COMMANDS } from "./resources/commands.js";
import { RUN_COMMAND } from "./run/commands.js";
import { SERVE_COMMAND } from "./serve/commands.js";
import type { CommandSpec, OptionSpec } from "./spec.js";
import { TOOL_COMMANDS } from "./tools/commands.js";

export type { CommandModule, CommandSpec, Invocation, OptionSpec } from "./spec.js";

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "transform",
    changesStore: true,
    summary: "turn a tool result into what a model should see",
    operands: "[FILE]",
    maxOperands: 1,
    about: [
      "Reads one result (a CallToolResult, a JSON-RPC response, a content array, any JSON value) from FILE or standard input, puts bytes and large text into the store, and prints the rest. The input streams through: its size is no matter.",
    ],
    options: [
      { name: "tool", value: "T", help: "the tool that answered; chooses its `tool_fields`" },
      { name: "namespace", value: "NS", help: "prefix of artifact ids; `artifact` when left out" },
      OWNER,
      CONFIG,
      RESULTS,
      {
        name: "dialect",
        value: "observation|mcp",
        choices: ["observation", "mcp"],
        help: "`observation` (as it is) for a planner, `mcp` for a valid CallToolResult that `restore` can undo",
      },
      {
        name: "ndjson",
        help: "one result a line in, one line out for each; a line that is not JSON becomes an error line",
      },
      { name: "pretty", help: "indent the output" },
    ],
    examples: [
      ["sluice transform result.json --tool download_workbook --namespace tableau --pretty", "what the model sees"],
      ["sluice transform --dialect mcp --store ./store < result.json > reduced.json", "a result to hand on"],
      ["sluice transform --ndjson --store ./store < session.ndjson", "a recorded session"],
    ],
    load: () => import("./transform.js"),
  },
  {
    name: "restore",
    summary: "give back what `transform --dialect mcp` was given",
    operands: "[FILE]",
    maxOperands: 1,
    about: [
      'Reads a reduced result from FILE or standard input and puts every reference it lists in `_meta["sluice/refs"]` back, value for value and string for string.',
    ],
    options: [STORE, SCOPE, { name: "ndjson", help: "one reduced result a line" }],
    examples: [["sluice restore reduced.json --store ./store > result.json", "the original"]],
    load: () => import("./restore.js"),
  },
  {
    name: "proxy",
    changesStore: true,
    handlesSignals: true,
    summary: "stand in front of an MCP server, for any host",
    operands: "-- COMMAND ARGS…",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Starts the server and passes every message both ways, on standard input and output. Bytes and large text of tool results go to the store; the host gets a sentence and an `artifact://` URI for each, which the added tool NS_artifact_read reads and tool arguments take. Everything else passes as it is.",
      "Ends as the server ends; its standard error is passed on, with a line for each thing that was stored. Where the store cannot be used the server is not started.",
    ],
    options: [
      { name: "url", value: "URL", help: "in place of COMMAND: a server that speaks Streamable HTTP" },
      { name: "header", value: "K: V", multiple: true, help: "with --url: a header for every request" },
      {
        name: "listen",
        value: "HOST:PORT",
        help: "offer Streamable HTTP there, at /mcp, instead of standard input and output; beyond this machine only with a token in SLUICE_PROXY_TOKEN, or in the file that SLUICE_PROXY_TOKEN_FILE names",
      },
      { ...STORE, value: "DIR|session", help: `${STORE.help}; \`session\` is deleted at the end` },
      {
        name: "namespace",
        value: "NS",
        help: "prefix of artifact ids and of the tool; left out, made of the command or the address",
      },
      CONFIG,
      {
        name: "links",
        value: "auto|always|never",
        choices: ["auto", "always", "never"],
        help: "add `resource_link` blocks to results: for clients that are known to take them, for all, for none",
      },
      { name: "inline-images", help: "leave small images in place, beside storing them: for hosts that show them" },
      {
        name: "schemas",
        value: "widen|keep|drop",
        choices: ["widen", "keep", "drop"],
        help: "what becomes of tools' schemas: `widen` (as it is) lets references stand in them, `drop` leaves output schemas out",
      },
      { name: "bypass", help: "pass everything as it is" },
    ],
    examples: [
      ["sluice proxy -- npx -y @modelcontextprotocol/server-filesystem /data", "in front of a command"],
      ["sluice proxy --url https://mcp.example.com/mcp", "in front of an address"],
      ["sluice proxy --store session --links never -- uvx mcp-server-git", "keep nothing afterwards"],
    ],
    load: () => import("./proxy/proxy.js"),
  },
  SERVE_COMMAND,
  RUN_COMMAND,
  ...TOOL_COMMANDS,
  ...RESOURCE_COMMANDS,
  {
    name: "artifacts list",
    summary: "list what is stored",
    operands: "",
    maxOperands: 0,
    about: [
      "A table on a terminal, tab-separated lines in a pipe (id, type, bytes, file name, scope), with --json an array of references. Oldest first.",
    ],
    options: [STORE, SCOPE, JSON_OUT],
    examples: [
      ["sluice artifacts list --store ./store", "a table"],
      ["sluice artifacts list --json --scope session=s1", "the references of one session"],
    ],
    load: () => import("./artifacts/list.js"),
  },
  {
    name: "artifacts get",
    summary: "fetch an artifact's bytes",
    operands: "ID",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Writes the stored bytes to standard output, or to a file that appears only when it is complete. ID may be an `artifact://` reference.",
    ],
    options: [
      STORE,
      SCOPE,
      { name: "output", short: "o", value: "FILE", help: "write to FILE; an existing one is replaced" },
      { name: "range", value: "A-B", help: "only bytes A to B, both included, as in HTTP: 0-99, 100-, -50" },
      { ...JSON_OUT, help: "with -o, print the reference as JSON" },
    ],
    examples: [
      ["sluice artifacts get tableau_1a2b3c4d5e6f -o report.pdf", "the file"],
      ["sluice artifacts get tableau_1a2b3c4d5e6f --range 0-1023 | xxd | head", "its first bytes"],
    ],
    load: () => import("./artifacts/get.js"),
  },
  {
    name: "artifacts stat",
    summary: "tell about one artifact",
    operands: "ID",
    minOperands: 1,
    maxOperands: 1,
    about: ["Prints the reference: type, size, SHA-256, file name, scope, namespace and source."],
    options: [STORE, SCOPE, JSON_OUT],
    examples: [["sluice artifacts stat tableau_1a2b3c4d5e6f --json", "the reference as JSON"]],
    load: () => import("./artifacts/stat.js"),
  },
  {
    name: "artifacts delete",
    changesStore: true,
    summary: "delete artifacts",
    operands: "ID…",
    minOperands: 1,
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Deletes the references with these ids, in every scope unless --scope says which; bytes that no reference names any more go with them.",
    ],
    options: [STORE, SCOPE, JSON_OUT],
    examples: [["sluice artifacts delete tableau_1a2b3c4d5e6f", "one artifact"]],
    load: () => import("./artifacts/delete.js"),
  },
  {
    name: "artifacts gc",
    changesStore: true,
    summary: "remove what is no longer needed",
    operands: "",
    maxOperands: 0,
    about: [
      "Removes bytes without a reference and leftovers of writers that were killed; with --config also the artifacts that its `retention` does not keep. Safe while others use the store.",
    ],
    options: [STORE, CONFIG, JSON_OUT],
    examples: [
      ["sluice artifacts gc --store ./store", "clean up"],
      ["sluice artifacts gc --config sluice.json", "and hold the store to its limits"],
    ],
    load: () => import("./artifacts/gc.js"),
  },
  {
    name: "artifacts purge",
    changesStore: true,
    summary: "delete a whole store",
    operands: "",
    maxOperands: 0,
    about: [
      "Deletes every artifact and the store itself. Asks first on a terminal; elsewhere it needs --yes. A folder that is not a store is refused.",
    ],
    options: [STORE, { name: "yes", short: "y", help: "do not ask" }, JSON_OUT],
    examples: [["sluice artifacts purge --store ./store --yes", "delete everything in ./store"]],
    load: () => import("./artifacts/purge.js"),
  },
  ...FILE_COMMANDS,
  {
    name: "sniff",
    summary: "say what kind of file some bytes are",
    operands: "[FILE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: ["Looks at the bytes, not at the name. Standard input where no FILE is given."],
    options: [{ ...JSON_OUT, help: "print an array of {file, mime_type, extension, description}" }],
    examples: [
      ["sluice sniff download", "download: PNG image, 640 × 480, 1.0 MB (image/png)"],
      ["curl -s https://example.org/x | sluice sniff --json", "from a pipe"],
    ],
    load: () => import("./sniff.js"),
  },
  {
    name: "config",
    summary: "list every configuration key with its effect",
    operands: "",
    maxOperands: 0,
    about: [
      "Paragraphs on a terminal, tab-separated lines in a pipe (key, type, default as JSON, effect), with --json the JSON Schema of a configuration file.",
    ],
    options: [{ ...JSON_OUT, help: "print the JSON Schema (draft 2020-12)" }],
    examples: [
      ["sluice config", "every key"],
      ["sluice config --json > config.schema.json", "for an editor to check configuration files with"],
    ],
    load: () => import("./config.js"),
  },
];

/** Options that every command knows. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "V", help: "the version" },
];

/** The commands whose name begins with `group`, e.g. the verbs of `artifacts`. */
export function verbsOf(group: string): readonly CommandSpec[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}
