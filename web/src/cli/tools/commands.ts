/**
 * The commands of `sluice tools`.
 * @module
 */
import { JSON_OUT, OWNER, RESULTS, SOURCES } from "../options.js";
import type { CommandSpec } from "../spec.js";

/** List, connect, call. */
export const TOOL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "tools list",
    summary: "list presets, or the tools of sources",
    operands: "[SOURCE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: [
      "Without names and without --config: the presets that there are, what each is for, and which variables of the environment it needs.",
      "Otherwise connects to the sources that are named, presets or sources of the file, or to all of the file where none is, and lists their tools: a table on a terminal, tab-separated lines in a pipe (name, what calling it may do, description), with --json an array of {name, description, input_schema, side_effects}. A source that cannot be reached costs the others nothing; the exit code is that of the first.",
    ],
    options: [SOURCES, JSON_OUT],
    examples: [
      ["sluice tools list", "the presets"],
      ["FILESYSTEM_ROOT=. sluice tools list filesystem", "the tools of one"],
      ["sluice tools list --config sources.json --json", "the tools of all sources of a file, with their schemas"],
    ],
    load: () => import("./list.js"),
  },
  {
    name: "tools connect",
    summary: "try whether a source can be reached",
    operands: "SOURCE",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Connects to a preset, or to the source of the file that has this name, and says which tools and resources it has, and how long it took.",
    ],
    options: [SOURCES],
    examples: [
      ["SQLITE_FILE=data.db sluice tools connect sqlite", "a preset"],
      ["sluice tools connect weather --config sources.json", "a source of a file"],
    ],
    load: () => import("./connect.js"),
  },
  {
    name: "tools call",
    changesStore: true,
    summary: "call a tool, and print what a model would see",
    operands: "SOURCE.TOOL",
    minOperands: 1,
    maxOperands: 1,
    about: [
      "Connects to the source, which is one of the file or a preset, calls the tool, and prints the observation. Bytes and large text of the result go to the store, with a line on standard error for each.",
      "Exits 1 when the tool says that it failed: the observation says how. Ctrl-C cancels the call, at the server too.",
    ],
    options: [
      {
        name: "args",
        value: "JSON|@FILE|-",
        help: "the arguments, a JSON object: as it is, from a file, or from standard input; {} when left out",
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
    load: () => import("./call.js"),
  },
];
