/**
 * A tune as a WAV file.
 * @module
 */

/** Samples a second; 16 bits each, one channel. */
const RATE = 22_050;
const HEADER = 44;
/** Hertz, up and down a chord of C major with its ninth. */
const NOTES = [261.63, 329.63, 392, 493.88, 587.33, 493.88, 392, 329.63] as const;
/** Seconds from one note to the next, and the time in which one fades to a third. */
const PACE = 0.25;
const FADE = 0.32;

/** An arpeggio that lasts that long. */
export function jingle(seconds: number): Uint8Array<ArrayBuffer> {
  const count = Math.round(seconds * RATE);
  const view = new DataView(new ArrayBuffer(HEADER + count * 2));
  header(view, count * 2);
  for (let i = 0; i < count; i += 1) {
    const ending = Math.min(1, (count - i) / (RATE * 0.2));
    view.setInt16(HEADER + i * 2, sampleAt(i / RATE) * ending * 11_000, true);
  }
  return new Uint8Array(view.buffer);
}

/** What sounds at a time: the notes of the last second, each of them fading. */
function sampleAt(time: number): number {
  const newest = Math.floor(time / PACE);
  let sum = 0;
  for (let note = Math.max(0, newest - 3); note <= newest; note += 1) {
    const age = time - note * PACE;
    const turns = 2 * Math.PI * (NOTES[note % NOTES.length] ?? 0) * age;
    const loudness = Math.exp(-age / FADE) * Math.min(1, age * 200);
    sum += (Math.sin(turns) + 0.3 * Math.sin(2 * turns) + 0.1 * Math.sin(3 * turns)) * loudness;
  }
  return sum;
}

function header(view: DataView, size: number): void {
  const word = (at: number, text: string): void => {
    for (let i = 0; i < text.length; i += 1) view.setUint8(at + i, text.charCodeAt(i));
  };
  word(0, "RIFF");
  view.setUint32(4, HEADER - 8 + size, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, size, true);
}
