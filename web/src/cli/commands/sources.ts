/**
 * Commands that ask sources: `sluice tools …` and `sluice resources …`.
 * @module
 */
import type { CommandSpec } from "../command.js";
import { JSON_OUT, OWNER, RESULTS, SOURCES } from "./options.js";

/** `sluice tools …` */
export const TOOL_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../tools/list.js")).run,
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
    load: async () => (await import("../tools/connect.js")).run,
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
    load: async () => (await import("../tools/connect.js")).disconnect,
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
    load: async () => (await import("../tools/call.js")).run,
  },
];

/** `sluice resources …` */
export const RESOURCE_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../tools/resources.js")).listResources,
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
    load: async () => (await import("../tools/resources.js")).listTemplates,
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
    load: async () => (await import("../tools/resources.js")).readResource,
  },
];
