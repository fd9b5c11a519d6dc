/**
 * Bytes that a tool answered, through the gate: JSON as it is, text as a string, anything else as a block of bytes.
 * @module
 */
import { encodePieces } from "../../core/value.js";
import { MAGIC } from "../../core/sluice.js";
import type { GatedResult, Sluice, TransformOptions } from "../../core/types.js";
import { SluiceError } from "../../errors/error.js";
import { joinBytes } from "../../artifacts/bytes.js";
import { through } from "./gated.js";

/** What the sender says the bytes are. `unknown` if it says nothing. */
export type Claim = "json" | "text" | "bytes" | "unknown";

/** The body of an answer. */
interface Body {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly claim: Claim;
  /** The declared type, without parameters. */
  readonly mimeType: string | null;
  /** The declared name. Untrusted; the core cleans it. */
  readonly filename: string | null;
}

/** Maximum bytes of text that become a string. Longer text is kept as bytes. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Bytes of JSON that are buffered. Once more has been read, they cannot be reinterpreted. */
const MAX_JSON_HEAD = 1024 * 1024;
const JSON_ERRORS: ReadonlySet<string> = new Set(["E_JSON_SYNTAX", "E_JSON_DEPTH", "E_JSON_NUMBER", "E_JSON_END"]);
/** Binary types that are readable text. */
const READABLE =
  /^text\/|[/+](?:json|xml|yaml)$|^image\/svg|^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-seq|yaml|(?:java|ecma|type)script|sql|toml|sh|shellscript|graphql|markdown|csv|subrip|pem-certificate-chain|pgp-encrypted|mbox)$/;

/** Maximum characters of a file name. */
const MAX_NAME = 255;
const LONE_SURROGATE = /[\ud800-\udfff]/gu;

/**
 * Passes a body through the gate. If it is not the JSON or text that it claims to be, it is treated as what it is;
 * nothing is replaced.
 *
 * @throws SluiceError E_JSON_… if JSON of more than 1 MiB turns out to be invalid; what reading the bytes throws.
 */
export async function gateBody(body: Body, sluice: Sluice, options: TransformOptions): Promise<GatedResult> {
  // Results are awaited here, since leaving the function disposes of the bytes.
  await using held = new HeldBytes(body.bytes);
  const { claim } = body;
  if (claim === "json" || claim === "unknown") {
    const head = await held.hold(MAX_JSON_HEAD);
    if (isBlank(head) && held.isWhole) return await through(sluice, options, ["null"]);
    const value = textIn(head, held.isWhole) === undefined ? undefined : await asJson(held, sluice, options);
    if (value !== undefined) return value;
  }
  if (claim !== "bytes") {
    const head = await held.hold(MAX_TEXT);
    const text = held.isWhole ? textIn(head) : undefined;
    const isText = text !== undefined && (claim !== "unknown" || !(await isFile(head, sluice)));
    if (isText) return await through(sluice, options, [JSON.stringify(text)]);
  }
  const mimeType = body.mimeType ?? (await sluice.sniff(await held.hold(MAGIC))).mime_type;
  return await through(sluice, options, block(held.all(), mimeType, body.filename));
}

/**
 * A CallToolResult with one block of bytes, as text. `more` returns what follows the block, and is called at its end.
 */
export async function* block(
  bytes: AsyncIterable<Uint8Array>,
  mimeType: string,
  filename: string | null,
  more: () => string = () => "]}",
): AsyncGenerator<Uint8Array | string> {
  // Only a name: an address may hold secrets, and models see this.
  const name = (filename ?? "").slice(0, MAX_NAME).replace(LONE_SURROGATE, "");
  const uri = `attachment:${encodeURIComponent(name)}`;
  yield `{"content":[{"type":"resource","resource":{"uri":${JSON.stringify(uri)},"mimeType":${JSON.stringify(mimeType)},"blob":"`;
  yield* encodePieces(bytes);
  yield `"}}${more()}`;
}

/** Undefined if it is not JSON and can still be read as something else. */
async function asJson(held: HeldBytes, sluice: Sluice, options: TransformOptions): Promise<GatedResult | undefined> {
  try {
    return await through(sluice, options, held.all());
  } catch (error) {
    if (error instanceof SluiceError && JSON_ERRORS.has(error.code) && !held.isSpent) return undefined;
    throw error;
  }
}

async function isFile(head: Uint8Array, sluice: Sluice): Promise<boolean> {
  const { mime_type: type } = await sluice.sniff(head.subarray(0, MAGIC), head.length);
  return type !== "application/octet-stream" && !READABLE.test(type);
}

/** The bytes as text, or the start of a text. Undefined if they are not UTF-8. */
export function textIn(bytes: Uint8Array, isWhole: boolean = true): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

/** A stream whose start can be read repeatedly, until the rest is read. */
export class HeldBytes implements AsyncDisposable {
  readonly #rest: AsyncIterator<Uint8Array>;
  #head: Uint8Array = new Uint8Array(0);
  #isWhole = false;
  #isSpent = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#rest = bytes[Symbol.asyncIterator]();
  }

  /** Reads up to `limit` bytes, and returns everything that is held. */
  async hold(limit: number): Promise<Uint8Array> {
    const pieces = [this.#head];
    let size = this.#head.length;
    while (!this.#isWhole && size < limit) {
      const { done = false, value } = await this.#rest.next();
      if (done) {
        this.#isWhole = true;
      } else {
        // The chunk's memory may be reused.
        pieces.push(value.slice());
        size += value.length;
      }
    }
    this.#head = joinBytes(pieces.filter(({ length }) => length > 0));
    return this.#head;
  }

  /** Whether everything is held. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether the rest was read, which is possible only once. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** All bytes. Can be called again until the rest has been read. */
  async *all(): AsyncGenerator<Uint8Array> {
    if (this.#head.length > 0) yield this.#head;
    if (this.#isWhole) return;
    this.#isSpent = true;
    for (;;) {
      const { done = false, value } = await this.#rest.next();
      if (done) return;
      yield value;
    }
  }

  /** Releases the stream. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rest.return?.();
  }
}
