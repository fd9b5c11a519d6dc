/**
 * The commands for users' files.
 * @module
 */
import { JSON_OUT, STORE } from "../options.js";
import type { CommandSpec, OptionSpec } from "../spec.js";

const WHOSE: readonly OptionSpec[] = [
  { name: "user", value: "NAME", help: "whose files: one user never sees another's" },
  { name: "tenant", value: "NAME", help: "the tenant that the user belongs to, where there are tenants" },
  STORE,
];

/** `sluice files …` */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "files list",
    summary: "list a user's files",
    operands: "",
    maxOperands: 0,
    about: ["A table on a terminal; in a pipe tab-separated lines: name, type, bytes, where it came from, versions."],
    options: [...WHOSE, JSON_OUT],
    examples: [["sluice files list --user ada --store ./store", "what ada has"]],
    load: () => import("./list.js"),
  },
  {
    name: "files put",
    changesStore: true,
    summary: "put files into a user's files",
    operands: "[FILE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Keeps each FILE, or standard input, by its name, made fit for every system; what had the name before stays as an older version. Prints the names.",
    ],
    options: [...WHOSE, { name: "as", value: "NAME", help: "the name, in place of FILE's own" }, JSON_OUT],
    examples: [
      ["sluice files put --user ada sales.csv", "one file"],
      ["curl -s https://example.org/x | sluice files put --user ada --as x.html", "from a pipe"],
    ],
    load: () => import("./put.js"),
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
    load: () => import("./get.js"),
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
    load: () => import("./rm.js"),
  },
  {
    name: "files rename",
    changesStore: true,
    summary: "call a user's file otherwise",
    operands: "NAME NEW",
    minOperands: 2,
    maxOperands: 2,
    about: ["All versions go with it. A name that another file has is refused."],
    options: [...WHOSE, JSON_OUT],
    examples: [["sluice files rename --user ada sales.csv sales-2025.csv", "a better name"]],
    load: () => import("./rename.js"),
  },
];
