/**
 * Large files of noise.
 * @module
 */
import { base64 } from "../base64.js";
import { fillNoise } from "./random.js";

const MEGABYTE = 1024 * 1024;
/** Bytes made at once: a multiple of 3, so that the slices' base64 joins, and of 4. */
const SLICE = 3 * MEGABYTE;
const HEAD = "Sluice demo archive\n\0";

/**
 * That many MiB of noise in base64: the same every time. Others get their turn between slices.
 *
 * @throws the reason of the signal
 */
export async function noise(megabytes: number, signal: AbortSignal): Promise<string> {
  const slices: string[] = [];
  const words = new Uint32Array(SLICE / 4);
  let seed = 0x2545_f491;
  for (let left = megabytes * MEGABYTE; left > 0; left -= SLICE) {
    seed = fillNoise(words, seed);
    const bytes = new Uint8Array(words.buffer, 0, Math.min(left, SLICE));
    if (slices.length === 0) new TextEncoder().encodeInto(HEAD, bytes);
    slices.push(base64(bytes));
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return slices.join("");
}
