/**
 * Commands on users' files: `sluice files …`.
 * @module
 */
import type { CommandSpec, OptionSpec } from "../command.js";
import { JSON_OUT, LARGE_STORE, MAX_SIZE, SIZE_LIMIT, STORE } from "./options.js";

const WHOSE: readonly OptionSpec[] = [
  { name: "user", value: "NAME", help: "the owner of the files; users never see each other's files" },
  { name: "tenant", value: "NAME", help: "the user's tenant, if there are tenants" },
  STORE,
  LARGE_STORE,
];

/** `sluice files …` */
export const FILE_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../files.js")).listFiles,
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
    load: async () => (await import("../files.js")).putFiles,
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
    load: async () => (await import("../files.js")).getFile,
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
    load: async () => (await import("../files.js")).removeFiles,
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
    load: async () => (await import("../files.js")).renameFile,
  },
];
