/**
 * The hex view: offset, hexadecimal digits, characters. Reads only what is in view.
 * @module
 */
import { type Drawn, element, type PreviewInput, PreviewProblem, TEXT_LIMIT } from "./preview.js";
import { bytesAt, wholeBlob } from "./artifact-reader.js";
import { VirtualRows } from "./rows.js";

/** The height of a row in pixels, as the styles have it. */
const ROW = 20;
/** Bytes read at once. */
const BLOCK = 64 * 1024;
/** Blocks that are held. */
const HELD = 24;
/** A panel narrower than this, in pixels, has rows of half as many bytes. */
const NARROW = 620;

/** Reads the bytes from an offset; fewer than asked for at the end. */
type Read = (start: number, end: number) => Promise<Uint8Array>;

/** Draws bytes. Reads them all first if their number is unknown. */
export async function renderHex(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const { size, read } = await openSource(input, signal);
  if (size === 0) {
    host.append(element("p", "empty soft", {}, "It is empty."));
    return {};
  }
  const width = host.clientWidth > 0 && host.clientWidth < NARROW ? 8 : 16;
  const blocks = new Blocks(read, signal);
  const digits = Math.max(8, (size - 1).toString(16).length);
  const body = element("div", "rows");
  const label = { tabindex: "0", role: "group", "aria-label": `Bytes of ${input.name}` };
  const scroller = element("div", "hex", label, body);
  const rows = new VirtualRows(
    {
      scroller,
      body,
      height: ROW,
      noun: "Rows",
      draw: (index) => {
        const offset = index * width;
        const bytes = blocks.at(offset, Math.min(width, size - offset), () => rows.redraw());
        return row(offset.toString(16).padStart(digits, "0"), bytes, width);
      },
    },
    signal,
  );
  host.append(rows.bar, scroller);
  // The first block tells whether there is anything to show.
  await blocks.load(0);
  signal.throwIfAborted();
  rows.count = Math.ceil(size / width);
  return {};
}

async function openSource(input: PreviewInput, signal: AbortSignal): Promise<{ size: number; read: Read }> {
  const { size_bytes: size } = input.artifact;
  if (size !== undefined) return { size, read: async (start, end) => bytesAt(input, start, end, signal) };
  const blob = await wholeBlob(input, TEXT_LIMIT, "", signal);
  return {
    size: blob.size,
    read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
  };
}

/** An LRU cache of blocks, read on demand. */
class Blocks {
  readonly #read: Read;
  readonly #signal: AbortSignal;
  readonly #held = new Map<number, Uint8Array | Promise<void>>();

  constructor(read: Read, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Bytes at an offset within one block; null if they have to be read, after which `come` is called. */
  at(offset: number, length: number, come: () => void): Uint8Array | null {
    const block = Math.floor(offset / BLOCK);
    const held = this.#held.get(block);
    if (held instanceof Uint8Array) return held.subarray(offset % BLOCK, (offset % BLOCK) + length);
    if (held === undefined) {
      void this.load(block).then(
        () => !this.#signal.aborted && come(),
        () => {},
      );
    }
    return null;
  }

  /** Reads a block. Throws what reading throws. */
  async load(block: number): Promise<void> {
    const reading = this.#fill(block);
    this.#held.set(block, reading);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= HELD) break;
      this.#held.delete(oldest);
    }
    await reading;
  }

  async #fill(block: number): Promise<void> {
    try {
      const bytes = await this.#read(block * BLOCK, (block + 1) * BLOCK);
      this.#held.set(block, bytes);
    } catch (error) {
      // It is tried again when it is next in view.
      this.#held.delete(block);
      throw error instanceof PreviewProblem
        ? error
        : new PreviewProblem("It could not be read.", "retry", { cause: error });
    }
  }
}

function row(offset: string, bytes: Uint8Array | null, width: number): HTMLElement {
  const pairs = bytes === null ? ["…"] : Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  if (pairs.length > 8) pairs.splice(8, 0, "");
  const characters = Array.from(bytes ?? [], (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·"));
  return element(
    "div",
    "bytes",
    {},
    element("span", "offset", {}, offset),
    element("span", "pairs", {}, pairs.join(" ").padEnd(width * 3)),
    element("span", "characters", {}, characters.join("")),
  );
}
