/**
 * How a picture is held: the orientation of EXIF (2.32, tag 274), for what no decoder turns by itself.
 * @module
 */
import UTIF from "utif2";
import type { Pixels } from "./picture.js";

/** The orientation that a TIFF, PNG or WebP tells, from 1, upright, to 8. */
export function readOrientation(bytes: Uint8Array, type: string): number {
  const exif =
    type === "tiff"
      ? bytes
      : type === "png"
        ? findChunk(bytes, PNG)
        : type === "webp"
          ? findChunk(bytes, WEBP)
          : undefined;
  if (exif === undefined) return 1;
  try {
    const [first] = UTIF.decode(Uint8Array.from(exif).buffer);
    const [orientation = 1] = (first?.["t274"] as readonly number[] | undefined) ?? [];
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  } catch {
    return 1;
  }
}

/** How chunks stand behind each other in a kind of file: where the first is, and what its head has. */
interface ChunkLayout {
  readonly start: number;
  readonly isLittle: boolean;
  /** Where the name stands in a head of eight bytes: the size is at the other place. */
  readonly name: 0 | 4;
  /** Bytes behind the content. */
  readonly trailer: (size: number) => number;
  readonly wanted: string;
}

const PNG: ChunkLayout = { start: 8, isLittle: false, name: 4, trailer: () => 4, wanted: "eXIf" };
const WEBP: ChunkLayout = { start: 12, isLittle: true, name: 0, trailer: (size) => size % 2, wanted: "EXIF" };

/** Chunks that are looked at. */
const MAX_CHUNKS = 65_536;

/** The content of the chunk with EXIF in it. */
function findChunk(bytes: Uint8Array, { start, isLittle, name, trailer, wanted }: ChunkLayout): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const latin = new TextDecoder("latin1");
  for (let at = start, count = 0; at + 8 <= bytes.length && count < MAX_CHUNKS; count += 1) {
    const size = view.getUint32(at + 4 - name, isLittle);
    if (latin.decode(bytes.subarray(at + name, at + name + 4)) === wanted) {
      const content = bytes.subarray(at + 8, at + 8 + size);
      // Some programs write it as JPEGs have it.
      return latin.decode(content.subarray(0, 4)) === "Exif" ? content.subarray(6) : content;
    }
    at += 8 + size + trailer(size);
  }
  return undefined;
}

/** Pixels as they are meant to be seen. */
export function turnPixels({ width, height, data }: Pixels, orientation: number): Pixels {
  if (orientation <= 1 || orientation > 8) return { width, height, data };
  const isTurned = orientation >= 5;
  const [across, down] = isTurned ? [height, width] : [width, height];
  const isMirroredAcross = [2, 3, 7, 8].includes(orientation);
  const isMirroredDown = [3, 4, 6, 7].includes(orientation);
  const from = new Uint32Array(data.slice().buffer);
  const to = new Uint32Array(across * down);
  for (let y = 0; y < down; y += 1) {
    for (let x = 0; x < across; x += 1) {
      const [column, row] = isTurned ? [y, x] : [x, y];
      const sourceX = isMirroredAcross ? width - 1 - column : column;
      const sourceY = isMirroredDown ? height - 1 - row : row;
      to[y * across + x] = from[sourceY * width + sourceX] as number;
    }
  }
  return { width: across, height: down, data: new Uint8Array(to.buffer) };
}
