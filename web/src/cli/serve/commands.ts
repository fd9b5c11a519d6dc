/**
 * `sluice serve`, as the table of commands has it.
 * @module
 */
import type { CommandSpec } from "../spec.js";

/** Sessions, artifacts, resources, events and chat over HTTP. */
export const SERVE_COMMAND: CommandSpec = {
  name: "serve",
  changesStore: true,
  handlesSignals: true,
  summary: "serve tools, artifacts and a page over HTTP",
  operands: "[-- COMMAND ARGS…]",
  maxOperands: Number.POSITIVE_INFINITY,
  about: [
    "Serves sessions of users over REST and server-sent events: their artifacts, the tools and resources of sources, files, and a chat where the configuration names a model. At / is the playground, a page in front of all of it. COMMAND is one more source, a server that speaks MCP on standard input and output: each session of a page has a process of its own.",
    'Listens on 127.0.0.1:4751, for this machine alone and for one user, unless it is told who may come: by a token in the variable SLUICE_SERVE_TOKEN, or by "auth" in the configuration. Without that it listens nowhere else. A browser signs in with http://HOST:PORT/?token=TOKEN.',
    "Artifacts and users' files are kept in --store; without it in a private folder that is deleted at the end, files too. Several processes with the same --state and --store serve as one, and need the same secret, of at least 32 characters, in the variable SLUICE_SERVE_SECRET. Ends with Ctrl-C: requests under way have ten seconds, and every program that was started ends too.",
  ],
  options: [
    { name: "listen", value: "HOST:PORT", help: "where to listen; port 0 is any free one" },
    {
      name: "config",
      value: "FILE",
      help: "configuration as JSON; `sluice serve --keys` lists the keys, and ${VAR} stands for a variable of the environment. Options of the command line win",
    },
    {
      name: "store",
      value: "DIR|s3://B/P",
      help: "where artifacts and files are kept: a folder, or a bucket and a prefix, for which @aws-sdk/client-s3 has to be installed",
    },
    {
      name: "state",
      value: "redis://…",
      help: "share sessions, events and runs with other processes by a Redis server, for which @redis/client has to be installed",
    },
    { name: "verbose", help: "a line for each request" },
    { name: "keys", help: "list every key of the configuration with its effect, and end" },
  ],
  examples: [
    ["sluice serve -- npx -y @modelcontextprotocol/server-everything", "the playground with that server"],
    ["sluice serve --config serve.json --store ./store", "sources, a model and users as the file says"],
    [
      "sluice serve --listen 0.0.0.0:8080 --config serve.json --store s3://bucket/sluice --state redis://redis:6379",
      "one of several machines",
    ],
  ],
  load: () => import("./serve.js"),
};
