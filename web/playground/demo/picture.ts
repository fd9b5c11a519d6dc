/**
 * Landscapes as pixels, and pixels as a PNG (ISO 15948) where there is no canvas.
 * @module
 */
import { makeRandom } from "./random.js";

/** Pixels from the upper left corner, three bytes each: red, green, blue. */
export interface Picture {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** Row by row. */
  readonly rgb: Uint8Array;
}

type Colour = readonly [red: number, green: number, blue: number];

/** What a time of day looks like: the sky from top to horizon, the sun, the farthest hills, the nearest. */
interface Light {
  readonly sky: readonly [Colour, Colour];
  readonly sun: Colour;
  readonly hills: readonly [Colour, Colour];
}

const LIGHTS: readonly [Light, ...Light[]] = [
  {
    sky: [
      [38, 60, 112],
      [250, 184, 132],
    ],
    sun: [255, 236, 190],
    hills: [
      [168, 126, 140],
      [26, 33, 58],
    ],
  },
  {
    sky: [
      [62, 132, 196],
      [214, 234, 240],
    ],
    sun: [255, 250, 225],
    hills: [
      [142, 178, 178],
      [22, 66, 58],
    ],
  },
  {
    sky: [
      [40, 34, 84],
      [238, 132, 124],
    ],
    sun: [255, 214, 170],
    hills: [
      [140, 84, 122],
      [28, 18, 46],
    ],
  },
];

/** Ridges, one before the other. */
const RIDGES = 5;

/** Distances from the sun for which its glow is known. */
const GLOW_STEPS = 512;
/** Grains that are drawn; pictures repeat them. */
const GRAINS = 8191;

/** Hills under a low sun; `light` from 0 chooses the time of day. */
export function landscape(width: number, height: number, seed: number, light: number): Picture {
  const { sky, sun, hills } = LIGHTS[light % LIGHTS.length] ?? LIGHTS[0];
  const chance = makeRandom(seed);
  const ridges = Array.from({ length: RIDGES }, (_, i) => ridge(width, height, i, chance));
  const colours = ridges.map((_, i) => mixColours(hills[0], hills[1], i / (RIDGES - 1)));
  const [sunX, sunY] = [width * (0.25 + chance() * 0.5), height * 0.36];
  const glow = Float32Array.from({ length: GLOW_STEPS }, (_, i) => glowAt((i / GLOW_STEPS) * 2));
  // Grain hides the steps of a gradient.
  const grain = Float32Array.from({ length: GRAINS }, () => (chance() - 0.5) * 5);
  const rgb = new Uint8ClampedArray(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    const above = mixColours(sky[0], sky[1], Math.min(1, y / (height * 0.62)));
    for (let x = 0; x < width; x += 1) {
      const front = frontAt(ridges, x, y);
      const colour = (front < 0 ? undefined : colours[front]) ?? above;
      let share = 0;
      let added = grain[(at / 3) % GRAINS] ?? 0;
      if (front < 0) {
        const distance = Math.sqrt((x - sunX) ** 2 + (y - sunY) ** 2) / height;
        share = glow[Math.min(GLOW_STEPS - 1, (distance * GLOW_STEPS) >> 1)] ?? 0;
      } else {
        // Mist at the foot of each ridge.
        added += Math.min(34, ((y - (ridges[front]?.[x] ?? 0)) / height) * 130);
      }
      rgb[at] = colour[0] + (sun[0] - colour[0]) * share + added;
      rgb[at + 1] = colour[1] + (sun[1] - colour[1]) * share + added;
      rgb[at + 2] = colour[2] + (sun[2] - colour[2]) * share + added;
      at += 3;
    }
  }
  return { width, height, rgb: new Uint8Array(rgb.buffer) };
}

function ridge(width: number, height: number, index: number, chance: () => number): Float32Array {
  const base = height * (0.5 + index * 0.105);
  const waves = [1.1, 2.3, 5.1, 11.7].map((pace) => ({
    pace: (pace * (0.8 + chance() * 0.4) * 2 * Math.PI) / width,
    phase: chance() * 7,
    lift: (height * 0.055) / pace ** 0.75,
  }));
  return Float32Array.from({ length: width }, (_, x) =>
    waves.reduce((y, { pace, phase, lift }) => y + lift * Math.sin(x * pace + phase), base),
  );
}

/** The nearest ridge that covers a pixel; -1 for the sky. */
function frontAt(ridges: readonly Float32Array[], x: number, y: number): number {
  let front = ridges.length - 1;
  while (front >= 0 && y < (ridges[front]?.[x] ?? 0)) front -= 1;
  return front;
}

/** How much of the sun is seen at a distance from it, in heights of the picture: a disc with a halo. */
function glowAt(distance: number): number {
  return distance < 0.052 ? 1 : 0.62 * Math.exp((0.052 - distance) * 6.5);
}

function mixColours(from: Colour, to: Colour, share: number): Colour {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** A PNG of eight bits a channel, without transparency. */
export async function png({ width, height, rgb }: Picture): Promise<Uint8Array<ArrayBuffer>> {
  const line = width * 3;
  // Each line begins with the number of its filter: 0, none.
  const lines = new Uint8Array(height * (line + 1));
  for (let y = 0; y < height; y += 1) lines.set(rgb.subarray(y * line, (y + 1) * line), y * (line + 1) + 1);
  const head = new DataView(new ArrayBuffer(13));
  head.setUint32(0, width);
  head.setUint32(4, height);
  head.setUint8(8, 8);
  head.setUint8(9, 2);
  const parts = [
    SIGNATURE,
    chunk("IHDR", new Uint8Array(head.buffer)),
    chunk("IDAT", await deflate(lines)),
    chunk("IEND", new Uint8Array()),
  ];
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)));
  return bytes;
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return ~crc >>> 0;
}
