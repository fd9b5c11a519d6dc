/**
 * The command that starts a server for one user.
 * @module
 */
import type { CommandSpec } from "../spec.js";

/** `sluice run` */
export const RUN_COMMAND: CommandSpec = {
  name: "run",
  handlesSignals: true,
  summary: "start a server for one user, in a sandbox",
  operands: "-- COMMAND ARGS…",
  maxOperands: Number.POSITIVE_INFINITY,
  about: [
    "Starts COMMAND under bubblewrap (Linux): it can read the file system and write to /tmp/NAME alone, which is also its TMPDIR. Of /tmp, /run, other users' folders and Sluice's own store it sees nothing. Standard input, output and errors are its own, signals are passed on, and it ends with its exit code. What is still there two seconds after SIGTERM is killed; nothing that it started is left.",
    "The network is that of the machine. Of the environment COMMAND gets HOME, LOGNAME, PATH, SHELL, TERM and USER, and what --env names. Where bubblewrap cannot run nothing is started.",
  ],
  options: [
    { name: "user", value: "NAME", help: "whose folder: no other is seen" },
    { name: "tenant", value: "NAME", help: "the tenant that the user belongs to, where there are tenants" },
    {
      name: "tmp",
      value: "DIR",
      help: "the folder that users' folders lie in, outside of the sandbox; left out, the system's folder for temporary files",
    },
    { name: "hide", value: "DIR", multiple: true, help: "a folder that COMMAND must not see, such as a store" },
    { name: "env", value: "VARIABLE", multiple: true, help: "a variable of the environment that COMMAND gets too" },
  ],
  examples: [
    ["sluice run --user ada -- uvx mcp-server-git", "a server of ada's"],
    ["sluice run --user ada --hide ./store --env API_KEY -- node server.js", "that must not see a store"],
  ],
  load: () => import("./run.js"),
};
