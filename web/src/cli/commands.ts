/**
 * All commands with their operands, options and examples: an option is added here. Parsing, `--help` and completion use this
 * table; `load` names the module that runs the command and reads what was given from its `Invocation`.
 * @module
 */
import type { CommandSpec, OptionSpec } from "./command.js";
import { HOST_WORDS } from "../mcp/host-profiles.js";
import { HOSTS } from "./install/hosts.js";

/** The store's folder. */
const STORE: OptionSpec = {
  name: "store",
  value: "DIR",
  help: "the store's folder; default: `sluice` in your cache folder",
};

/** The store that results go to. */
const RESULTS: OptionSpec = { ...STORE, value: "DIR|memory", help: `${STORE.help}; \`memory\` keeps nothing` };

/** The owner of the artifacts that a command finds. */
const SCOPE: OptionSpec = {
  name: "scope",
  value: "K=V",
  multiple: true,
  help: "only this scope; repeat the option for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out); a key that is left out matches only artifacts without it. Default: all scopes",
};

/** The owner of new artifacts. */
const OWNER: OptionSpec = {
  ...SCOPE,
  help: "the owner of the artifacts; repeat the option for each of tenant_id, user_id, session_id, trace_id (`_id` may be left out)",
};

/** The configuration of the core. */
const CONFIG: OptionSpec = {
  name: "config",
  value: "FILE",
  help: "configuration as JSON; `sluice config` lists the keys",
};

/** The file with sources of tools, besides the presets. */
const SOURCES: OptionSpec = {
  name: "config",
  value: "FILE",
  help: 'a file of sources: {"sources": [{"name": "…", "transport": "mcp", "connection": "…"}]}; transports are mcp, http, utcp and cli, and ${VAR} stands for a variable of the environment',
};

const JSON_OUT: OptionSpec = { name: "json", help: "print JSON" };

/** The store for users' large files. */
const LARGE_STORE: OptionSpec = {
  name: "large-store",
  value: "DIR|s3://B/P",
  help: "where users' files above --base64-size-limit-mb are kept: a folder, or a bucket and a prefix; default: --store",
};

/** Which of users' files go to the large store. */
const SIZE_LIMIT: OptionSpec = {
  name: "base64-size-limit-mb",
  value: "MIB",
  help: "users' files up to this size are kept in --store, larger ones in --large-store; default: 300",
};

/** The largest size of a user's file. */
const MAX_SIZE: OptionSpec = {
  name: "max-file-size-mb",
  value: "MIB",
  help: "the largest size of a user's file; larger ones are refused (E_FILE_TOO_LARGE); default: 51200",
};

/** Whether users' files outlive a session. */
const PERSIST: OptionSpec = {
  name: "persist-files",
  value: "true|false",
  choices: ["true", "false"],
  help: "whether users' files outlive a session; if not, a session's files are deleted at its end; default: `true`",
};

/** What other programs call the address to listen at. */
const ADDRESS = ["--port", "--host", "--address", "--bind"] as const;

/** Where a command that listens offers its metrics. */
const METRICS: OptionSpec = {
  name: "metrics",
  value: "HOST:PORT",
  help: "offer GET /metrics for Prometheus at an address of its own. Without it they are at that of --listen, if only this machine reaches it without a sign-in, or for clients with the token in SLUICE_METRICS_TOKEN, or in the file named in SLUICE_METRICS_TOKEN_FILE",
};

/** `sluice serve` */
const SERVE_COMMAND: CommandSpec = {
  name: "serve",
  changesStore: true,
  handlesSignals: true,
  summary: "serve tools, artifacts and a page over HTTP",
  operands: "[-- COMMAND ARGS…]",
  maxOperands: Number.POSITIVE_INFINITY,
  about: [
    "Serves users' sessions over REST and server-sent events: artifacts, the tools and resources of sources, files, and a chat if the configuration names a model. If the package mcp-sluice-playground is installed beside mcp-sluice, / is a page for all of it. COMMAND is one more source, a server that speaks MCP on standard input and output; each session of a page gets a process of its own.",
    'Listens on 127.0.0.1:4751, for one user of this machine. To listen elsewhere, configure authentication: a token in the variable SLUICE_SERVE_TOKEN, or "auth" in the configuration, which also takes access tokens of an OpenID Connect provider. A browser signs in with http://HOST:PORT/?token=TOKEN.',
    "Artifacts and users' files are kept in --store, or else in a private folder that is deleted at the end. Several processes with the same --state and --store serve as one; they need the same secret, of at least 32 characters, in the variable SLUICE_SERVE_SECRET; SLUICE_SERVE_OLD_SECRETS has others that are read, one a line, while it is changed. Ctrl-C or SIGTERM ends it: GET ready fails first, for --drain-seconds in which everything else goes on; then running requests have --grace-seconds, and every program that was started ends.",
  ],
  options: [
    {
      name: "listen",
      value: "HOST:PORT",
      otherNames: ADDRESS,
      help: "where to listen; port 0 means any free one",
    },
    {
      name: "config",
      value: "FILE",
      help: "configuration as JSON; `sluice serve --keys` lists the keys, and ${VAR} stands for a variable of the environment. Options on the command line take precedence",
    },
    {
      name: "store",
      value: "DIR|s3://B/P",
      help: "where artifacts and files are kept: a folder, or a bucket and a prefix, which needs the package @aws-sdk/client-s3",
    },
    {
      name: "state",
      value: "redis://…",
      help: "share sessions, events and runs with other processes through a Redis server, which needs the package @redis/client",
    },
    PERSIST,
    LARGE_STORE,
    SIZE_LIMIT,
    MAX_SIZE,
    METRICS,
    {
      name: "drain-seconds",
      value: "SECONDS",
      help: "at the end, serve on for so long while GET ready fails, so that balancers send no more clients here; default: 10 with --state, else 0",
    },
    {
      name: "grace-seconds",
      value: "SECONDS",
      help: "how long running requests may take at the end; default: 10",
    },
    { name: "verbose", help: "print a line for each request" },
    { name: "keys", help: "list every key of the configuration with its effect, and exit" },
  ],
  examples: [
    [
      "sluice serve -- npx -y @modelcontextprotocol/server-everything",
      "that server, and the playground if it is installed",
    ],
    ["sluice serve --config serve.json --store ./store", "sources, a model and users as the file says"],
    [
      "sluice serve --listen 0.0.0.0:8080 --config serve.json --store s3://bucket/sluice --state redis://redis:6379",
      "one of several machines",
    ],
  ],
  load: async () => (await import("./serve/serve.js")).run,
};

/** The words of hosts on the command line. */
const HOST_NAMES: readonly string[] = HOSTS.map(({ id }) => id);

const HOST_OPERANDS = {
  operands: "[HOST…]",
  choices: HOST_NAMES,
  maxOperands: HOST_NAMES.length,
};

/** How configurations of hosts are changed. */
const CHANGE: readonly OptionSpec[] = [
  { name: "server", value: "NAME", multiple: true, help: "only this server; repeat the option for more" },
  { name: "dry-run", help: "show the change, and write nothing" },
  { name: "yes", short: "y", help: "do not ask" },
];

/** `sluice install`, `sluice uninstall` and `sluice doctor` */
const INSTALL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "install",
    summary: "put Sluice in front of the servers of your hosts",
    ...HOST_OPERANDS,
    about: [
      `Finds the configurations of MCP hosts on this machine (${HOST_NAMES.join(", ")}), or only of each HOST named, lists their servers, shows the change and asks. Then \`sluice proxy\` stands in front of servers that are commands, and of servers that speak HTTP and take fixed headers. Without a terminal it needs --yes.`,
      "It skips, and says why, servers that the host signs in to by itself, and those that speak the older transport with server-sent events. A server at an address without headers is skipped unless --server names it.",
      "Configurations of projects are not touched, since others may share them. Addresses and headers move to the entry's environment, never into arguments. Comments and order stay, a backup is kept beside the file, and a file that another program changes meanwhile is left alone. Restart the host afterwards.",
    ],
    options: CHANGE,
    examples: [
      ["sluice install --dry-run", "what would change"],
      ["sluice install", "all hosts; it asks for each"],
      ["sluice install cursor codex --yes", "two hosts, without a question"],
      ["sluice install claude-code --server github", "one server"],
    ],
    load: async () => (await import("./install/install.js")).install,
  },
  {
    name: "uninstall",
    summary: "take Sluice away from the servers of your hosts",
    ...HOST_OPERANDS,
    about: [
      "Undoes `sluice install`. A configuration that has not changed since then is restored byte for byte; in one that has, only the entries of servers behind Sluice are changed. Shows the change and asks, as `sluice install` does.",
    ],
    options: CHANGE,
    examples: [
      ["sluice uninstall", "all hosts; it asks for each"],
      ["sluice uninstall zed --server github --yes", "one server, without a question"],
    ],
    load: async () => (await import("./install/install.js")).uninstall,
  },
  {
    name: "doctor",
    summary: "show which servers of your hosts are behind Sluice",
    ...HOST_OPERANDS,
    about: [
      "Lists the servers of each host: whether Sluice is in front of them, what it kept out of results so far (calls, bytes, and tokens at four bytes each), and what the store has of theirs now, without what retention has removed. Exits 1 if the program of an entry is gone, or if a server does not start.",
      "Starts nothing without --start.",
    ],
    options: [
      { name: "start", help: "start each server that is behind Sluice, and ask for its tools" },
      STORE,
      JSON_OUT,
    ],
    examples: [
      ["sluice doctor", "all hosts"],
      ["sluice doctor cursor --start", "whether the servers of one host start"],
    ],
    load: async () => (await import("./install/doctor.js")).doctor,
  },
];

/** `sluice run` */
const RUN_COMMAND: CommandSpec = {
  name: "run",
  handlesSignals: true,
  summary: "start a server for one user, in a sandbox",
  operands: "-- COMMAND ARGS…",
  maxOperands: Number.POSITIVE_INFINITY,
  about: [
    "Starts COMMAND under bubblewrap (Linux): it can read the file system, but write only to /tmp/NAME, which is also its TMPDIR. It cannot see the rest of /tmp, /run, other users' folders or Sluice's own store. Standard input, output and errors are COMMAND's own, signals are passed on to it, and its exit code is the result. Processes that still run two seconds after SIGTERM are killed.",
    "COMMAND uses the machine's network. It gets the variables HOME, LOGNAME, PATH, SHELL, TERM and USER of the environment, and those that --env names. If bubblewrap cannot run, nothing is started.",
  ],
  options: [
    { name: "user", value: "NAME", help: "the user; COMMAND sees no other user's folder" },
    { name: "tenant", value: "NAME", help: "the user's tenant, if there are tenants" },
    {
      name: "tmp",
      value: "DIR",
      help: "the folder that contains users' folders, outside of the sandbox; default: the system's folder for temporary files",
    },
    { name: "hide", value: "DIR", multiple: true, help: "a folder that COMMAND must not see, such as a store" },
    { name: "env", value: "VARIABLE", multiple: true, help: "a variable of the environment that COMMAND gets as well" },
    {
      ...PERSIST,
      help: "whether the user's folder is kept when COMMAND ends; if not, it is emptied; default: `true`",
    },
  ],
  examples: [
    ["sluice run --user ada -- uvx mcp-server-git", "a server for ada"],
    ["sluice run --user ada --hide ./store --env API_KEY -- node server.js", "a server that must not see a store"],
  ],
  load: async () => (await import("./run.js")).run,
};

/** `sluice tools …` */
const TOOL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "tools list",
    summary: "list presets, or the tools of sources",
    operands: "[SOURCE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Without names and without --config: lists the presets, what each is for, and which variables of the environment it needs.",
      "Otherwise connects to the named sources, which are presets or sources of the file, or to all sources of the file, and lists their tools: as a table on a terminal, as tab-separated lines in a pipe (name, what calling it may do, description), and with --json as an array of {name, description, input_schema, side_effects}. A source that cannot be reached does not affect the others; the exit code is that of the first failure.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [
      ["sluice tools list", "the presets"],
      ["FILESYSTEM_ROOT=. sluice tools list filesystem", "the tools of one"],
      ["sluice tools list --config sources.json --json", "the tools of all sources of a file, with their schemas"],
    ],
    load: async () => (await import("./tools/list.js")).run,
  },
  {
    name: "tools connect",
    summary: "sign in to a source, and try it",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Connects to a preset, or to the source of that name in the file, and prints its tools, its resources and how long it took.",
      'If the source has each user sign in ("auth_type": "oauth2_user"), your browser opens and returns to an address on this machine; without a browser the address is printed. The token goes to a file that only you can read, in $XDG_CONFIG_HOME/sluice/tokens or ~/.config/sluice/tokens. With a secret of at least 32 characters in SLUICE_TOKEN_SECRET it is encrypted as well. Other commands use and renew it; `sluice tools disconnect` deletes it.',
      "Some providers, such as GitHub, accept only programs that are registered with them. Register one there with the callback address http://127.0.0.1/callback, and set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET; for another source, its own name in capitals.",
    ],
    options: [
      SOURCES,
      { name: "no-browser", help: "print the sign-in address instead of opening a browser" },
      { name: "client-id", value: "ID", help: "the id of the program that you registered with the provider" },
      { name: "issuer", value: "URL", help: "the OAuth provider, if the source does not name it" },
      { name: "port", value: "N", help: "the port that the browser returns to; default: any free one" },
    ],
    examples: [
      ["GITHUB_CLIENT_ID=… GITHUB_CLIENT_SECRET=… sluice tools connect github", "sign in, in your browser"],
      ["SQLITE_FILE=data.db sluice tools connect sqlite", "a preset"],
      ["sluice tools connect weather --config sources.json", "a source of a file"],
    ],
    load: async () => (await import("./tools/connect.js")).run,
  },
  {
    name: "tools disconnect",
    summary: "sign out of a source",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Deletes the token that `sluice tools connect` got for this source. The provider is not informed: revoke the access there as well.",
    ],
    options: [],
    examples: [["sluice tools disconnect github", "delete the token"]],
    load: async () => (await import("./tools/connect.js")).disconnect,
  },
  {
    name: "tools call",
    changesStore: true,
    summary: "call a tool, and print what a model would see",
    operands: "SOURCE.TOOL",
    minOperands: 1,
    maxOperands: 1,
    further: "give the tool's arguments with --args, a JSON object",
    about: [
      "Connects to the source, which is one of the file or a preset, calls the tool, and prints the observation. Bytes and large text of the result go to the store, with a line on standard error for each.",
      "Exits 1 when the tool says that it failed: the observation says how. Ctrl-C cancels the call, at the server too.",
    ],
    options: [
      {
        name: "args",
        value: "JSON|@FILE|-",
        help: "the arguments, a JSON object: inline, from a file, or from standard input; default: {}",
      },
      SOURCES,
      RESULTS,
      OWNER,
      { name: "pretty", help: "indent the output" },
    ],
    examples: [
      [
        `FILESYSTEM_ROOT=. sluice tools call filesystem.read_media_file --args '{"path":"a.png"}'`,
        "an image, stored and named",
      ],
      ["sluice tools call weather.map --args @oslo.json --config sources.json --pretty", "arguments from a file"],
      [`echo '{"city":"Oslo"}' | sluice tools call weather.map --args - --config sources.json`, "or from a pipe"],
    ],
    load: async () => (await import("./tools/call.js")).run,
  },
];

/** `sluice resources …` */
const RESOURCE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "resources list",
    summary: "list the resources of a source",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Connects to a source of the file, or to a preset, and lists its resources: as a table on a terminal, as tab-separated lines in a pipe (URI, type, bytes, name), and with --json as an array.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [["sluice resources list docs --config sources.json", "its resources"]],
    load: async () => (await import("./tools/resources.js")).listResources,
  },
  {
    name: "resources templates",
    summary: "list the URI templates of a source",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Lists the URI templates of a source (RFC 6570): as a table on a terminal, as tab-separated lines in a pipe (template, type, name), and with --json as an array.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [["sluice resources templates docs --config sources.json --json", "the templates as JSON"]],
    load: async () => (await import("./tools/resources.js")).listTemplates,
  },
  {
    name: "resources read",
    changesStore: true,
    summary: "read a resource of a source",
    operands: "SOURCE URI",
    minOperands: 2,
    maxOperands: 2,
    about: [
      "Prints short text unchanged. Bytes and long text go to the store, and a sentence says what each is; `sluice artifacts get` fetches it. If there are several contents, each stands below a line with its URI. --json prints {contents, artifacts}, with the references of all that was stored.",
    ],
    options: [SOURCES, RESULTS, OWNER, JSON_OUT],
    examples: [
      ["sluice resources read docs file:///guide.md --config sources.json", "text"],
      ["sluice resources read docs file:///guide.pdf --config sources.json --store ./store --json", "a file, stored"],
    ],
    load: async () => (await import("./tools/resources.js")).readResource,
  },
];

const WHOSE: readonly OptionSpec[] = [
  { name: "user", value: "NAME", help: "the owner of the files; users never see each other's files" },
  { name: "tenant", value: "NAME", help: "the user's tenant, if there are tenants" },
  STORE,
  LARGE_STORE,
];

/** `sluice files …` */
const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "files list",
    summary: "list a user's files",
    operands: "",
    maxOperands: 0,
    about: [
      "Prints a table on a terminal and tab-separated lines in a pipe: name, type, bytes, where it came from, versions.",
    ],
    options: [...WHOSE, JSON_OUT],
    examples: [["sluice files list --user ada --store ./store", "what ada has"]],
    load: async () => (await import("./files.js")).listFiles,
  },
  {
    name: "files put",
    changesStore: true,
    summary: "put files into a user's files",
    operands: "[FILE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Stores each FILE, or standard input, under its name; a name that some systems do not accept is changed. An existing file of that name becomes an older version. Prints the names.",
    ],
    options: [
      ...WHOSE,
      SIZE_LIMIT,
      MAX_SIZE,
      { name: "as", value: "NAME", help: "the name, instead of FILE's own" },
      JSON_OUT,
    ],
    examples: [
      ["sluice files put --user ada sales.csv", "one file"],
      ["curl -s https://example.org/x | sluice files put --user ada --as x.html", "from a pipe"],
    ],
    load: async () => (await import("./files.js")).putFiles,
  },
  {
    name: "files get",
    summary: "fetch a user's file",
    operands: "NAME",
    minOperands: 1,
    maxOperands: 1,
    about: ["Writes the newest version to standard output, or to a file that appears only when it is complete."],
    options: [
      ...WHOSE,
      { name: "output", short: "o", value: "FILE", help: "write to FILE; an existing one is replaced" },
    ],
    examples: [["sluice files get --user ada sales.csv -o sales.csv", "the file"]],
    load: async () => (await import("./files.js")).getFile,
  },
  {
    name: "files rm",
    changesStore: true,
    summary: "delete a user's files",
    operands: "NAME…",
    minOperands: 1,
    maxOperands: Number.POSITIVE_INFINITY,
    about: ["Deletes each file with all of its versions."],
    options: [...WHOSE, JSON_OUT],
    examples: [["sluice files rm --user ada sales.csv", "one file"]],
    load: async () => (await import("./files.js")).removeFiles,
  },
  {
    name: "files rename",
    changesStore: true,
    summary: "rename a user's file",
    operands: "NAME NEW",
    minOperands: 2,
    maxOperands: 2,
    about: ["Renames all versions. Fails if another file has the new name."],
    options: [...WHOSE, JSON_OUT],
    examples: [["sluice files rename --user ada sales.csv sales-2025.csv", "a better name"]],
    load: async () => (await import("./files.js")).renameFile,
  },
];

export const COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("./transform.js")).transform,
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
    load: async () => (await import("./transform.js")).restore,
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
    load: async () => (await import("./proxy/proxy.js")).run,
  },
  ...INSTALL_COMMANDS,
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
      "Prints a table on a terminal, tab-separated lines in a pipe (id, type, bytes, file name, scope), and with --json an array of references. The oldest comes first.",
    ],
    options: [
      STORE,
      SCOPE,
      { name: "namespace", value: "NS", help: "only artifacts of this namespace" },
      { name: "type", value: "TYPE", help: "only this MIME type; `image/*` means all images" },
      {
        name: "since",
        value: "TIME",
        help: "only what was stored since then: 30m, 12h or 7d ago, or a date such as 2026-01-31 or 2026-01-31T08:00Z",
      },
      JSON_OUT,
    ],
    examples: [
      ["sluice artifacts list --store ./store", "a table"],
      ["sluice artifacts list --type 'image/*' --since 1d", "the images of a day"],
      ["sluice artifacts list --json --scope session=s1", "the references of one session"],
    ],
    load: async () => (await import("./artifacts.js")).listArtifacts,
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
    load: async () => (await import("./artifacts.js")).getArtifact,
  },
  {
    name: "artifacts stat",
    summary: "show one artifact",
    operands: "ID",
    minOperands: 1,
    maxOperands: 1,
    about: ["Prints the reference: type, size, SHA-256, file name, scope, namespace and source."],
    options: [STORE, SCOPE, JSON_OUT],
    examples: [["sluice artifacts stat tableau_1a2b3c4d5e6f --json", "the reference as JSON"]],
    load: async () => (await import("./artifacts.js")).statArtifact,
  },
  {
    name: "artifacts delete",
    changesStore: true,
    summary: "delete artifacts",
    operands: "ID…",
    minOperands: 1,
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Deletes the references with these ids, in all scopes or in that of --scope, and the bytes that no other reference uses.",
    ],
    options: [STORE, SCOPE, JSON_OUT],
    examples: [["sluice artifacts delete tableau_1a2b3c4d5e6f", "one artifact"]],
    load: async () => (await import("./artifacts.js")).deleteArtifacts,
  },
  {
    name: "artifacts gc",
    changesStore: true,
    summary: "remove expired and leftover data",
    operands: "",
    maxOperands: 0,
    about: [
      "Removes bytes without a reference and the leftovers of killed writers; with --config also the artifacts that its `retention` does not keep. Safe while other processes use the store.",
    ],
    options: [STORE, CONFIG, JSON_OUT],
    examples: [
      ["sluice artifacts gc --store ./store", "clean up"],
      ["sluice artifacts gc --config sluice.json", "and apply the limits of a configuration"],
    ],
    load: async () => (await import("./artifacts.js")).collectGarbage,
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
    load: async () => (await import("./artifacts.js")).purgeStore,
  },
  {
    name: "store check",
    changesStore: true,
    summary: "verify everything in a store, and repair it",
    operands: "",
    maxOperands: 0,
    about: [
      "Reads every content and compares it with its hash, and reads every record and name. Reports what is damaged; with --repair it puts sound copies in the place of damaged ones, writes lost records and names again, closes what others may read, and removes what crashes left behind. What is damaged and has no sound copy stays, and reading it is an error. Exits 1 if damage is left. Safe while other processes use the store.",
    ],
    options: [
      { ...STORE, value: "DIR|s3://B/P", help: `${STORE.help}; of a bucket, contents and records are read` },
      { name: "repair", help: "repair what can be; only for a folder" },
      JSON_OUT,
    ],
    examples: [
      ["sluice store check", "whether everything is as it was stored"],
      ["sluice store check --store ./store --repair", "and repair what can be"],
    ],
    load: async () => (await import("./store/check.js")).checkStore,
  },
  {
    name: "store copy",
    changesStore: true,
    summary: "move a store, while it is in use",
    operands: "SOURCE TARGET",
    minOperands: 2,
    maxOperands: 2,
    about: [
      "Copies every artifact with its id, record, owner, bytes and times from one folder or bucket (`s3://BUCKET/PREFIX`) to another. Where SOURCE is the --store of `sluice serve`, both of its stores are copied, those of sessions and of users' files. Passes repeat until one finds nothing new. What the source no longer has is removed from TARGET, if a copy of this source brought it and it has not changed there; nothing else in TARGET is touched.",
      "Run it again at any time, also after it was killed: what is there and equal is not copied twice. To move a store in use: copy it, stop whatever writes to it, copy once more, and start with the new one. Bytes are compared with their hashes. Damaged artifacts, and those whose id is taken in TARGET, are reported and left out. Exits 1 if any were, or if SOURCE kept changing.",
    ],
    options: [{ name: "dry-run", help: "say what would be done, and change nothing" }, JSON_OUT],
    examples: [
      ["sluice store copy ./store s3://bucket/sluice", "from a folder to a bucket"],
      ["sluice store copy s3://bucket/sluice ./store", "and back"],
      ["sluice store copy ./store s3://bucket/sluice --dry-run", "what would be copied"],
    ],
    load: async () => (await import("./store/copy.js")).copy,
  },
  ...FILE_COMMANDS,
  {
    name: "sniff",
    summary: "recognise the type of a file from its bytes",
    operands: "[FILE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: ["Looks at the bytes, not at the name. Reads standard input if no FILE is given."],
    options: [{ ...JSON_OUT, help: "print an array of {file, mime_type, extension, description}" }],
    examples: [
      ["sluice sniff download", "download: PNG image, 640 × 480, 1.0 MB (image/png)"],
      ["curl -s https://example.org/x | sluice sniff --json", "from a pipe"],
    ],
    load: async () => (await import("./sniff.js")).run,
  },
  {
    name: "completion",
    summary: "print a completion script for your shell",
    operands: "bash|zsh|fish",
    choices: ["bash", "zsh", "fish"],
    minOperands: 1,
    maxOperands: 1,
    about: ["Completes commands, options, their values and files while you type."],
    options: [],
    examples: [
      ["sluice completion bash > ~/.local/share/bash-completion/completions/sluice", "for bash"],
      ["sluice completion zsh > ~/.zfunc/_sluice", "for zsh: any folder in fpath before compinit is called"],
      ["sluice completion fish > ~/.config/fish/completions/sluice.fish", "for fish"],
    ],
    load: async () => {
      const { run } = await import("./completion.js");
      return (invocation, terminal) => run(COMMANDS, invocation, terminal);
    },
  },
  {
    name: "config",
    summary: "list every configuration key with its effect",
    operands: "",
    maxOperands: 0,
    about: [
      "Prints paragraphs on a terminal, tab-separated lines in a pipe (key, type, default as JSON, effect), and with --json the JSON Schema of a configuration file.",
    ],
    options: [{ ...JSON_OUT, help: "print the JSON Schema (draft 2020-12)" }],
    examples: [
      ["sluice config", "every key"],
      ["sluice config --json > config.schema.json", "for an editor that checks configuration files"],
    ],
    load: async () => (await import("./config.js")).run,
  },
];

/** The commands whose name begins with `group`, e.g. the verbs of `artifacts`. */
export function listVerbs(group: string): readonly CommandSpec[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}
