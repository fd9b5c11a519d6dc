/**
 * Keeps bytes out of what a server says about itself: instructions, and names, descriptions and schemas in its lists. Nothing is
 * stored, since hosts compare these texts from one connection to the next: what comes out depends on the server's text alone.
 * @module
 */
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { createSluiceOver, type WasmModules, type WasmSource } from "../core/sluice.js";
import type { Sluice } from "../core/types.js";
import {
  applyEdits,
  readName,
  parseJson,
  replaceEdit,
  sliceSource,
  valueAt,
  type Edit,
  type ValueNode,
} from "../json/text.js";
import { MIN_SIZE_FOR_DETECTION } from "../config/schema.mjs";
import { surveyStrings, type GuardedPiece } from "./guarded-pieces.js";

/** Characters of the shortest encoded run that is removed. */
export const MIN_RUN = MIN_SIZE_FOR_DETECTION;

/** Characters of a description. */
const MAX_DESCRIPTION = 20_000;

/** Texts for a model to read, which may be cut: in all others a value could be meant. */
const PROSE: ReadonlySet<string> = new Set(["description", "title", "instructions", "$comment"]);

/** Lists whose entries are called by their name, so that another name is of no use. */
const NAMED: ReadonlySet<string> = new Set(["tools", "prompts"]);

const REMOVED = /artifact:\/\/truncated_[0-9a-f]+\?[^"\s]*?size=(\d+)[^"\s]*?error=not-stored/g;

/** Removes encoded runs from texts of a server about itself, and cuts what is too long. */
export class DescriptionGuard {
  readonly #wasm: WasmSource | WasmModules | undefined;
  #sluice: Promise<Sluice> | undefined;

  /** `wasm` is where the core is, if not beside the library. It is loaded with the first text that is long. */
  constructor(wasm?: WasmSource | WasmModules) {
    this.#wasm = wasm;
  }

  /**
   * Returns a JSON value without encoded runs above 1,000 characters in its strings and names, and with descriptions of at most 20,000
   * characters. Entries of `tools` and `prompts` whose name holds a run are left out. The same text if nothing changes.
   *
   * @throws SluiceError E_JSON_… for what is not JSON, or nests too deep.
   */
  async guardText(json: string): Promise<string> {
    if (json.length < MIN_RUN) return json;
    const text = await this.#withoutUnnamed(json);
    const root = parseJson(text);
    const edits: Edit[] = [];
    for (const piece of surveyStrings(root, { least: MIN_RUN })) {
      const insert = await this.#guardPiece(sliceSource(text, piece.node), piece);
      if (insert !== undefined) edits.push(replaceEdit(piece.node, insert));
    }
    return applyEdits(text, edits);
  }

  /** The same for a value, which is returned itself if nothing changes. */
  async guardValue<Value>(value: Value): Promise<Value> {
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined || json.length < MIN_RUN) return value;
    let text: string;
    try {
      text = await this.guardText(json);
    } catch (error) {
      // What nests too deep to be taken apart stays if it holds no bytes.
      if ((await this.removeRuns(json)) === undefined) return value;
      throw error;
    }
    return text === json ? value : (JSON.parse(text) as Value);
  }

  /** The same for each entry of a list, without those that hold bytes and nest too deep to be taken apart. */
  async guardList<Entry>(listed: readonly Entry[]): Promise<readonly Entry[]> {
    try {
      return await this.guardValue(listed);
    } catch {
      const guarded = await Promise.all(listed.map((each) => this.guardValue([each]).catch((): Entry[] => [])));
      return guarded.flat();
    }
  }

  /** A value with `[N bytes removed]` for each encoded run, as JSON text. Undefined if it holds none. */
  async removeRuns(source: string): Promise<string | undefined> {
    this.#sluice ??= createSluiceOver(
      { store: new NoOpArtifactStore({ warn: () => undefined }), onFailure: "answer" },
      {
        auto_artifact_large_content: false,
        binary_detection: { min_size_for_detection: MIN_RUN, require_magic_bytes: false },
      },
      this.#wasm,
    );
    const sluice = await this.#sluice;
    await using stream = sluice.open({ dialect: "mcp" });
    await stream.write(new TextEncoder().encode(`[${source}]`));
    const { text, changed } = await stream.close();
    if (!changed) return undefined;
    return text.slice(1, -1).replace(REMOVED, "[$1 bytes removed]");
  }

  async #guardPiece(source: string, { key, kind }: GuardedPiece): Promise<string | undefined> {
    const removed = await this.removeRuns(source);
    if (kind !== "text" || !PROSE.has(key)) return removed;
    return cutText(removed ?? source, MAX_DESCRIPTION) ?? removed;
  }

  /** Without the entries whose name is bytes: what is called by another name is not found. */
  async #withoutUnnamed(text: string): Promise<string> {
    const root = parseJson(text);
    const lists = [root, valueAt(root, "result")].flatMap((node) =>
      node?.type === "Object" ? node.members.filter((each) => NAMED.has(readName(each))).map(({ value }) => value) : [],
    );
    const edits: Edit[] = [];
    for (const list of lists) {
      if (list.type !== "Array") continue;
      const kept: string[] = [];
      for (const { value } of list.elements)
        if (!(await this.#isUnnamed(value, text))) kept.push(sliceSource(text, value));
      if (kept.length < list.elements.length) edits.push(replaceEdit(list, `[${kept.join(",")}]`));
    }
    return applyEdits(text, edits);
  }

  async #isUnnamed(entry: ValueNode, text: string): Promise<boolean> {
    if (entry.type !== "Object") return false;
    for (const member of entry.members) {
      const source = sliceSource(text, member.value);
      if (readName(member) === "name" && source.length > MIN_RUN && (await this.removeRuns(source)) !== undefined)
        return true;
    }
    return false;
  }
}

/** A JSON string cut to so many characters, with a note of what is left out. Undefined if it is no longer. */
export function cutText(source: string, longest: number): string | undefined {
  if (source.length <= longest) return undefined;
  const characters = Array.from(JSON.parse(source) as string);
  const left = characters.length - longest;
  if (left <= 0) return undefined;
  return JSON.stringify(`${characters.slice(0, longest).join("")}\n[${left} more characters left out]`);
}
