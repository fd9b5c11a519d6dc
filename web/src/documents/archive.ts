/**
 * Archives: their entries listed, and one of them taken out, as streams. ZIP is read where its parts are; tar and gzip from the start.
 * @module
 */
import { humanSize } from "../core/amounts.js";
import { checkOptionNames } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { toDamagedError, unreadable } from "./document.js";
import { detectContainer } from "./kind.js";
import { csvCell } from "../query/csv-cells.js";

/** The bytes of an archive. */
export interface ArchiveSource {
  /** Its bytes. */
  readonly size: number;
  /** Its file name, or the empty string. */
  readonly filename: string;
  /** The bytes from `start` to before `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** The same as a stream. */
  stream(start: number, end: number): Promise<ReadableStream<Uint8Array>>;
}

/** An entry of an archive. Its name is whatever the archive says. */
export interface ArchiveEntry {
  /** Its path, with `/` between folders. */
  readonly name: string;
  /** Bytes once it is taken out. Undefined if the archive does not say. */
  readonly size: number | undefined;
  /** When it was last changed, as the archive says: `2026-01-31T12:00:00`. ZIP has local time, tar that of UTC. */
  readonly modified: string | undefined;
}

/** An entry with what it holds, which must be read or cancelled before the next entry is asked for. */
interface OpenEntry extends ArchiveEntry {
  open(): Promise<ReadableStream<Uint8Array>>;
}

/** Most entries that are looked at. */
export const MAX_ENTRIES = 100_000;

/** Most bytes that one entry may become. */
const MAX_ENTRY: number = 1024 ** 3;

/** Most bytes that are unpacked on the way to an entry of a tar. */
const MAX_UNPACKED: number = 8 * 1024 ** 3;

/**
 * The files in an archive, folders left out: ZIP, tar, a tar in gzip, or the one file of a gzip. They come as they are found; a ZIP is
 * read where its directory is, a tar from start to end.
 *
 * @throws SluiceError E_DOCUMENT for an archive that is damaged, E_TOO_LARGE beyond 100,000 files or 8 GiB unpacked; and what the source
 * throws
 */
export async function* archiveEntries(source: ArchiveSource, signal?: AbortSignal): AsyncGenerator<ArchiveEntry> {
  for await (const entry of openEntries(source, signal)) yield entry;
}

/** The files as lines of CSV (RFC 4180): their paths, bytes and times. Throws the same. */
export async function* entryLines(source: ArchiveSource, signal?: AbortSignal): AsyncGenerator<string> {
  yield "path,bytes,modified\n";
  for await (const { name, size, modified } of openEntries(source, signal)) {
    yield `${csvCell(name)},${size ?? ""},${modified ?? ""}\n`;
  }
}

/** Options of {@link extractEntry}. */
export interface ExtractOptions {
  /**
   * Most bytes that the entry may become.
   * @defaultValue 1 GiB
   */
  readonly maxBytes?: number;
  /** Ends the work; the signal's reason is then thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** What was taken out. */
export interface Extracted {
  /** Undefined if there is none of that name. */
  readonly entry: ArchiveEntry | undefined;
  /** Names that end alike then: at most five. */
  readonly near: readonly string[];
}

/**
 * Takes one entry out and gives its bytes to `write`.
 *
 * @throws SluiceError E_DOCUMENT for an entry that is damaged or encrypted, E_TOO_LARGE; and what the source and `write` throw
 */
export async function extractEntry(
  source: ArchiveSource,
  name: string,
  write: (chunk: Uint8Array) => Promise<void>,
  options: ExtractOptions = {},
): Promise<Extracted> {
  const { maxBytes = MAX_ENTRY, signal } = checkOptionNames(options, "extractEntry", ["maxBytes", "signal"]);
  const near: string[] = [];
  const wanted = toBaseName(name).toLowerCase();
  for await (const entry of openEntries(source, signal)) {
    if (entry.name === name) {
      const taken = await pipe(await entry.open(), write, maxBytes, signal);
      if (entry.size !== undefined && taken !== entry.size) throw toDamagedError("entry of the archive");
      return { entry, near: [] };
    }
    // An archive in the archive may be meant.
    const isOuter = name.startsWith(`${entry.name}/`) && !entry.name.endsWith("/");
    const isNear = isOuter || toBaseName(entry.name).toLowerCase() === wanted;
    if (near.length < MAX_NEAR && isNear) near.push(entry.name);
  }
  return { entry: undefined, near };
}

const MAX_NEAR = 5;

/** What follows the last slash. */
export function toBaseName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

async function* openEntries(source: ArchiveSource, signal: AbortSignal | undefined): AsyncGenerator<OpenEntry> {
  const container = detectContainer(await source.read(0, Math.min(source.size, HEAD)));
  const whole = new WholeSource(source);
  try {
    const entries =
      container === "zip"
        ? zipEntries(source)
        : container === "tar"
          ? tarEntries(await whole.open())
          : gzipEntries(whole);
    let count = 0;
    for await (const entry of entries) {
      signal?.throwIfAborted();
      count += 1;
      if (count > MAX_ENTRIES) throw tooMuch(`more than ${MAX_ENTRIES} entries`);
      yield entry;
    }
  } finally {
    await whole.release();
  }
}

/**
 * Streams of a whole archive. Those that are piped through others are not cancelled through them: a transform that is full can wait for
 * ever. They are left alone, and what they read from is released.
 */
class WholeSource {
  readonly filename: string;
  readonly #source: ArchiveSource;
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[] = [];

  constructor(source: ArchiveSource) {
    this.#source = source;
    this.filename = source.filename;
  }

  async open(): Promise<ReadableStream<Uint8Array>> {
    const reader = (await this.#source.stream(0, this.#source.size)).getReader();
    this.#readers.push(reader);
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller): Promise<void> {
          const { done, value } = await reader.read();
          if (done) controller.close();
          // It belongs to the source, which may use it again.
          else controller.enqueue(value.slice());
        },
      },
      { highWaterMark: 0 },
    );
  }

  async release(): Promise<void> {
    await Promise.allSettled(this.#readers.map((reader) => reader.cancel()));
  }
}

const HEAD = 512;

async function* zipEntries(source: ArchiveSource): AsyncGenerator<OpenEntry> {
  const { ZipReader } = await import("./zip.js");
  const reader = new ZipReader(zipSource(source) as never, {
    useWebWorkers: false,
    checkOverlappingEntry: true,
    checkSignature: true,
    // Nothing is unpacked into a folder: a path that leads out of one is a name like any other.
    filenameValidation: "tolerant",
  });
  try {
    for await (const entry of reader.getEntriesGenerator()) {
      if (entry.directory) continue;
      const { filename: name, uncompressedSize: size, lastModDate, encrypted } = entry;
      yield { name, size, modified: localTime(lastModDate), open: async () => unpackEntry(entry, encrypted) };
    }
  } catch (error) {
    throw error instanceof SluiceError ? error : toDamagedError("ZIP archive");
  } finally {
    await reader.close().catch(() => undefined);
  }
}

function localTime(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** What zip.js reads from: it needs these members of its `Reader` alone. */
function zipSource(source: ArchiveSource): object {
  return {
    size: source.size,
    readUint8Array: (at: number, length: number) => source.read(at, Math.min(source.size, at + length)),
    createReadable: ({ offset = 0, size = source.size }: { offset?: number; size?: number } = {}) =>
      deferStream(() => source.stream(offset, Math.min(source.size, offset + size))),
  };
}

interface ZipFile {
  getData(writer: WritableStream<Uint8Array>): Promise<unknown>;
}

function unpackEntry(entry: object, isEncrypted: boolean): ReadableStream<Uint8Array> {
  if (isEncrypted) throw unreadable("The entry is protected by a password: ask for an archive without one.");
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  (entry as ZipFile).getData(writable).catch((error: unknown) => {
    const known = error instanceof SluiceError ? error : toDamagedError("entry of the archive");
    return writable.abort(known).catch(() => undefined);
  });
  return readable;
}

async function* tarEntries(bytes: ReadableStream<Uint8Array>): AsyncGenerator<OpenEntry> {
  const { createTarDecoder } = await import("modern-tar");
  const entries = bytes.pipeThrough(createTarDecoder({ strict: false })).getReader();
  try {
    for (;;) {
      const { done, value } = await entries.read();
      if (done) return;
      const { header, body } = value;
      const { name, size, mtime, type = "file" } = header;
      const modified =
        mtime === undefined || Number.isNaN(mtime.getTime()) ? undefined : mtime.toISOString().slice(0, 19);
      const state = { isTaken: false };
      const open = async (): Promise<ReadableStream<Uint8Array>> => {
        state.isTaken = true;
        return body;
      };
      if (type === "file") yield { name, size, modified, open };
      // Cancelling a body can make the next one wait for ever (modern-tar 0.8.6).
      if (!state.isTaken) await drainBody(body);
    }
  } catch (error) {
    throw error instanceof SluiceError ? error : toDamagedError("tar archive");
  }
}

async function drainBody(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  while (!(await reader.read()).done);
}

/** A gzip holds a tar, or one file, which is called like the gzip without its ending. */
async function* gzipEntries(whole: WholeSource): AsyncGenerator<OpenEntry> {
  const unzipBody = async (): Promise<ReadableStream<Uint8Array>> => {
    const gunzip = new DecompressionStream("gzip") as TransformStream<Uint8Array, Uint8Array>;
    return limitStream((await whole.open()).pipeThrough(gunzip), MAX_UNPACKED);
  };
  if (await beginsWithTar(await unzipBody())) yield* tarEntries(await unzipBody());
  else {
    const name = toBaseName(whole.filename).replace(/\.gz$/i, "") || "content";
    yield { name, size: undefined, modified: undefined, open: unzipBody };
  }
}

/** The name of the one file of a gzip; undefined where a tar is in it. Throws E_DOCUMENT, and what the source throws. */
export async function findGzippedFile(source: ArchiveSource): Promise<string | undefined> {
  const whole = new WholeSource(source);
  try {
    for await (const { name, size } of gzipEntries(whole)) return size === undefined ? name : undefined;
    return undefined;
  } finally {
    await whole.release();
  }
}

async function beginsWithTar(bytes: ReadableStream<Uint8Array>): Promise<boolean> {
  const reader = bytes.getReader();
  const head = new Uint8Array(HEAD);
  for (let filled = 0; filled < HEAD;) {
    const { done, value } = await read(reader);
    if (done) break;
    const piece = value.subarray(0, HEAD - filled);
    head.set(piece, filled);
    filled += piece.length;
  }
  return detectContainer(head) === "tar";
}

/** A stream that is opened when it is first read. */
function deferStream(open: () => Promise<ReadableStream<Uint8Array>>): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        reader ??= (await open()).getReader();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The same bytes, up to a limit. */
function limitStream(bytes: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  let size = 0;
  return bytes.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller): void {
        size += chunk.length;
        if (size > most) controller.error(tooMuch(`more than ${humanSize(most)} once it is unpacked`));
        else controller.enqueue(chunk);
      },
    }),
  );
}

async function pipe(
  bytes: ReadableStream<Uint8Array>,
  write: (chunk: Uint8Array) => Promise<void>,
  most: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const reader = bytes.getReader();
  for (let taken = 0; ;) {
    signal?.throwIfAborted();
    const { done, value } = await read(reader);
    if (done) return taken;
    taken += value.length;
    if (taken > most) throw tooMuch(`an entry of more than ${humanSize(most)}`);
    await write(value);
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (error) {
    throw error instanceof SluiceError ? error : toDamagedError("entry of the archive");
  }
}

function tooMuch(what: string): SluiceError {
  return new SluiceError("E_TOO_LARGE", `The archive has ${what}. Do not retry: ask for a smaller one.`);
}
