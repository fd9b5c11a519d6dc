/**
 * The ZIP package that a document is: its parts by name, inflated within a bound, and the relationships between them.
 * @module
 */
import { Uint8ArrayReader, ZipReader, type FileEntry } from "./zip.js";
import { SluiceError } from "../errors/error.js";
import {
  toCodedError,
  toDamagedError,
  MAX_DOCUMENT_BYTES,
  tooLarge,
  unreadable,
  type ConvertOptions,
} from "./document.js";
import { getAttribute, localName, readXml } from "./xml.js";

/** Most entries of a package. Books with a picture on every page have some thousands. */
const MAX_ENTRIES = 20_000;

/** Most relationships that are kept of a part. */
const MAX_RELATIONSHIPS = 100_000;

/** A link from one part to another, or to the outside. */
export interface Relationship {
  /** The last segment of its type's address: `worksheet`, `hyperlink`. Both dialects of OOXML have the same. */
  readonly type: string;
  /** Name of the part, or the address outside of the package. */
  readonly target: string;
  readonly isExternal: boolean;
}

const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

const PROTECTED =
  "is protected with a password, and is not decrypted here: open it with the password in the program that made it, and save a copy without one.";

/** The error of a document that cannot be read without its password. */
export function needsPassword(kind: string): SluiceError {
  return unreadable(`The ${kind} ${PROTECTED}`);
}

/** The parts of a document, by name. */
export class DocumentPackage {
  readonly #kind: string;
  readonly #signal: AbortSignal | undefined;
  readonly #maxBytes: number;
  readonly #entries: ReadonlyMap<string, FileEntry | null>;
  #left: number;

  private constructor(kind: string, options: ConvertOptions, entries: ReadonlyMap<string, FileEntry | null>) {
    this.#kind = kind;
    this.#signal = options.signal;
    this.#maxBytes = options.maxBytes ?? MAX_DOCUMENT_BYTES;
    this.#left = this.#maxBytes;
    this.#entries = entries;
  }

  /**
   * Reads the directory of a package.
   *
   * @param kind what it is called in errors: `workbook`.
   * @param modern the file type to save an old document as: `.xlsx`.
   * @throws SluiceError E_DOCUMENT for anything but a package, or for one of an old format, or encrypted; E_TOO_LARGE for too many entries.
   */
  static async open(
    bytes: Uint8Array,
    kind: string,
    modern: string,
    options: ConvertOptions,
  ): Promise<DocumentPackage> {
    options.signal?.throwIfAborted();
    if (COMPOUND_FILE.every((byte, index) => bytes[index] === byte)) throw oldOrEncrypted(bytes, kind, modern);
    if (countSaidEntries(bytes) > MAX_ENTRIES) throw tooManyEntries();
    const entries = new Map<string, FileEntry | null>();
    try {
      const reader = new ZipReader(new Uint8ArrayReader(bytes), {
        useWebWorkers: false,
        useCompressionStream: true,
        checkCrc32: true,
        checkOverlappingEntry: true,
        // Names are looked up, and never become paths.
        filenameValidation: "tolerant",
      });
      let count = 0;
      for await (const entry of reader.getEntriesGenerator()) {
        if (++count > MAX_ENTRIES) throw tooManyEntries();
        if (entry.directory) continue;
        const name = partName(entry.filename);
        // Of two entries of one name, programs differ in which they take.
        entries.set(name, entries.has(name) ? null : entry);
      }
    } catch (error) {
      throw toCodedError(error, kind, options.signal);
    }
    return new DocumentPackage(kind, options, entries);
  }

  has(name: string): boolean {
    return this.#entries.has(partName(name));
  }

  /**
   * Inflates a part. All that is read of a package counts together against its bound.
   *
   * @throws SluiceError E_DOCUMENT for a part that is missing, damaged, there twice or encrypted, E_TOO_LARGE beyond the bound.
   */
  async *read(name: string): AsyncGenerator<Uint8Array, void> {
    const entry = this.#entries.get(partName(name));
    if (entry === undefined || entry === null) throw toDamagedError(this.#kind);
    if (entry.encrypted) throw needsPassword(this.#kind);
    if (entry.uncompressedSize > this.#left) throw tooLarge(this.#maxBytes);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const options = this.#signal === undefined ? {} : { signal: this.#signal };
    const work = entry.getData(writable, options).then(
      () => undefined,
      (error: unknown) => {
        // What is refused before a byte of it is written would be waited for without end.
        writable.abort(error).catch(() => undefined);
        return toCodedError(error, this.#kind, this.#signal);
      },
    );
    const reader = readable.getReader();
    let size = 0;
    try {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
        const { done, value } = await reader.read().catch(async () => {
          throw (await work) ?? toDamagedError(this.#kind);
        });
        if (done) break;
        size += value.length;
        this.#left -= value.length;
        if (this.#left < 0) throw tooLarge(this.#maxBytes);
        // A directory that lies about sizes is not waited for.
        if (size > entry.uncompressedSize) throw toDamagedError(this.#kind);
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
    const failure = await work;
    if (failure !== undefined) throw failure;
  }

  /** The first bytes of a part that is read again later: they do not count. Empty if there is no such part. */
  async peek(name: string, most: number): Promise<Uint8Array> {
    if (!this.has(name)) return new Uint8Array(0);
    const left = this.#left;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.read(name)) {
      const kept = chunk.subarray(0, most - size);
      chunks.push(kept);
      size += kept.length;
      if (size >= most) break;
    }
    this.#left = left;
    const joined = new Uint8Array(size);
    let at = 0;
    for (const chunk of chunks) {
      joined.set(chunk, at);
      at += chunk.length;
    }
    return joined;
  }

  /** The relationships of a part by id; those of the package itself for `""`. None if it has none. */
  async relationships(part: string): Promise<ReadonlyMap<string, Relationship>> {
    const slash = part.lastIndexOf("/") + 1;
    const name = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`;
    const found = new Map<string, Relationship>();
    if (!this.has(name)) return found;
    await readXml(this.read(name), {
      open: (tag, attributes) => {
        const target = attributes["Target"];
        const id = attributes["Id"];
        if (localName(tag) !== "Relationship" || target === undefined || id === undefined) return;
        if (found.size >= MAX_RELATIONSHIPS) return;
        const isExternal = attributes["TargetMode"]?.toLowerCase() === "external";
        const type = attributes["Type"] ?? "";
        found.set(id, {
          type: type.slice(type.lastIndexOf("/") + 1),
          target: isExternal ? target : resolvePart(part, target),
          isExternal,
        });
      },
    });
    return found;
  }

  /** The part that a package's relationship of this type leads to; else the first of these names that there is. */
  async mainPart(...usual: readonly string[]): Promise<string> {
    for (const { type, target, isExternal } of (await this.relationships("")).values()) {
      if (type === "officeDocument" && !isExternal && this.has(target)) return target;
    }
    const name = usual.find((each) => this.has(each));
    if (name === undefined) throw toDamagedError(this.#kind);
    return name;
  }

  /** The title among the properties of an OOXML document, or "". */
  async title(): Promise<string> {
    const core = "docProps/core.xml";
    if (!this.has(core)) return "";
    let title = "";
    let isTitle = false;
    await readXml(this.read(core), {
      open: (tag) => (isTitle = localName(tag) === "title"),
      close: () => (isTitle = false),
      text: (text) => {
        if (isTitle && title.length < 1024) title += text;
      },
    });
    return title;
  }
}

/** The target of a relationship as the name of a part. What climbs out of the package ends at its root. */
export function resolvePart(from: string, target: string): string {
  const path = target.split(/[?#]/, 1)[0] ?? "";
  const base = /^[/\\]/.test(path) ? [] : from.split("/").slice(0, -1);
  const segments = [...base];
  for (const segment of decodePath(path).split(/[/\\]/)) {
    if (segment === "..") segments.pop();
    else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join("/");
}

/** Id of a relationship among attributes: `r:id`, or another one of that prefix. */
export function relationshipId(attributes: Readonly<Record<string, string>>, name = "id"): string | undefined {
  return attributes[`r:${name}`] ?? getAttribute(attributes, name, true);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Names are compared without case, as OOXML has it, and some programs write the separators of Windows. */
function partName(name: string): string {
  return name.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();
}

/** How many entries the end of a ZIP says that there are: reading them to count them takes time. */
function countSaidEntries(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = bytes.length - 22; at >= 0 && at >= bytes.length - 22 - 65_535; at--) {
    if (view.getUint32(at, true) === 0x06_05_4b_50) return view.getUint16(at + 10, true);
  }
  return 0;
}

function tooManyEntries(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `The document has more than ${MAX_ENTRIES} entries: split it, or read its entries as those of an archive.`,
  );
}

function oldOrEncrypted(bytes: Uint8Array, kind: string, modern: string): SluiceError {
  if (hasName(bytes, "EncryptedPackage")) return needsPassword(kind);
  return unreadable(
    `The ${kind} is of the old binary format, or protected with a password: save it as ${modern} without a password, and read that.`,
  );
}

/** Whether a compound file has a stream of this name: names are UTF-16 in its directory. */
function hasName(bytes: Uint8Array, name: string): boolean {
  const wanted = Uint8Array.from({ length: name.length * 2 }, (_, i) => (i % 2 === 0 ? name.charCodeAt(i / 2) : 0));
  // Entries of the directory are aligned to 128 bytes.
  for (let at = 0; at + wanted.length <= bytes.length; at += 128) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return true;
  }
  return false;
}
