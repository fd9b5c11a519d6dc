/**
 * Headers of JPEGs, which tell the colours that print shops and cameras write.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";
import { isSrgb } from "./colour-profile.js";

/** What the headers of a JPEG say (ITU-T T.81, annex B). */
export interface JpegHeaders {
  readonly width: number;
  readonly height: number;
  /** Colours of a pixel: 1, 3, or 4 for CMYK. */
  readonly components: number;
  /** Whether every decoder knows its form: Huffman, baseline or progressive, with eight bits a colour. */
  readonly isPlain: boolean;
  /** Whether Adobe's segment is there: CMYK is then inverted. */
  readonly isAdobe: boolean;
  /** The ICC profile, or undefined (ICC.1, annex B.4). That of sRGB counts as none: it changes nothing. */
  readonly profile: Uint8Array | undefined;
}

const START_OF_SCAN = 0xda;
const APP2 = 0xe2;
const APP14 = 0xee;
const ICC = "ICC_PROFILE\0";

/** Segments that are looked at. */
const MAX_SEGMENTS = 4096;

/** Reads the headers. Undefined if it is no JPEG, or ends within them. */
export function readJpegHeaders(bytes: Uint8Array): JpegHeaders | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const profile: Uint8Array[] = [];
  let isAdobe = false;
  let frame: Pick<JpegHeaders, "width" | "height" | "components" | "isPlain"> | undefined;
  // FF D8, then segments: FF, marker, two bytes of length, content.
  let at = 2;
  for (let count = 0; count < MAX_SEGMENTS && at + 4 <= bytes.length && bytes[at] === 0xff; count += 1) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + view.getUint16(at + 2);
    if (marker === START_OF_SCAN || end > bytes.length) break;
    const content = bytes.subarray(at + 4, end);
    if (isFrame(marker) && content.length >= 6) {
      frame = {
        isPlain: marker <= 0xc2 && bytes[at + 4] === 8,
        height: view.getUint16(at + 5),
        width: view.getUint16(at + 7),
        components: bytes[at + 9] as number,
      };
    }
    if (marker === APP14) isAdobe = isAdobe || startsWith(content, "Adobe");
    // Behind the name: the number of this part, and how many there are. They come in order.
    if (marker === APP2 && startsWith(content, ICC)) profile.push(content.subarray(ICC.length + 2));
    at = end;
  }
  const whole = joinBytes(profile);
  return frame && { ...frame, isAdobe, profile: whole.length === 0 || isSrgb(whole) ? undefined : whole };
}

/** Start of a frame: C0 to CF without DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, text.length)) === text;
}
