/**
 * `sluice serve` and `sluice run`.
 * @module
 */
import type { CommandSpec } from "../command.js";
import { ADDRESS, LARGE_STORE, MAX_SIZE, METRICS, PERSIST, SIZE_LIMIT } from "./options.js";

/** `sluice serve` */
export const SERVE_COMMAND: CommandSpec = {
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
  load: async () => (await import("../serve/serve.js")).run,
};

/** `sluice run` */
export const RUN_COMMAND: CommandSpec = {
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
  load: async () => (await import("../run.js")).run,
};
