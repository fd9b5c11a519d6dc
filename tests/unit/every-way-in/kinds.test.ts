/**
 * No message that a server can send brings bytes to a model, whatever way it comes: each kind of message, with a file hidden in each of its
 * places, against each way. The table of what became of it is written to `build/every-way-in.md`.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leaksIn } from "./checks.js";
import { KINDS, requestFor, type Guard, type Kind } from "./kinds.js";
import { MESSAGE_WAYS, startSaying, type Listener, type MessageWay, type Saying } from "./listeners.js";
import { Random } from "./random.js";
import { ROOT } from "../cli/command.js";
import { isFull } from "../../support/full.js";

const bytes = Buffer.concat([
  Buffer.from("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"),
  new Random(49).bytes(2500),
]);
const base64 = bytes.toString("base64");
const wrapped = base64.replace(/.{76}/g, "$&\n");

/** Spellings that may stand in any string. */
const SPELLINGS: readonly string[] = [
  base64,
  bytes.toString("base64url"),
  wrapped,
  `See ${base64}\nand ask again.`,
  bytes.toString("hex"),
  `<img src="data:application/pdf;base64,${base64}">`,
  JSON.stringify({ page: { file: base64 } }),
  JSON.stringify({ inner: JSON.stringify({ file: [...bytes] }) }),
];

const LISTS: readonly unknown[] = [[...bytes], { type: "Buffer", data: [...bytes] }, wrapped.split("\n")];

/** The kinds that a way meets: in a brief run every fourth, others for the next way. */
function kindsFor(way: MessageWay): readonly Kind[] {
  const at = MESSAGE_WAYS.indexOf(way);
  return isFull ? KINDS : KINDS.filter((_, number) => number % 4 === at % 4);
}

/** What is hidden in a place: everything in a full run, in a brief one base64 and another spelling, which differs from place to place. */
function spellingsFor(kind: Kind): readonly unknown[] {
  const { isBase64 = false, takesLists = false, guard, name } = kind;
  // A name has no line breaks, and a text in it is no JSON.
  if (isBase64 || guard === "left out" || name.includes("name")) return [base64];
  const all = takesLists ? [...SPELLINGS, ...LISTS] : SPELLINGS;
  return isFull ? all : [base64, all[1 + (KINDS.indexOf(kind) % (all.length - 1))]];
}

let folder: string;
let saying: Saying;
const table = new Map<string, string[]>();

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-kinds-")));
  saying = await startSaying(folder);
});

afterAll(async () => {
  await saying[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  if (!isFull) return;
  const rows = [...table].map(([name, cells]) => `| ${name} | ${cells.join(" | ")} |`);
  const head = [
    `| | ${MESSAGE_WAYS.map(({ name }) => name).join(" | ")} |`,
    `|---|${MESSAGE_WAYS.map(() => "---|").join("")}`,
  ];
  await mkdir(join(ROOT, "build"), { recursive: true });
  await writeFile(join(ROOT, "build", "every-way-in.md"), [...head, ...rows, ""].join("\n"));
});

/** What became of what was hidden. */
function guardIn(told: string): Guard {
  if (leaksIn({ bytes }, told) !== undefined) return "stays";
  // First, since a list of resources has what was stored before.
  if (told.includes("bytes removed]")) return "removed";
  return /artifact:\/\/\w+_[0-9a-f]{12}/.test(told) ? "stored" : "left out";
}

/** Listens for one way, once for each name of a client. */
class Listeners implements AsyncDisposable {
  readonly #way: MessageWay;
  readonly #open = new Map<string, Promise<Listener>>();

  constructor(way: MessageWay) {
    this.#way = way;
  }

  /** An introduction happens once, so what is hidden in it needs a listener of its own. */
  async hear(kind: Kind, hidden: unknown): Promise<string> {
    const sayings = kind.say(hidden as string);
    await saying.say(sayings);
    const { client = "suite" } = kind;
    const isOwn = "initialize" in sayings;
    const listener = isOwn ? this.#way.listen(saying, client) : this.#open.get(client);
    const opened = listener ?? this.#way.listen(saying, client);
    if (!isOwn) this.#open.set(client, opened);
    const [method, params] = requestFor(kind);
    const told = (await (await opened).ask(method, params)).join("\n");
    if (isOwn) await (await opened)[Symbol.asyncDispose]();
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#open.values()) await (await each)[Symbol.asyncDispose]();
  }
}

describe.each(MESSAGE_WAYS)("$name", (way) => {
  const listeners = new Listeners(way);
  afterAll(() => listeners[Symbol.asyncDispose]());

  test.each(kindsFor(way))("$name: $guard", async (kind) => {
    const cells = table.get(kind.name) ?? [];
    table.set(kind.name, cells);
    if (way.isTyped === true && kind.isUntyped === true) {
      cells.push("–");
      return;
    }
    const guards = new Set<Guard>();
    try {
      for (const hidden of spellingsFor(kind)) {
        const guard = guardIn(await listeners.hear(kind, hidden));
        guards.add(guard);
        expect(`${guard}: ${JSON.stringify(hidden).slice(0, 60)}`).toBe(
          `${kind.guard}: ${JSON.stringify(hidden).slice(0, 60)}`,
        );
      }
    } finally {
      cells.push([...guards].join(", "));
    }
  });
});
