/**
 * XML and HTML as events, while the bytes arrive. Nothing is resolved: no external entity, and none that a document declares.
 * @module
 */
import { Parser } from "htmlparser2";
import { detectEncoding } from "../core/text-encoding.js";
import { unreadable } from "./document.js";

/** What happens in a document. Text comes in pieces. */
export interface MarkupHandler {
  open?(tag: string, attributes: Readonly<Record<string, string>>): void;
  close?(tag: string): void;
  text?(text: string): void;
}

/** Deepest nesting that is read: closing an element takes time in proportion to it. */
const MAX_DEPTH = 1000;

/** Bytes that are looked at for the name of an encoding. */
const SNIFFED = 1024;

/** Reads markup piece by piece. */
export class MarkupReader {
  readonly #parser: Parser;
  #decoder: TextDecoder | undefined;
  #head: Uint8Array = new Uint8Array(0);
  readonly #isXml: boolean;

  /** @param language `xhtml` is HTML with elements that close themselves. */
  constructor(handler: MarkupHandler, language: "xml" | "html" | "xhtml" = "xml") {
    this.#isXml = language === "xml";
    let depth = 0;
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => {
          if (++depth > MAX_DEPTH) throw tooDeep();
          handler.open?.(tag, attributes);
        },
        onclosetag: (tag) => {
          depth--;
          handler.close?.(tag);
        },
        ontext: (text) => {
          handler.text?.(text);
        },
      },
      { xmlMode: this.#isXml, ...(language === "xhtml" && { recognizeSelfClosing: true, recognizeCDATA: true }) },
    );
  }

  write(chunk: Uint8Array): void {
    if (this.#decoder !== undefined) {
      this.#parser.write(this.#decoder.decode(chunk, { stream: true }));
      return;
    }
    const head = new Uint8Array(this.#head.length + chunk.length);
    head.set(this.#head);
    head.set(chunk, this.#head.length);
    this.#head = head;
    if (head.length >= SNIFFED) this.#begin();
  }

  end(): void {
    const decoder = this.#decoder ?? this.#begin();
    this.#parser.write(decoder.decode());
    this.#parser.end();
  }

  #begin(): TextDecoder {
    const decoder = createDecoder(this.#head, this.#isXml);
    this.#decoder = decoder;
    this.#parser.write(decoder.decode(this.#head, { stream: true }));
    this.#head = new Uint8Array(0);
    return decoder;
  }
}

/** Reads a whole document of XML. */
export async function readXml(chunks: AsyncIterable<Uint8Array>, handler: MarkupHandler): Promise<void> {
  const reader = new MarkupReader(handler);
  for await (const chunk of chunks) reader.write(chunk);
  reader.end();
}

/** Reads a document, and pauses after each piece. */
export async function* xmlSteps(
  chunks: AsyncIterable<Uint8Array>,
  handler: MarkupHandler,
  language: "xml" | "html" | "xhtml" = "xml",
): AsyncGenerator<void, void> {
  const reader = new MarkupReader(handler, language);
  for await (const chunk of chunks) {
    reader.write(chunk);
    yield;
  }
  reader.end();
  yield;
}

/** The name of an element without its prefix: `p` of `w:p`. Programs differ in prefixes. */
export function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1);
}

/** An attribute by its name without a prefix, whatever prefix it has: `val` of `w:val`. */
export function getAttribute(
  attributes: Readonly<Record<string, string>>,
  name: string,
  needsPrefix = false,
): string | undefined {
  if (!needsPrefix && Object.hasOwn(attributes, name)) return attributes[name];
  const suffix = `:${name}`;
  for (const key in attributes) if (key.endsWith(suffix)) return attributes[key];
  return undefined;
}

/** A whole number of an attribute within bounds; `otherwise` for anything else. */
export function readCount(text: string | undefined, least: number, most: number, otherwise: number): number {
  if (text === undefined || !/^\s*[0-9]{1,15}\s*$/.test(text)) return otherwise;
  return Math.min(most, Math.max(least, Number(text)));
}

function tooDeep(): Error {
  return unreadable(
    `The document nests elements more than ${MAX_DEPTH} deep: open it in the program that made it, and save it again.`,
  );
}

/** The encoding that the first bytes tell: by a mark, by what they say, else UTF-8. */
function createDecoder(head: Uint8Array, isXml: boolean): TextDecoder {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le");
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be");
  if (first === 0x3c && second === 0) return new TextDecoder("utf-16le");
  if (first === 0 && second === 0x3c) return new TextDecoder("utf-16be");
  if (first === 0xef && second === 0xbb) return new TextDecoder();
  const text = String.fromCharCode(...head.subarray(0, SNIFFED));
  const declared = /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(text);
  const meta = isXml ? null : /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text);
  const label = declared?.[1] ?? meta?.[1] ?? detectEncoding(head.subarray(0, SNIFFED)) ?? "utf-8";
  try {
    // A document whose declaration could be read byte for byte is not UTF-16, whatever it says.
    return new TextDecoder(/^utf-?16/i.test(label) ? "utf-8" : label);
  } catch {
    return new TextDecoder();
  }
}
