/**
 * What several makers work on.
 * @module
 */

/** Leaves `long.txt`. */
export const LONG_TEXT = `python3 -c "print('The quick brown fox jumps over the lazy dog again. ' * 200)" > long.txt`;

/** Leaves `noise.wav`, three seconds, and `moving.y4m`, 64 × 48, two seconds. */
export const MEDIA = `ffmpeg -nostdin -v error -y -f lavfi -i sine=440:d=3 -ar 44100 -ac 2 noise.wav
ffmpeg -nostdin -v error -y -f lavfi -i testsrc=s=64x48:r=10:d=2 -pix_fmt yuv420p moving.y4m`;
