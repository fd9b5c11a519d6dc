/**
 * Lines of a byte stream, in pieces: no line is ever held whole.
 * @module
 */

/** A stretch of one line, without its newline. */
interface LinePiece {
  readonly bytes: Uint8Array;
  /** Whether the line ends here. */
  readonly last: boolean;
}

const NEWLINE = 0x0a;

/** Cuts chunks at `\n`. A last line without a newline ends with the stream; no line follows a final newline. */
export async function* linePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LinePiece> {
  let open = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield { bytes: chunk.subarray(from, at), last: true };
      from = at + 1;
      open = false;
    }
    if (from < chunk.length) {
      yield { bytes: chunk.subarray(from), last: false };
      open = true;
    }
  }
  if (open) yield { bytes: new Uint8Array(0), last: true };
}

/** Whether the bytes are nothing but JSON white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE);
}
