/**
 * The commands of `sluice resources`.
 * @module
 */
import { JSON_OUT, OWNER, RESULTS, SOURCES } from "../options.js";
import type { CommandSpec } from "../spec.js";

/** List, templates, read. */
export const RESOURCE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "resources list",
    summary: "list what a source has to read",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Connects to a source of the file, or to a preset, and lists its resources: a table on a terminal, tab-separated lines in a pipe (URI, type, bytes, name), with --json an array.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [["sluice resources list docs --config sources.json", "what there is to read"]],
    load: () => import("./list.js"),
  },
  {
    name: "resources templates",
    summary: "list the patterns of a source's URIs",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Lists the URI templates of a source (RFC 6570): a table on a terminal, tab-separated lines in a pipe (template, type, name), with --json an array.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [["sluice resources templates docs --config sources.json --json", "the templates as JSON"]],
    load: () => import("./templates.js"),
  },
  {
    name: "resources read",
    changesStore: true,
    summary: "read a resource of a source",
    operands: "SOURCE URI",
    minOperands: 2,
    maxOperands: 2,
    about: [
      "Prints short texts as they are. Bytes and long texts go to the store, and a sentence says what each is; `sluice artifacts get` fetches it. With several contents each stands behind a line with its URI. --json prints {contents, artifacts}, with the references of all that was stored.",
    ],
    options: [SOURCES, RESULTS, OWNER, JSON_OUT],
    examples: [
      ["sluice resources read docs file:///guide.md --config sources.json", "a text"],
      ["sluice resources read docs file:///guide.pdf --config sources.json --store ./store --json", "a file, stored"],
    ],
    load: () => import("./read.js"),
  },
];
