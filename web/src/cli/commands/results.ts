/**
 * Commands that take results: `sluice transform`, `restore` and `proxy`.
 * @module
 */
import type { CommandSpec } from "../command.js";
import { HOST_WORDS } from "../../mcp/host-profiles.js";
import { ADDRESS, CONFIG, METRICS, OWNER, RESULTS, SCOPE, STORE } from "./options.js";

/** `sluice transform`, `sluice restore` and `sluice proxy` */
export const RESULT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "transform",
    changesStore: true,
    summary: "turn a tool result into what a model should see",
    operands: "[FILE]",
    maxOperands: 1,
    about: [
      "Reads one result (a CallToolResult, a JSON-RPC response, a content array, any JSON value) from FILE or standard input, puts bytes and large text into the store, and prints the rest. The input streams through, so its size does not matter.",
    ],
    options: [
      { name: "tool", value: "T", help: "the tool that returned the result; selects its `tool_fields`" },
      { name: "namespace", value: "NS", help: "prefix of artifact ids; default: `artifact`" },
      OWNER,
      CONFIG,
      RESULTS,
      {
        name: "dialect",
        value: "observation|mcp",
        choices: ["observation", "mcp"],
        help: "`observation` (the default) for a planner, `mcp` for a valid CallToolResult that `restore` can undo",
      },
      {
        name: "ndjson",
        help: "one result per line of input, one line of output for each; a line that is not JSON becomes an error line",
      },
      { name: "pretty", help: "indent the output" },
    ],
    examples: [
      ["sluice transform result.json --tool download_workbook --namespace tableau --pretty", "what the model sees"],
      ["sluice transform --dialect mcp --store ./store < result.json > reduced.json", "a result to pass on"],
      ["sluice transform --ndjson --store ./store < session.ndjson", "a recorded session"],
    ],
    load: async () => (await import("../transform.js")).transform,
  },
  {
    name: "restore",
    summary: "undo `transform --dialect mcp`",
    operands: "[FILE]",
    maxOperands: 1,
    about: [
      'Reads a reduced result from FILE or standard input and puts every reference it lists in `_meta["sluice/refs"]` back, value for value and string for string.',
    ],
    options: [STORE, SCOPE, { name: "ndjson", help: "one reduced result per line" }],
    examples: [["sluice restore reduced.json --store ./store > result.json", "the original"]],
    load: async () => (await import("../transform.js")).restore,
  },
  {
    name: "proxy",
    changesStore: true,
    handlesSignals: true,
    summary: "put Sluice in front of an MCP server, for any host",
    operands: "-- COMMAND ARGS…",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Starts the server and passes every message both ways, on standard input and output. Bytes and large text of tool results go to the store; the host gets a sentence and an `artifact://` URI for each, which the added tool NS_artifact_read reads, NS_artifact_edit changes in a copy, and tool arguments take. Everything else passes unchanged.",
      "Ends when the server ends, with its exit code. The server's standard error is passed on, with a line for each thing that was stored. Options and the configuration are checked before the server starts; the store is opened beside it. If that fails, the server is ended before it gets a message, and the exit code is 2.",
    ],
    options: [
      {
        name: "url",
        value: "URL",
        help: "instead of COMMAND: the address of a server that speaks Streamable HTTP; put a secret address into SLUICE_PROXY_URL, or into the file named in SLUICE_PROXY_URL_FILE",
      },
      {
        name: "header",
        value: "K: V",
        multiple: true,
        help: "with --url: a header for every request; put secret ones into SLUICE_PROXY_HEADERS, one a line, or into the file named in SLUICE_PROXY_HEADERS_FILE",
      },
      {
        name: "listen",
        value: "HOST:PORT",
        otherNames: ADDRESS,
        help: "serve Streamable HTTP at this address, under /mcp, instead of standard input and output; an address that other machines can reach needs a token in SLUICE_PROXY_TOKEN, or in the file named in SLUICE_PROXY_TOKEN_FILE",
      },
      {
        name: "issuer",
        value: "URL",
        help: "with --listen: clients need an access token of this OpenID Connect provider, and each user has artifacts of their own; MCP clients find the provider by themselves",
      },
      {
        name: "audience",
        value: "TEXT",
        multiple: true,
        help: "with --issuer: what tokens may be for besides the URL that clients connect to; repeat the option for more",
      },
      { name: "user-claim", value: "NAME", help: "with --issuer: the claim that names the user; default: `sub`" },
      {
        name: "tenant-claim",
        value: "NAME",
        help: "with --issuer: the claim that names the user's organisation; tokens without it are refused",
      },
      {
        name: "require-scope",
        value: "SCOPE",
        multiple: true,
        help: "with --issuer: a scope that tokens must have; repeat the option for more",
      },
      {
        name: "public-url",
        value: "URL",
        help: "with --issuer: the URL that clients connect to, if a proxy is in front, as in https://tools.example/mcp",
      },
      METRICS,
      { ...STORE, value: "DIR|session", help: `${STORE.help}; \`session\` is deleted at the end` },
      {
        name: "namespace",
        value: "NS",
        help: "prefix of artifact ids and of the tool; default: derived from the command or the address",
      },
      CONFIG,
      {
        name: "links",
        value: "auto|always|never",
        choices: ["auto", "always", "never"],
        help: "add `resource_link` blocks to results: for clients that are known to support them, for all, for none",
      },
      {
        name: "inline-images",
        help: "store small images and leave them in place: for hosts that show them; some are known to",
      },
      {
        name: "host",
        value: "HOST",
        choices: HOST_WORDS,
        help: "write results as this host needs them; default: by the name that the client introduces itself with",
      },
      {
        name: "server-name",
        value: "NAME",
        help: "the server's name in the host's configuration, which hosts put in front of the names of tools; `sluice install` writes it",
      },
      {
        name: "timeout",
        value: "SECONDS",
        help: "give up a call of a tool that is silent for so long, from 1 to 300: without an answer or progress; the host is told after 15, 20 and 25 s. Default: no limit",
      },
      {
        name: "schemas",
        value: "widen|keep|drop",
        choices: ["widen", "keep", "drop"],
        help: "what happens to tools' schemas: `widen` (the default) also allows references in them, `keep` leaves them alone, `drop` removes output schemas",
      },
      { name: "bypass", help: "pass everything unchanged" },
    ],
    examples: [
      ["sluice proxy -- npx -y @modelcontextprotocol/server-filesystem /data", "in front of a command"],
      ["sluice proxy --url https://mcp.example.com/mcp", "in front of an address"],
      ["sluice proxy --store session --links never -- uvx mcp-server-git", "keep nothing afterwards"],
    ],
    load: async () => (await import("../proxy/proxy.js")).run,
  },
];
