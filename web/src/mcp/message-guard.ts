/**
 * Keeps bytes from a model in every message that is no result of a tool: errors, prompts, progress, logging, requests of the server, and the
 * state of tasks. What is taken out is stored. In its place stands what the schema of the message wants there.
 * @module
 */
import type { AnswerRef, Sluice, Transformed, TransformOptions } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { joinPointer } from "../json/pointer.js";
import { storageError } from "../errors/storage.js";
import {
  appendEdit,
  applyEdits,
  readName,
  parseJson,
  replaceEdit,
  sliceSource,
  valueAt,
  type Edit,
  type ValueNode,
} from "../json/text.js";
import { cutText, type DescriptionGuard } from "./description-guard.js";
import { surveyStrings, type GuardedPiece, type SurveyOptions } from "./guarded-pieces.js";

interface MessageGuardDeps {
  readonly sluice: Sluice;
  readonly descriptions: DescriptionGuard;
  /** How what is taken out is stored and told. */
  readonly options: () => TransformOptions;
  /** Characters that hold nothing: the least that the configuration lets be taken out. */
  readonly least: number;
  /** Characters of a text that stays. */
  readonly longest: number;
  /** Called with what was taken out of a message. */
  readonly onStored: (parts: StoredParts, sizes: { readonly bytesIn: number; readonly bytesOut: number }) => void;
}

/** What was taken out of a message, and what failed meanwhile. */
export type StoredParts = Pick<Transformed, "artifacts" | "failures">;

/** Most artifacts of one message. What is more of it is removed. */
const MAX_ARTIFACTS = 100;

const REFS = "sluice/refs";

/** How a kind of message is looked through; `described`: the server speaks about itself. */
type Kind = Omit<SurveyOptions, "least"> | "described";

const PLAIN: Kind = {};
const BLOCKS: Kind = { hasBlocks: true };
/** Requests to the client in a result. */
const REQUESTS: Kind = { hasBlocks: true };
const META: Kind = { values: "all", skips: new Set(["sluice/refs", "sluice/artifacts", "sluice/reduced"]) };

/** What stands in a result, whose references are listed for `restore`. */
const RESTORED: ReadonlySet<Kind> = new Set([REQUESTS, META]);

/** Requests and notifications from the server, by method: what stands in `params`. */
const UNASKED: Readonly<Record<string, Kind>> = {
  "notifications/message": { values: new Set(["data"]) },
  "notifications/progress": PLAIN,
  "notifications/cancelled": PLAIN,
  "notifications/elicitation/complete": PLAIN,
  // Their result has gone through the gate before.
  "notifications/tasks": { hasBlocks: true, skips: new Set(["result"]) },
  "notifications/tasks/status": { hasBlocks: true, skips: new Set(["result"]) },
  // Claude Code shows it to its model.
  "notifications/claude/channel": { values: new Set(["meta"]) },
  "sampling/createMessage": BLOCKS,
  "elicitation/create": PLAIN,
};

/** Answers, by the method of their request: what stands in `result`. */
const ANSWERS: Readonly<Record<string, Kind>> = {
  initialize: "described",
  "server/discover": "described",
  "tools/list": "described",
  "prompts/list": "described",
  "resources/list": "described",
  "resources/templates/list": "described",
  "prompts/get": BLOCKS,
  "tasks/get": { hasBlocks: true, skips: new Set(["result"]) },
  "tasks/list": PLAIN,
  "tasks/cancel": PLAIN,
};

const ERROR: Kind = { values: new Set(["data"]) };

/** Whether a message from the server that answers nothing is looked through. */
export function isGuardedMethod(method: string): boolean {
  return Object.hasOwn(UNASKED, method);
}

/** Whether the answer to a request is looked through, if it is no error: errors always are. */
export function isGuardedAnswer(method: string): boolean {
  return Object.hasOwn(ANSWERS, method);
}

/** Takes bytes and long texts out of messages. */
export class MessageGuard {
  readonly #deps: MessageGuardDeps;

  constructor(deps: MessageGuardDeps) {
    this.#deps = deps;
  }

  /**
   * Returns a message of the server's without bytes, of which `asked` is the method of the request that it answers. The same text if there is
   * nothing to take out.
   *
   * @throws SluiceError E_JSON_… or E_TOO_LARGE for a message with bytes that cannot be taken apart.
   */
  async guardMessage(message: string, asked?: string): Promise<string> {
    if (message.length < this.#deps.least) return message;
    return this.#guard(message, (root) =>
      listMembers(root).flatMap(([name, value]): readonly Guarded[] => {
        const kind =
          name === "error"
            ? ERROR
            : name === "result"
              ? ANSWERS[asked ?? ""]
              : name === "params"
                ? UNASKED[readMethod(root)]
                : undefined;
        return kind === undefined ? [] : [{ node: value, kind }];
      }),
    );
  }

  /**
   * Returns the result of a call, which has gone through the gate, without bytes in what the gate leaves alone: requests to the client, and
   * `_meta` if `readsMeta` says that the client's model reads it.
   *
   * @throws SluiceError as {@link guardMessage}.
   */
  async guardResult(result: string, readsMeta: boolean): Promise<string> {
    if (result.length < this.#deps.least) return result;
    // An escape may hide a letter of a name.
    if (!/"inputRequests"|\\u/.test(result) && !(readsMeta && result.includes('"_meta"'))) return result;
    return this.#guard(result, (root) =>
      listMembers(root).flatMap(([name, value]): readonly Guarded[] => {
        if (name === "inputRequests") return [{ node: value, kind: REQUESTS }];
        return name === "_meta" && readsMeta ? [{ node: value, kind: META }] : [];
      }),
    );
  }

  async #guard(text: string, find: (root: ValueNode) => readonly Guarded[]): Promise<string> {
    const { least, descriptions, onStored } = this.#deps;
    const root = parseUnlessVast(text);
    if (root === undefined) return this.#refuseUnlessClean(text);
    const edits: Edit[] = [];
    const found: Found = { artifacts: [], failures: [], refs: [] };
    for (const { node, kind } of find(root)) {
      if (kind === "described") {
        const source = sliceSource(text, node);
        const insert = await descriptions.guardText(source);
        if (insert !== source) edits.push(replaceEdit(node, insert));
        continue;
      }
      for (const piece of surveyStrings(node, { ...kind, least })) {
        const place = RESTORED.has(kind) ? pointerTo(root, piece.node) : undefined;
        const insert = await this.#reduce(sliceSource(text, piece.node), piece, found, place);
        if (insert !== undefined) edits.push(replaceEdit(piece.node, insert));
      }
    }
    const guarded = addRefs(applyEdits(text, edits), found.refs);
    if (found.artifacts.length + found.failures.length > 0)
      onStored(found, { bytesIn: text.length, bytesOut: guarded.length });
    return guarded;
  }

  /** What stands in the place of a piece, as JSON text. Undefined if it stays. `place`: where it stands in a result. */
  async #reduce(source: string, piece: GuardedPiece, found: Found, place?: string): Promise<string | undefined> {
    const { kind } = piece;
    if (kind === "name" || found.artifacts.length >= MAX_ARTIFACTS) return this.#remove(source, kind);
    const [before, behind] = WRAPPED[kind];
    let reduced: Transformed;
    try {
      await using stream = this.#deps.sluice.open(this.#deps.options());
      await stream.write(new TextEncoder().encode(`${before}${source}${behind}`));
      reduced = await stream.close();
    } catch (error) {
      // Errors of the store are asked for: the message is of use without what it could not keep.
      found.failures.push(storageError(error, "write"));
      return this.#remove(source, kind);
    }
    if (!reduced.changed) return undefined;
    found.artifacts.push(...reduced.artifacts);
    found.failures.push(...reduced.failures);
    const insert = readReduced(reduced.text, kind);
    if (insert === undefined) return this.#remove(source, kind);
    if (place !== undefined) found.refs.push(...listRefs(reduced, kind, place));
    return insert;
  }

  /** The same without storing anything. */
  async #remove(source: string, kind: GuardedPiece["kind"]): Promise<string | undefined> {
    if (kind === "block")
      return JSON.stringify({ type: "text", text: "[sluice] A file was left out: it could not be stored." });
    const removed = await this.#deps.descriptions.removeRuns(source);
    if (kind !== "text") return removed;
    return cutText(removed ?? source, this.#deps.longest) ?? removed;
  }

  /** What nests too deep to be taken apart, or has too many values, passes if it holds no bytes. */
  async #refuseUnlessClean(message: string): Promise<string> {
    if ((await this.#deps.descriptions.removeRuns(message)) === undefined) return message;
    throw new SluiceError("E_TOO_LARGE", "it holds bytes, and nests too deep or has too many values to be taken apart");
  }
}

/** A part of a message, and how it is looked through. */
interface Guarded {
  readonly node: ValueNode;
  readonly kind: Kind;
}

/** What was taken out of one message. */
interface Found {
  readonly artifacts: AnswerRef[];
  readonly failures: SluiceError[];
  /** Entries for the list by which `restore` works. */
  readonly refs: string[];
}

const TEXT = ['{"content":[{"type":"text","text":', "}]}"] as const;
const BLOCK = ['{"content":[', "]}"] as const;
const VALUE = ["[", "]"] as const;

/** What a piece stands in while it goes through the gate, which writes each part of a result as its schema wants it. */
const WRAPPED: Readonly<Record<Exclude<GuardedPiece["kind"], "name">, readonly [string, string]>> = {
  text: TEXT,
  block: BLOCK,
  list: VALUE,
  value: VALUE,
};

/** What the gate made of a piece. Undefined if it is not of the kind that may stand there. */
function readReduced(text: string, kind: GuardedPiece["kind"]): string | undefined {
  const root = parseJson(text);
  const content = valueAt(root, "content");
  if (kind === "text" || kind === "block") {
    const block = content?.type === "Array" ? content.elements[0]?.value : undefined;
    if (block === undefined || kind === "block") return block && sliceSource(text, block);
    const told = valueAt(block, "text");
    return told?.type === "String" ? sliceSource(text, told) : undefined;
  }
  const value = root.type === "Array" ? root.elements[0]?.value : root;
  if (value === undefined) return undefined;
  const source = sliceSource(text, value);
  return kind === "list" && value.type !== "Array" ? `[${source}]` : source;
}

function readMethod(root: ValueNode): string {
  const method = valueAt(root, "method");
  return method?.type === "String" ? method.value : "";
}

/** An entry in the list of references: see `Edits` in `wasm/src/layers/result/references.h`. */
interface RefEntry {
  readonly at: string;
  readonly uri?: string;
  readonly was?: { readonly text?: string };
  readonly refs?: readonly RefEntry[];
}

/** Where a piece stands in what it is wrapped in. */
const INNER: Readonly<Record<keyof typeof WRAPPED, string>> = {
  text: "/content/0/text",
  block: "/content/0",
  list: "/0",
  value: "/0",
};

/** The references in a piece that went through the gate, as those of a place in a result. */
function listRefs({ refs = "[]" }: Transformed, kind: keyof typeof WRAPPED, place: string): readonly string[] {
  const moved = (JSON.parse(refs) as readonly RefEntry[]).flatMap((entry): readonly object[] => {
    const { at, uri, was, refs: inside = [] } = entry;
    // A whole list became a reference, which stands in a list.
    if (kind === "list" && at === "/0") return [{ at: place, was: uri, refs: [{ ...entry, at: "" }] }];
    if (at === INNER[kind] || at.startsWith(`${INNER[kind]}/`)) {
      return [{ ...entry, at: place + at.slice(INNER[kind].length) }];
    }
    // A sentence stands for the block that the text was put into.
    if (kind !== "text" || at !== INNER.block || was?.text === undefined) return [];
    return [{ at: place, was: was.text, refs: inside.map((each) => ({ ...each, at: each.at.replace("/text", "") })) }];
  });
  return moved.map((entry) => JSON.stringify(entry));
}

/** The JSON Pointer of a node below another. */
function pointerTo(root: ValueNode, node: ValueNode): string {
  const open: { readonly at: ValueNode; readonly path: readonly (string | number)[] }[] = [{ at: root, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, path } = next;
    if (at === node) return joinPointer(path);
    if (at.type === "Array")
      for (const [index, { value }] of at.elements.entries()) open.push({ at: value, path: [...path, index] });
    if (at.type === "Object")
      for (const [name, value] of listMembers(at)) open.push({ at: value, path: [...path, name] });
  }
  return "";
}

/** A result with entries in the list of its references, which its `_meta` has, or gets. */
function addRefs(result: string, entries: readonly string[]): string {
  if (entries.length === 0) return result;
  const root = parseJson(result);
  const meta = valueAt(root, "_meta");
  const joined = entries.join(",");
  if (meta === undefined && root.type === "Object") {
    return applyEdits(result, [appendEdit(root, `"_meta":{"${REFS}":[${joined},{"at":"/_meta","added":true}]}`)]);
  }
  if (meta?.type !== "Object") return result;
  const list = valueAt(meta, REFS);
  const edit = list?.type === "Array" ? appendEdit(list, joined) : appendEdit(meta, `"${REFS}":[${joined}]`);
  return applyEdits(result, [edit]);
}

/** The members of an object, duplicates too: readers differ in which one they take. */
function listMembers(node: ValueNode): readonly (readonly [string, ValueNode])[] {
  return node.type === "Object" ? node.members.map((member) => [readName(member), member.value] as const) : [];
}

/** The parsed text. Undefined if it nests too deep or has too many values. */
function parseUnlessVast(text: string): ValueNode | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SluiceError && error.code !== "E_JSON_SYNTAX") return undefined;
    throw error;
  }
}
