/**
 * Commands on what is stored: `sluice artifacts …` and `sluice store …`.
 * @module
 */
import type { CommandSpec } from "../command.js";
import { CONFIG, JSON_OUT, SCOPE, STORE } from "./options.js";

/** `sluice artifacts …` */
export const ARTIFACT_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../artifacts.js")).listArtifacts,
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
    load: async () => (await import("../artifacts.js")).getArtifact,
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
    load: async () => (await import("../artifacts.js")).statArtifact,
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
    load: async () => (await import("../artifacts.js")).deleteArtifacts,
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
    load: async () => (await import("../artifacts.js")).collectGarbage,
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
    load: async () => (await import("../artifacts.js")).purgeStore,
  },
];

/** `sluice store …` */
export const STORE_COMMANDS: readonly CommandSpec[] = [
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
    load: async () => (await import("../store/check.js")).checkStore,
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
    load: async () => (await import("../store/copy.js")).copy,
  },
];
