/**
 * Reading stored artifacts back, in bounded answers: by one tool and as resources.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { answerOf, failureOf, type Told } from "./answer.js";
import { tellBytes } from "./byte-reading.js";
import { readToolName } from "./definition.js";
import { tellInfo } from "./info-reading.js";
import { tellPointer } from "./json-reading.js";
import { FRAME_CHARS, MAX_CHARS, MAX_SCANNED } from "./limits.js";
import { lookAt } from "./look.js";
import { readable } from "./readable.js";
import { tellRecords } from "./record-reading.js";
import { requestOf, resourceRequestOf, type Wanted } from "./request.js";
import { readResource } from "./resource-reading.js";
import { tellSearch } from "./search-reading.js";
import { found, type Readable, type ReadingSource } from "./source.js";
import type { ReadContents, TextResult } from "./wire.js";

export { listing, readTool, readToolName, resourceTemplate } from "./definition.js";
export type { ReadingSource } from "./source.js";
export type { ListedResource, ListedTemplate, ReadContent, ReadContents, ReadTool, TextResult } from "./wire.js";

/** Options of an {@link ArtifactReading}. */
export interface ReadingOptions {
  /** What the tool is called in answers; as {@link readTool} calls it for each artifact's namespace when left out. */
  readonly tool?: string;
  /** Most characters of an answer, as code points of its JSON; 10,000 when left out, never below 2,000. */
  readonly maxChars?: number;
  /** Most bytes read for one call of lines, rows or search; 1 GiB when left out. */
  readonly maxScannedBytes?: number;
}

/** What a caller may give along. */
export interface ReadCallOptions {
  /** Ends the reading; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const LEAST_CHARS = 2000;
const LEAST_CONTENT = LEAST_CHARS - FRAME_CHARS;

/**
 * Reads what a source gives. Of an artifact nothing but a bounded part is ever held, whatever its size.
 *
 * @example
 * const reading = new ArtifactReading(source);
 * const result = await reading.call({ uri: "artifact://tableau_1a2b3c4d5e6f", lines: "1-50" });
 */
export class ArtifactReading {
  readonly #source: ReadingSource;
  readonly #tool: string | undefined;
  readonly #maxChars: number;
  readonly #maxScanned: number;

  constructor(source: ReadingSource, options: ReadingOptions = {}) {
    this.#source = source;
    this.#tool = options.tool;
    this.#maxChars = Math.max(LEAST_CHARS, options.maxChars ?? MAX_CHARS);
    this.#maxScanned = options.maxScannedBytes ?? MAX_SCANNED;
  }

  /** Answers a call of the tool. What is wrong is a result too; only an abort rejects. */
  async call(args: unknown, { signal }: ReadCallOptions = {}): Promise<TextResult> {
    try {
      const { id, wanted, limit } = requestOf(args);
      const from = await this.#open(id, signal);
      const content = Math.max(LEAST_CONTENT, this.#maxChars - FRAME_CHARS);
      const told = await tell(from, wanted, Math.min(limit, content));
      return answerOf(told, from.ref.sha256, this.#maxChars);
    } catch (error) {
      signal?.throwIfAborted();
      return failureOf(sentenceOf(error));
    }
  }

  /**
   * Reads a resource: `artifact://<id>`, or a part as {@link resourceTemplate} says. Throws SluiceError: E_NOT_FOUND,
   * E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_….
   */
  async resource(uri: string, { signal }: ReadCallOptions = {}): Promise<ReadContents> {
    const { id, wanted } = resourceRequestOf(uri);
    try {
      return { contents: [await readResource(await this.#open(id, signal), wanted, uri)] };
    } catch (error) {
      signal?.throwIfAborted();
      throw storageError(error, "read");
    }
  }

  async #open(id: string, signal: AbortSignal | undefined): Promise<Readable> {
    const source = this.#source;
    const ref = await found(source, id);
    const tool = this.#tool ?? readToolName(ref.namespace);
    return { ref, source, maxScanned: this.#maxScanned, tool, signal };
  }
}

async function tell(from: Readable, wanted: Wanted, most: number): Promise<Told> {
  if (wanted.mode === "bytes") return tellBytes(from, wanted.range, most);
  const look = await lookAt(from);
  const { mode } = wanted;
  if (mode === "info") return tellInfo(from, look, most);
  if (mode === "search") return tellSearch(from, look, wanted.needle, most);
  if (mode === "pointer") return tellPointer(from, readable(look, mode), wanted.tokens, most);
  return tellRecords(from, readable(look, mode), mode, wanted.range, most);
}

/** Other errors may hold paths of the host: a model has no use for them. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof SluiceError)) return "The artifact could not be read just now: try again.";
  if (error.code !== "E_EXPIRED") return error.message;
  return "The artifact has expired; do not retry, call the tool again that gave it.";
}
