/** Pictures by codecs: kinds of images, orientation, colours, sizes; what is no image, or too large, says so before it takes memory. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { crc32, deflateSync } from "node:zlib";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { DocumentModule } from "../../../web/src/core/engine.js";
import { Codecs } from "../../../web/src/documents/codecs.js";
import { readColourProfile } from "../../../web/src/documents/colour-profile.js";
import { readJpegHeaders } from "../../../web/src/documents/jpeg.js";
import { Pdfium } from "../../../web/src/documents/pdfium.js";
import { MADE } from "./made-pictures.js";
import { type Drawing, encodeWithin, scalePicture } from "../../../web/src/documents/picture.js";

const compile = async (name: DocumentModule): Promise<WebAssembly.Module> =>
  WebAssembly.compile(await readFile(new URL(`../../../web/src/documents/wasm/${name}.wasm`, import.meta.url)));
const codecs = new Codecs({ compile, pdfium: async () => Pdfium.load(await compile("pdfium")) });

const LIMITS = { maxSide: 1568, maxBytes: 1024 * 1024 };
const [RED, GREEN, BLUE, WHITE] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
] as const;

/** A canvas of 40 × 20 in four colours, red, green, blue and white from the top left to the bottom right. */
function drawQuarters(): Drawn {
  const { createCanvas } = createRequire(import.meta.url)("@napi-rs/canvas") as {
    createCanvas: (...size: number[]) => Drawn;
  };
  const canvas = createCanvas(40, 20);
  const context = canvas.getContext("2d");
  [RED, GREEN, BLUE, WHITE].forEach((colour, at) => {
    context.fillStyle = `rgb(${colour.join(" ")})`;
    context.fillRect((at % 2) * 20, Math.floor(at / 2) * 10, 20, 10);
  });
  return canvas;
}

interface Drawn {
  getContext(kind: "2d"): { fillStyle: string; fillRect(...at: number[]): void };
  encode(type: string, quality?: number): Promise<Buffer>;
}

/** The colours of the four quarters, each rounded to full or none. */
async function readQuarters(bytes: Uint8Array): Promise<{ size: string; quarters: readonly (readonly number[])[] }> {
  const { decode } = await import("@jsquash/png/decode.js");
  const drawing = await codecs.load(bytes, 1568);
  const { width, height, data } = await decode(Uint8Array.from(await drawing.encodePng()).buffer);
  const quarters = [0, 1, 2, 3].map((at) => {
    const x = Math.floor(width * (at % 2 === 0 ? 0.25 : 0.75));
    const y = Math.floor(height * (at < 2 ? 0.25 : 0.75));
    return [0, 1, 2].map((channel) => ((data[(y * width + x) * 4 + channel] as number) > 127 ? 255 : 0));
  });
  return { size: `${width} × ${height}`, quarters };
}

/** A JPEG with an orientation: the APP1 segment of EXIF with one entry, tag 274. */
function orient(jpeg: Uint8Array, orientation: number): Uint8Array {
  const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0];
  const content = [...new TextEncoder().encode("Exif\0\0"), ...tiff];
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe1, 0, content.length + 2, ...content, ...jpeg.subarray(2)]);
}

test.each(["png", "jpeg", "webp"])("a %s is shown as it is", async (type) => {
  const bytes = await drawQuarters().encode(type, 95);
  expect(await readQuarters(bytes)).toEqual({ size: "40 × 20", quarters: [RED, GREEN, BLUE, WHITE] });
});

test("a GIF shows its first frame", async () => {
  // 2 × 1 pixels, red and blue (GIF89a).
  const bytes = [
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 2, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255, 0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0,
  ];
  const gif = Uint8Array.from([...bytes, 2, 2, 0x44, 0x0a, 0, 0x3b]);
  expect((await readQuarters(gif)).quarters).toEqual([RED, BLUE, RED, BLUE]);
});

test("a BMP is shown, whose rows run upwards", async () => {
  // 4 × 4 pixels of 24 bits, blue, green, red: the lowest row first.
  const bytes = new Uint8Array(54 + 48);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x424d);
  const numbers = { 2: bytes.length, 10: 54, 14: 40, 18: 4, 22: 4, 34: 48 };
  for (const [at, value] of Object.entries(numbers)) view.setUint32(Number(at), value, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let pixel = 0; pixel < 16; pixel += 1) bytes.set(pixel < 8 ? [255, 0, 0] : [0, 0, 255], 54 + pixel * 3);
  expect((await readQuarters(bytes)).quarters).toEqual([RED, RED, BLUE, BLUE]);
});

test("an uncompressed TIFF is shown", async () => {
  const { default: UTIF } = await import("utif2");
  const rgba = Uint8Array.from([...RED, 255, ...BLUE, 255]);
  expect((await readQuarters(new Uint8Array(UTIF.encodeImage(rgba, 2, 1)))).quarters).toEqual([RED, BLUE, RED, BLUE]);
});

const TURNED: Readonly<Record<number, readonly (readonly number[])[]>> = {
  1: [RED, GREEN, BLUE, WHITE],
  2: [GREEN, RED, WHITE, BLUE],
  3: [WHITE, BLUE, GREEN, RED],
  4: [BLUE, WHITE, RED, GREEN],
  5: [RED, BLUE, GREEN, WHITE],
  6: [BLUE, RED, WHITE, GREEN],
  7: [WHITE, GREEN, BLUE, RED],
  8: [GREEN, WHITE, RED, BLUE],
};

test.each(Object.entries(TURNED))("orientation %s of EXIF is heeded", async (orientation, quarters) => {
  const jpeg = orient(await drawQuarters().encode("jpeg", 95), Number(orientation));
  expect(await readQuarters(jpeg)).toEqual({ size: Number(orientation) < 5 ? "40 × 20" : "20 × 40", quarters });
});

/** The four quarters as a JPEG without a profile. */
async function writeQuarters(): Promise<Uint8Array> {
  const colours = [RED, GREEN, BLUE, WHITE];
  const pixels = Array.from({ length: 800 }, (_, pixel) => {
    const [x, y] = [pixel % 40, Math.floor(pixel / 40)];
    return [...(colours[(x < 20 ? 0 : 1) + (y < 10 ? 0 : 2)] ?? []), 255];
  });
  return (await codecs.draw({ width: 40, height: 20, data: Uint8Array.from(pixels.flat()) })).encodeJpeg(95);
}

/** A JPEG with a colour profile: the APP2 segment of ICC, the first of one. */
function addProfile(jpeg: Uint8Array, profile: string): Uint8Array {
  const content = [...new TextEncoder().encode(`ICC_PROFILE\0\u0001\u0001${profile}`)];
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe2, 0, content.length + 2, ...content, ...jpeg.subarray(2)]);
}

test.each([1, 6])("a JPEG with a colour profile is drawn by PDFium, turned as it says: %s", async (orientation) => {
  const jpeg = addProfile(await writeQuarters(), "a profile of some camera");
  const { size, quarters } = await readQuarters(orient(jpeg, orientation));
  expect({ size, quarters }).toEqual({
    size: orientation === 1 ? "40 × 20" : "20 × 40",
    quarters: TURNED[orientation],
  });
});

/** A profile of a screen whose red shines green, and whose green red (ICC.1: a header, tags, three primaries, a curve). */
function writeSwappedProfile(): Buffer {
  const number = (value: number): Buffer => Buffer.from(Int32Array.of(Math.round(value * 65_536)).buffer).swap32();
  const xyz = (...values: number[]): Buffer => Buffer.concat([Buffer.from("XYZ \0\0\0\0"), ...values.map(number)]);
  const curve = Buffer.concat([Buffer.from("curv\0\0\0\0"), Buffer.from([0, 0, 0, 1, 2, 51, 0, 0])]);
  // The primaries of sRGB under D50.
  const tags: readonly (readonly [string, Buffer])[] = [
    ["rXYZ", xyz(0.3851, 0.7169, 0.0971)],
    ["gXYZ", xyz(0.4361, 0.2225, 0.0139)],
    ["bXYZ", xyz(0.1431, 0.0606, 0.7141)],
    ["wtpt", xyz(0.9642, 1, 0.8249)],
    ["rTRC", curve],
    ["gTRC", curve],
    ["bTRC", curve],
  ];
  const count = Buffer.from([0, 0, 0, tags.length]);
  let offset = 128 + 4 + tags.length * 12;
  const entries = tags.map(([name, content]) => {
    const entry = Buffer.alloc(12);
    entry.write(name);
    entry.writeUInt32BE(offset, 4);
    entry.writeUInt32BE(content.length, 8);
    offset += content.length;
    return entry;
  });
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset);
  header.write("\x02\x10", 8, "latin1");
  header.write("mntrRGB XYZ ", 12);
  header.write("acsp", 36);
  Buffer.concat([number(0.9642), number(1), number(0.8249)]).copy(header, 68);
  return Buffer.concat([header, count, ...entries, ...tags.map(([, content]) => content)]);
}

/** A PNG with a profile: the chunk iCCP behind IHDR. */
function addPngProfile(png: Uint8Array, profile: Uint8Array): Uint8Array {
  const content = Buffer.concat([Buffer.from("iCCPscreen\0\0"), deflateSync(profile)]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(content.length - 4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([png.subarray(0, 33), size, content, sum, png.subarray(33)]);
}

/** A WebP with a profile: the chunks VP8X and ICCP before that of the picture. */
function addWebpProfile(webp: Uint8Array, profile: Uint8Array): Uint8Array {
  const chunk = (name: string, content: Uint8Array): Buffer => {
    const head = Buffer.alloc(8);
    head.write(name);
    head.writeUInt32LE(content.length, 4);
    return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
  };
  const extended = chunk("VP8X", Uint8Array.of(0x20, 0, 0, 0, 39, 0, 0, 19, 0, 0));
  const picture = Buffer.from(webp);
  const at = picture.indexOf("VP8 ") < 0 ? picture.indexOf("VP8L") : picture.indexOf("VP8 ");
  return chunk("RIFF", Buffer.concat([Buffer.from("WEBP"), extended, chunk("ICCP", profile), picture.subarray(at)]));
}

test.each([
  ["png", addPngProfile],
  ["webp", addWebpProfile],
] as const)("colours of a %s are those that its profile means", async (type, add) => {
  const image = await drawQuarters().encode(type, 100);
  const [red, green, ...others] = TURNED[1] ?? [];
  expect((await readQuarters(add(image, writeSwappedProfile()))).quarters).toEqual([green, red, ...others]);
  // What no profile is, is about other colours, or means sRGB changes nothing.
  for (const profile of ["no profile", "................GRAY", "................RGB sRGB"]) {
    expect((await readQuarters(add(image, Buffer.from(profile)))).quarters).toEqual(TURNED[1]);
  }
  expect((await readQuarters(add(image, Buffer.from("................RGB that breaks off")))).quarters).toHaveLength(4);
});

test("what is transparent stays so, whatever its profile", async () => {
  const pixels = { width: 20, height: 10, data: new Uint8Array(800).map((_, at) => (at % 4 === 3 ? 64 : 200)) };
  const png = await (await codecs.draw(pixels)).encodePng();
  const { decode } = await import("@jsquash/png/decode.js");
  const drawing = await codecs.load(addPngProfile(png, writeSwappedProfile()), 1568);
  expect((await decode(Uint8Array.from(await drawing.encodePng()).buffer)).data[3]).toBe(64);
});

test("bytes that only begin as an image have no profile, or some", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("png", "webp"), async (bytes, type) => {
      const profile = await readColourProfile(bytes, type);
      expect(profile === undefined || profile.length > 0).toBe(true);
    }),
  );
});

test("headers of a JPEG tell its size, its colours and its profile, but for that of sRGB", async () => {
  const jpeg = await writeQuarters();
  expect(readJpegHeaders(jpeg)).toEqual({
    isPlain: true,
    width: 40,
    height: 20,
    components: 3,
    isAdobe: false,
    profile: undefined,
  });
  expect(readJpegHeaders(addProfile(jpeg, "s\0R\0G\0B\0 IEC61966"))?.profile).toBeUndefined();
  expect(readJpegHeaders(addProfile(jpeg, "Display P3"))?.profile).toEqual(new TextEncoder().encode("Display P3"));
});

test("bytes that are no JPEG have no headers, or some", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const told = readJpegHeaders(Uint8Array.from([0xff, 0xd8, ...bytes]));
      expect(told === undefined || told.width >= 0).toBe(true);
    }),
  );
});

test("a large image is scaled down, and becomes JPEG where PNG is too large", async () => {
  const pixels = { width: 2000, height: 1000, data: new Uint8Array(2000 * 1000 * 4) };
  for (let at = 0; at < pixels.data.length; at += 1) pixels.data[at] = at % 4 === 3 ? 255 : (at * 2_654_435_761) >>> 24;
  const bytes = await (await codecs.draw(pixels)).encodePng();
  const picture = await scalePicture(codecs, bytes, LIMITS);
  expect(picture).toMatchObject({ mime_type: "image/jpeg", width: 1568, height: 784 });
  expect(picture.bytes.length).toBeLessThanOrEqual(LIMITS.maxBytes);
});

test("a region is in pixels of the whole as it is shown, and has the detail of the original", async () => {
  const pixels = { width: 2000, height: 1000, data: new Uint8Array(2000 * 1000 * 4).fill(255) };
  // One red pixel in the original, of which nothing is left where it is half as large.
  pixels.data.set([255, 0, 0], (500 * 2000 + 1001) * 4);
  const bytes = await (await codecs.draw(pixels)).encodePng();
  const region = { x: 500, y: 250, width: 2, height: 2, maxSide: 1000 };
  const { decode } = await import("@jsquash/png/decode.js");
  const part = await decode(Uint8Array.from(await (await codecs.load(bytes, 1568, region)).encodePng()).buffer);
  expect([part.width, part.height]).toEqual([4, 4]);
  expect([...part.data.subarray(4, 8)]).toEqual([255, 0, 0, 255]);
});

test("what shows through is on white as JPEG", async () => {
  const drawing: Drawing = await codecs.draw({ width: 8, height: 8, data: new Uint8Array(256) });
  expect((await readQuarters(await drawing.encodeJpeg(90))).quarters).toEqual([WHITE, WHITE, WHITE, WHITE]);
});

test("an image of too many pixels is refused by its head alone", async () => {
  const head = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
  const png = Uint8Array.from([...head, 0, 1, 0, 0, 0, 1, 0, 0, 8, 6, 0, 0, 0, 0, 0, 0, 0]);
  await expect(codecs.load(png, 1568)).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("65536 × 65536 pixels"),
  });
});

test("an image that is not decoded says its kind", async () => {
  const avif = await drawQuarters().encode("avif", 60);
  await expect(codecs.load(avif, 1568)).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("AVIF"),
  });
});

test("a damaged image ends in a picture or E_DOCUMENT, and the next one is decoded", async () => {
  const kinds = await Promise.all(["png", "jpeg", "webp"].map((type) => drawQuarters().encode(type, 95)));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...kinds), fc.nat(), fc.nat(255), fc.nat(), async (whole, place, byte, cut) => {
      const bytes = Uint8Array.from(whole.subarray(0, 1 + (cut % whole.length)));
      bytes[place % bytes.length] = byte;
      const outcome = await scalePicture(codecs, bytes, LIMITS).then(
        () => "shown",
        (error: { code?: string }) => error.code,
      );
      expect(["shown", "E_DOCUMENT"]).toContain(outcome);
    }),
  );
  for (const bytes of kinds) expect((await readQuarters(bytes)).size).toBe("40 × 20");
});

test("what cannot be made small enough says so", async () => {
  const drawing = await codecs.load(await drawQuarters().encode("png"), 1568);
  await expect(encodeWithin(drawing, { maxSide: 40, maxBytes: 10 })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

const readMade = (name: string): Uint8Array => Buffer.from(MADE[name] ?? "", "base64");

test.each([["cmyk.tif"], ["cmyk16.tif"], ["256.bmp"]])("%s of ImageMagick is shown in its colours", async (name) => {
  expect(await readQuarters(readMade(name))).toEqual({ size: "40 × 20", quarters: [RED, GREEN, BLUE, WHITE] });
});

test("pictures without colours are shown by their light: of 16 bits with alpha, of one bit", async () => {
  expect((await readQuarters(readMade("2.bmp"))).quarters).toContainEqual(WHITE);
  const { size, quarters } = await readQuarters(readMade("grey16.tif"));
  expect(size).toBe("40 × 20");
  // Of the four, green and white are light.
  expect(quarters.map(([red]) => red)).toEqual([0, 255, 0, 255]);
});

test.each([["turned.tif"], ["turned.webp"], ["turned.png"]])(
  "%s is shown upright, as its orientation says",
  async (name) => {
    // Turned to the right: what was at the left is above.
    expect(await readQuarters(readMade(name))).toEqual({ size: "20 × 40", quarters: [BLUE, RED, WHITE, GREEN] });
  },
);

test.each([["planes.tif"], ["float.tif"], ["webp.tif"], ["rle.bmp"]])(
  "%s says what can be done, and is not shown wrong",
  async (name) => {
    await expect(codecs.load(readMade(name), 1568)).rejects.toMatchObject({
      code: "E_DOCUMENT",
      message: expect.stringContaining("pass its URI to a tool that converts it, or ask for PNG or JPEG") as string,
    });
  },
);

test("a large JPEG is scaled while PDFium decodes it, and stays a JPEG", async () => {
  const { createCanvas } = createRequire(import.meta.url)("@napi-rs/canvas") as {
    createCanvas: (...size: number[]) => Drawn;
  };
  const canvas = createCanvas(2400, 1200);
  const context = canvas.getContext("2d");
  [RED, GREEN, BLUE, WHITE].forEach((colour, at) => {
    context.fillStyle = `rgb(${colour.join(" ")})`;
    context.fillRect((at % 2) * 1200, Math.floor(at / 2) * 600, 1200, 600);
  });
  const jpeg = await canvas.encode("jpeg", 90);
  expect(await readQuarters(jpeg)).toEqual({ size: "1568 × 784", quarters: [RED, GREEN, BLUE, WHITE] });
  expect(await readQuarters(orient(jpeg, 6))).toMatchObject({
    size: "784 × 1568",
    quarters: [BLUE, RED, WHITE, GREEN],
  });
  expect(await scalePicture(codecs, jpeg, LIMITS)).toMatchObject({ mime_type: "image/jpeg", width: 1568 });
  // One without the tables of Huffman is no white picture.
  const damaged = Buffer.from(jpeg);
  for (
    let at = damaged.indexOf(Buffer.from([0xff, 0xc4]));
    at >= 0;
    at = damaged.indexOf(Buffer.from([0xff, 0xc4]), at + 4)
  ) {
    damaged.fill(0xff, at + 5, at + 4 + 16);
  }
  await expect(codecs.load(damaged, 1568)).rejects.toMatchObject({ code: "E_DOCUMENT" });
});
