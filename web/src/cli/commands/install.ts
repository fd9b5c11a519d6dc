/**
 * Commands that change the configurations of hosts: `sluice install`, `uninstall` and `doctor`.
 * @module
 */
import type { CommandSpec, OptionSpec } from "../command.js";
import { HOSTS } from "../install/hosts.js";
import { JSON_OUT, STORE } from "./options.js";

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
export const INSTALL_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../install/install.js")).install,
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
    load: async () => (await import("../install/install.js")).uninstall,
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
    load: async () => (await import("../install/doctor.js")).doctor,
  },
];
