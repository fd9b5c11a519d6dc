/**
 * A picture that does not compress to nothing: a gradient with grain, the same on every run.
 * @module
 */

/** Rows of 8-bit RGB, top to bottom. The grain is a linear congruential generator. */
export function grainyPixels(width, height, seed) {
  const pixels = new Uint8Array(width * height * 3);
  let state = seed >>> 0;
  for (let at = 0, y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const grain = state >>> 30;
      pixels[at++] = ((x * 200) / width + grain) | 0;
      pixels[at++] = ((y * 200) / height + grain) | 0;
      pixels[at++] = 90 + grain;
    }
  }
  return pixels;
}
