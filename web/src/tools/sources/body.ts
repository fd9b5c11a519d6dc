/**
 * Any bytes that a tool answered, through the one gate: JSON as it is, text as a string, all else as a block of bytes.
 * @module
 */
import { base64Of } from "../../core/base64.js";
import type { GatedResult, Sluice, TransformOptions } from "../../core/sluice.js";
import { SluiceError } from "../../errors/error.js";
import { joined } from "../../transports/bytes.js";

/** What whoever sent the bytes says that they are; `unknown` where nothing is said. */
export type Claim = "json" | "text" | "bytes" | "unknown";

/** What a tool answered. */
interface Body {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly claim: Claim;
  /** As declared, without parameters. */
  readonly mimeType: string | null;
  /** As declared; it is untrusted, and the core cleans it. */
  readonly filename: string | null;
}

/** Bytes of text that may become a string; of more, nothing but its bytes is of use to anybody. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Bytes of JSON after which there is no way back to reading them as something else. */
const MAX_JSON_HEAD = 1024 * 1024;
/** Bytes that tell what kind of file begins there. */
export const MAGIC: number = 4096;
const JSON_ERRORS: ReadonlySet<string> = new Set(["E_JSON_SYNTAX", "E_JSON_DEPTH", "E_JSON_NUMBER", "E_JSON_END"]);
/** Types of bytes that are text for people and models too. */
const READABLE =
  /^text\/|[/+](?:json|xml|yaml)$|^image\/svg|^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-seq|yaml|(?:java|ecma|type)script|sql|toml|sh|shellscript|graphql|markdown|csv|subrip|pem-certificate-chain|pgp-encrypted|mbox)$/;

/** Characters of a file's name. */
const MAX_NAME = 255;
const LONE_SURROGATE = /[\ud800-\udfff]/gu;

/**
 * Takes a body through the gate. What claims to be JSON or text and is not becomes what it is: nothing of it is replaced.
 *
 * @throws SluiceError E_JSON_… where JSON of more than 1 MiB breaks only after that; whatever reading the bytes throws.
 */
export async function gatedBody(body: Body, sluice: Sluice, options: TransformOptions): Promise<GatedResult> {
  // What is returned is awaited here: the bytes are let go of when this function is left.
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
    const isText = text !== undefined && (claim !== "unknown" || !isFile(head, sluice));
    if (isText) return await through(sluice, options, [JSON.stringify(text)]);
  }
  const mimeType = body.mimeType ?? sluice.sniff(await held.hold(MAGIC)).mime_type;
  return await through(sluice, options, block(held.all(), mimeType, body.filename));
}

/** One block of bytes, as the text of a CallToolResult. `more` is what follows it, once its last byte is there. */
export async function* block(
  bytes: AsyncIterable<Uint8Array>,
  mimeType: string,
  filename: string | null,
  more: () => string = () => "]}",
): AsyncGenerator<Uint8Array | string> {
  // A name and no address: addresses may hold secrets, and this is shown to models.
  const name = (filename ?? "").slice(0, MAX_NAME).replace(LONE_SURROGATE, "");
  const uri = `attachment:${encodeURIComponent(name)}`;
  yield `{"content":[{"type":"resource","resource":{"uri":${JSON.stringify(uri)},"mimeType":${JSON.stringify(mimeType)},"blob":"`;
  yield* base64Of(bytes);
  yield `"}}${more()}`;
}

/** Undefined where it is no JSON and may still be read as something else. */
async function asJson(held: HeldBytes, sluice: Sluice, options: TransformOptions): Promise<GatedResult | undefined> {
  try {
    return await through(sluice, options, held.all());
  } catch (error) {
    if (error instanceof SluiceError && JSON_ERRORS.has(error.code) && !held.isSpent) return undefined;
    throw error;
  }
}

function isFile(head: Uint8Array, sluice: Sluice): boolean {
  const { mime_type: type } = sluice.sniff(head.subarray(0, MAGIC), head.length);
  return type !== "application/octet-stream" && !READABLE.test(type);
}

/** Bytes as the text that they are, or that they begin; undefined where they are no UTF-8. */
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

/** Bytes that come; the first of them may be had as often as one likes, until what follows is asked for. */
export class HeldBytes implements AsyncDisposable {
  readonly #rest: AsyncIterator<Uint8Array>;
  #head: Uint8Array = new Uint8Array(0);
  #isWhole = false;
  #isSpent = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#rest = bytes[Symbol.asyncIterator]();
  }

  /** Reads until `limit` bytes or the end are there, and gives what is held. */
  async hold(limit: number): Promise<Uint8Array> {
    const pieces = [this.#head];
    let size = this.#head.length;
    while (!this.#isWhole && size < limit) {
      const { done = false, value } = await this.#rest.next();
      if (done) {
        this.#isWhole = true;
      } else {
        // A piece may be a view of memory that is used again.
        pieces.push(value.slice());
        size += value.length;
      }
    }
    this.#head = joined(pieces.filter(({ length }) => length > 0));
    return this.#head;
  }

  /** Whether all there is is held. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether what follows the beginning was asked for, which comes only once. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** All bytes. May be called again as long as it is not spent. */
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

  /** Lets go of where the bytes come from. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rest.return?.();
  }
}

const encoder = new TextEncoder();

/** Takes a document through the gate. What was begun is thrown away when a piece fails to come. */
export async function through(
  sluice: Sluice,
  options: TransformOptions,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
): Promise<GatedResult> {
  const stream = sluice.open(options);
  try {
    for await (const piece of pieces) await stream.write(typeof piece === "string" ? encoder.encode(piece) : piece);
    return await stream.end();
  } finally {
    await stream[Symbol.asyncDispose]();
  }
}
