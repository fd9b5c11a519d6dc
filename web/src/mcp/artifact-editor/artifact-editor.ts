/**
 * Makes changed copies of stored artifacts, so that a model need not write what it only changes.
 * @module
 */
import { sha256 } from "#hash";
import type { StreamHash } from "../../artifacts/hash.js";
import { isTruncated } from "../../artifacts/reference.js";
import type { ArtifactRef, ArtifactWriter } from "../../artifacts/store.js";
import { countNoun, humanSize } from "../../core/amounts.js";
import type { ArtifactToolResult } from "../../core/types.js";
import { SluiceError } from "../../errors/error.js";
import { guardStorage } from "../../errors/storage.js";
import { type AnswerParts, describeError, prefixWithin, writeAnswer, writeFailure } from "../artifact-reader/answer.js";
import { artifactUri } from "../artifact-reader/definition.js";
import { readHead, inspect, type Inspection } from "../artifact-reader/inspection.js";
import { findRecord } from "../artifact-reader/derived-record.js";
import { findArtifact, pour, type Readable, type ReadSource } from "../artifact-reader/source.js";
import type { EditPlan } from "./plan.js";
import { parseEditRequest, type EditWanted } from "./request.js";
import type { Piece, Rewriter } from "./rewriter.js";
import { planReplacement } from "./text-replacement.js";

export { editTool, editToolName, type EditTool } from "./definition.js";

/** Most characters of an answer, as code points of its JSON, by default. */
const MAX_CHARS = 10_000;

/** Characters of an answer reserved for our own sentences. */
const FRAME_CHARS = 1600;

const LEAST_CHARS = 2000;

/** Largest artifact that is edited, and largest result, in bytes, by default. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** Most characters that are shown around the first change. */
const MAX_SHOWN = 1000;

/** Options for an {@link ArtifactEditor}. */
export interface ArtifactEditorOptions {
  /** The tool's own name, which becomes the origin of what it stores. */
  readonly tool: string;
  /** Name of the tool that reads, for remedies. */
  readonly readTool: string;
  /**
   * Most characters of an answer, as code points of its JSON, at least 2,000.
   * @defaultValue 10,000
   */
  readonly maxChars?: number;
  /**
   * Largest artifact that is edited, and largest result, in bytes.
   * @defaultValue 1 GiB
   */
  readonly maxBytes?: number;
  /** Called with each artifact that was stored. */
  readonly onStored?: ((ref: ArtifactRef) => void) | undefined;
}

/**
 * Edits artifacts of a source. What is there is never changed: each edit is a new artifact in the same scope and namespace. Text and
 * rows are rewritten while they stream; a JSON document of at most 16 MiB is held in memory.
 *
 * @example
 * const editor = new ArtifactEditor(source, { tool: "artifact_edit", readTool: "artifact_read" });
 * const result = await editor.call({ uri: "artifact://web_1a2b3c4d5e6f", old_string: "<h1>Old", new_string: "<h1>New" });
 */
export class ArtifactEditor {
  readonly #source: ReadSource;
  readonly #options: ArtifactEditorOptions;
  readonly #maxChars: number;

  constructor(source: ReadSource, options: ArtifactEditorOptions) {
    this.#source = source;
    this.#options = options;
    this.#maxChars = Math.max(LEAST_CHARS, options.maxChars ?? MAX_CHARS);
  }

  /** Answers a call of the tool. Errors are results too; only an abort rejects. */
  async call(args: unknown, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ArtifactToolResult> {
    try {
      const { id, wanted } = parseEditRequest(args);
      const from = await this.#open(id, signal);
      const most = Math.min(MAX_SHOWN, this.#maxChars - FRAME_CHARS);
      const plan = await planEdit(from, wanted, most);
      const told = await this.#make(from, plan, most);
      const result = writeAnswer(told, from.ref.sha256, this.#maxChars);
      return plan.kind === "refused" ? { ...result, isError: true } : result;
    } catch (error) {
      signal?.throwIfAborted();
      return writeFailure(describeError(error, "The edit could not be made just now: try again."));
    }
  }

  async #open(id: string, signal: AbortSignal | undefined): Promise<Readable> {
    const source = this.#source;
    const ref = await findArtifact(source, id);
    const maxScanned = this.#options.maxBytes ?? MAX_BYTES;
    if (ref.size_bytes > maxScanned) throw tooLarge(`The artifact is larger than ${humanSize(maxScanned)}`);
    return { ref, source, maxScanned, tool: this.#options.readTool, signal };
  }

  async #make(from: Readable, plan: EditPlan, most: number): Promise<AnswerParts> {
    const origin = artifactUri(from.ref.id);
    if (plan.kind === "refused") return plan.parts;
    if (plan.kind === "unchanged") {
      return { head: `Nothing was changed: ${plan.said}. ${origin} stays as it is, and no artifact was made` };
    }
    if (plan.size > from.maxScanned) throw tooLarge(`The result would be larger than ${humanSize(from.maxScanned)}`);
    const { ref, shown } = await this.#write(from, plan.rewriter);
    this.#options.onStored?.(ref);
    const own = artifactUri(ref.id);
    const sizes = `${countNoun(from.ref.size_bytes, "byte")} before, ${countNoun(ref.size_bytes, "byte")} now`;
    const head = `${own} is ${origin} with ${plan.said}; ${sizes}`;
    const notes = [
      `Pass ${own} as a tool argument (${own}?as=text where a tool takes text: HTML stays HTML), or edit it further. ${origin} is still there, unchanged.`,
    ];
    const data = prefixWithin(shown, most).text;
    return data === "" ? { head, notes } : { head: `${head}. Around the first change`, data, notes };
  }

  /** Writes the result. Leaves nothing behind if it fails or is aborted. */
  async #write(from: Readable, rewriter: Rewriter): Promise<{ readonly ref: ArtifactRef; readonly shown: string }> {
    const { ref: origin, source, signal } = from;
    const { mime_type, filename } = origin;
    const info = { mime_type, filename, source: this.#toSource(origin) };
    const writer = await guardStorage("write", async () => source.openWriter?.(origin, info));
    if (writer === undefined) throw keepsNothing();
    try {
      const output = new Output(writer, await sha256.stream(), signal);
      let read = 0;
      await pour(from, { start: 0, end: origin.size_bytes }, async (chunk) => {
        read += chunk.length;
        await output.write(rewriter.push(chunk));
        return true;
      });
      if (read !== origin.size_bytes) throw new SluiceError("E_STORE_READ", "The artifact ended early: try again.");
      await output.write(rewriter.end());
      const hash = await output.end();
      signal?.throwIfAborted();
      const record = await findRecord(source, origin, hash);
      const ref = await guardStorage("write", () => writer.close(record));
      if (isTruncated(ref)) throw keepsNothing();
      return { ref, shown: output.shown() };
    } finally {
      // After `close` this does nothing.
      await writer.abort().catch(() => undefined);
    }
  }

  /** What a listing tells of the result. `openWriter` adds where it comes from. */
  #toSource(origin: ArtifactRef): ArtifactRef["source"] {
    return { tool: this.#options.tool, description: `Edited copy of ${artifactUri(origin.id)}` };
  }
}

async function planEdit(from: Readable, wanted: EditWanted, most: number): Promise<EditPlan> {
  const inspection = inspect(from, await readHead(from));
  await checkText(inspection);
  if (wanted.kind === "text") return planReplacement(from, inspection, wanted, most);
  // The JSON parser is loaded only for what needs it.
  if (wanted.kind === "patch") return (await import("./patch.js")).planPatch(from, inspection, wanted);
  return (await import("./rows.js")).planRows(from, inspection, wanted);
}

async function checkText({ isText, head }: Inspection): Promise<void> {
  if (isText) return;
  const { detectEncoding, nameEncoding } = await import("../../core/text-encoding.js");
  const encoding = detectEncoding(head);
  const what =
    encoding === undefined ? "not text, as workbooks, PDFs, images and archives are" : `${nameEncoding(encoding)} text`;
  const sentence = `The artifact is ${what}: only UTF-8 text, JSON, NDJSON, CSV and TSV can be edited here. Use a tool that writes such files, and pass it the artifact's URI.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "uri" });
}

function tooLarge(what: string): SluiceError {
  return new SluiceError("E_TOO_LARGE", `${what}: that is more than can be edited.`, { path: "uri" });
}

function keepsNothing(): SluiceError {
  const sentence =
    "There is no store that keeps artifacts, so the result would be lost: give the whole content to the tool.";
  return new SluiceError("E_STORE_WRITE", sentence);
}

const PIECE = 64 * 1024;

/** Bytes shown before the first change, and from it on. */
const [BEFORE, AFTER] = [400, 1200];

/** Writes pieces in larger ones, and keeps what stands around the first change. */
class Output {
  readonly #writer: ArtifactWriter;
  readonly #hash: StreamHash;
  readonly #signal: AbortSignal | undefined;
  readonly #buffer = new Uint8Array(PIECE);
  #filled = 0;
  /** The last bytes before the buffer. */
  #tail: Uint8Array = new Uint8Array(0);
  #before: Uint8Array | undefined;
  readonly #after = new Uint8Array(AFTER);
  #shown = 0;

  constructor(writer: ArtifactWriter, hash: StreamHash, signal: AbortSignal | undefined) {
    this.#writer = writer;
    this.#hash = hash;
    this.#signal = signal;
  }

  async write(pieces: Iterable<Piece>): Promise<void> {
    for (const { bytes, isNew } of pieces) {
      if (isNew) this.#before ??= this.#last();
      if (this.#before !== undefined) this.#show(bytes);
      for (let at = 0; at < bytes.length;) {
        const part = bytes.subarray(at, at + PIECE - this.#filled);
        this.#buffer.set(part, this.#filled);
        this.#filled += part.length;
        at += part.length;
        if (this.#filled === PIECE) await this.#flush();
      }
    }
  }

  /** Writes the rest. Returns the hash of all. */
  async end(): Promise<string> {
    await this.#flush();
    return this.#hash.digest();
  }

  /** The lines around the first change. Cut off parts of the first line are left out if there are others. */
  shown(): string {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const before = decoder.decode(withoutContinuation(this.#before ?? new Uint8Array(0)));
    const after = decoder.decode(this.#after.subarray(0, this.#shown), { stream: true });
    const lines = before.split("\n");
    return lines.slice(-2 - (lines.at(-1) === "" ? 1 : 0)).join("\n") + after;
  }

  async #flush(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#filled === 0) return;
    const bytes = this.#buffer.subarray(0, this.#filled);
    this.#hash.update(bytes);
    await guardStorage("write", () => this.#writer.write(bytes));
    this.#tail = this.#last();
    this.#filled = 0;
  }

  #last(): Uint8Array {
    if (this.#filled >= BEFORE) return this.#buffer.slice(this.#filled - BEFORE, this.#filled);
    const last = new Uint8Array(Math.min(BEFORE, this.#tail.length + this.#filled));
    const kept = last.length - this.#filled;
    last.set(this.#tail.subarray(this.#tail.length - kept));
    last.set(this.#buffer.subarray(0, this.#filled), kept);
    return last;
  }

  #show(bytes: Uint8Array): void {
    const part = bytes.subarray(0, AFTER - this.#shown);
    this.#after.set(part, this.#shown);
    this.#shown += part.length;
  }
}

/** Leaves out leading bytes that continue a character. */
function withoutContinuation(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return from > 0 && from < 4 ? bytes.subarray(from) : bytes;
}
