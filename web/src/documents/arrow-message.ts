/**
 * Checks the messages of Arrow (Arrow Columnar Format, "Encapsulated message format") before they are decoded: flechette makes lists as
 * long as a message claims. What is passed has as many fields, nodes, buffers and rows as its bytes have room for.
 * @module
 */
import { toDamagedError } from "./document.js";

/** Deepest field, most fields in a schema, and most bytes of all names and notes of a message. */
const MAX_DEPTH = 64;
const MAX_FIELDS = 20_000;
const MAX_STRINGS: number = 16 * 1024 * 1024;

/** Most values of a dictionary: they are all in memory. */
const MAX_DICTIONARY: number = 2 ** 24;

/** Bytes of a block in a footer, of a node and of a buffer. */
const BLOCK_BYTES = 24;
const NODE_BYTES = 16;

/** Kinds of messages. */
const SCHEMA = 1;
const DICTIONARY = 2;
const RECORDS = 3;

/** Kinds of types with a list of their own. */
const TIMESTAMP = 10;
const UNION = 14;

/** `ARROW1`. */
const MAGIC: readonly number[] = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];

/** Checks a file or a stream. Throws E_DOCUMENT for one that claims more than it has. */
export function checkArrow(bytes: Uint8Array): void {
  const isFile = MAGIC.every((byte, at) => bytes[at] === byte);
  if (isFile) checkFile(bytes);
  else for (let at = 0; at >= 0;) at = checkMessage(bytes, at);
}

function checkFile(bytes: Uint8Array): void {
  const view = new Flat(bytes);
  const end = bytes.length - MAGIC.length - 4;
  const start = end - view.int(end);
  if (start < 0 || start >= end) throw toDamagedError("Arrow table");
  const footer = new Flat(bytes.subarray(start, end));
  const table = footer.table(0);
  checkSchema(footer, footer.slot(table, 6));
  for (const slot of [8, 10]) {
    for (const at of footer.items(footer.slot(table, slot), BLOCK_BYTES)) checkMessage(bytes, footer.long(at));
  }
}

/** Checks the message at an offset. Gives where the next one begins; -1 behind the last. */
function checkMessage(bytes: Uint8Array, offset: number): number {
  const view = new Flat(bytes);
  if (offset >= bytes.length) return -1;
  const isMarked = view.int(offset) === -1;
  const length = view.int(isMarked ? offset + 4 : offset);
  const start = offset + (isMarked ? 8 : 4);
  if (length === 0) return -1;
  const end = start + length;
  if (length < 0 || end > bytes.length) throw toDamagedError("Arrow table");
  const message = new Flat(bytes.subarray(start, end));
  const table = message.table(0);
  const body = message.slot(table, 10);
  const bodyBytes = body === 0 ? 0 : message.long(body);
  if (bodyBytes < 0 || end + bodyBytes > bytes.length) throw toDamagedError("Arrow table");
  const kind = message.slot(table, 6);
  const header = message.slot(table, 8);
  switch (kind === 0 ? 0 : message.byte(kind)) {
    case SCHEMA:
      checkSchema(message, header);
      break;
    case DICTIONARY: {
      const inner = header === 0 ? 0 : message.slot(message.table(header), 6);
      checkBatch(message, inner, MAX_DICTIONARY);
      break;
    }
    case RECORDS:
      checkBatch(message, header, Number.MAX_SAFE_INTEGER);
      break;
    default:
      throw toDamagedError("Arrow table");
  }
  return end + bodyBytes;
}

function checkSchema(flat: Flat, at: number): void {
  if (at === 0) throw toDamagedError("Arrow table");
  const left = { fields: MAX_FIELDS, strings: MAX_STRINGS };
  const schema = flat.table(at);
  checkNotes(flat, flat.slot(schema, 8), left);
  for (const field of flat.items(flat.slot(schema, 6), 4)) checkField(flat, field, left, 0);
}

interface Left {
  fields: number;
  strings: number;
}

function checkField(flat: Flat, at: number, left: Left, depth: number): void {
  left.fields -= 1;
  if (left.fields < 0 || depth > MAX_DEPTH) throw toDamagedError("Arrow table");
  const field = flat.table(at);
  checkString(flat, flat.slot(field, 4), left);
  checkNotes(flat, flat.slot(field, 16), left);
  const type = flat.slot(field, 10);
  // The time zone of a moment, and the types of a union: of others a number stands there.
  const kind = flat.slot(field, 8);
  const has = (id: number): boolean => type !== 0 && kind !== 0 && flat.byte(kind) === id;
  if (has(TIMESTAMP)) checkString(flat, flat.slot(flat.table(type), 6), left);
  if (has(UNION)) flat.count(flat.slot(flat.table(type), 6), 4);
  for (const child of flat.items(flat.slot(field, 14), 4)) checkField(flat, child, left, depth + 1);
}

function checkNotes(flat: Flat, at: number, left: Left): void {
  for (const note of flat.items(at, 4)) {
    const table = flat.table(note);
    checkString(flat, flat.slot(table, 4), left);
    checkString(flat, flat.slot(table, 6), left);
  }
}

function checkString(flat: Flat, at: number, left: Left): void {
  left.strings -= flat.count(at, 1);
  if (left.strings < 0) throw toDamagedError("Arrow table");
}

function checkBatch(flat: Flat, at: number, mostRows: number): void {
  if (at === 0) throw toDamagedError("Arrow table");
  const batch = flat.table(at);
  const nodes = flat.items(flat.slot(batch, 6), NODE_BYTES);
  const buffers = flat.count(flat.slot(batch, 8), NODE_BYTES);
  const rows = nodes.map((node) => flat.long(node));
  const views = flat.items(flat.slot(batch, 12), 8).map((view) => flat.long(view));
  const isSane =
    rows.every((count) => count >= 0 && count <= mostRows) && views.every((count) => count >= 0 && count <= buffers);
  if (!isSane) throw toDamagedError("Arrow table");
}

/** Reads FlatBuffers, within their bytes. */
class Flat {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(at: number): number {
    return this.#view.getUint8(at);
  }

  int(at: number): number {
    return this.#view.getInt32(at, true);
  }

  long(at: number): number {
    return Number(this.#view.getBigInt64(at, true));
  }

  /** Where the table is that an offset leads to. */
  table(at: number): number {
    return at + this.int(at);
  }

  /** Where a field of a table stands. 0 if it has none. */
  slot(table: number, field: number): number {
    const layout = table - this.int(table);
    if (field >= this.#view.getUint16(layout, true)) return 0;
    const offset = this.#view.getUint16(layout + field, true);
    return offset === 0 ? 0 : table + offset;
  }

  /** How many items a list has that an offset leads to: 0 if it is left out. */
  count(at: number, stride: number): number {
    if (at === 0) return 0;
    const start = this.table(at) + 4;
    const count = this.int(start - 4);
    if (count < 0 || start + count * stride > this.#view.byteLength) throw toDamagedError("Arrow table");
    return count;
  }

  /** Where its items stand. */
  items(at: number, stride: number): readonly number[] {
    const start = this.table(at) + 4;
    return Array.from({ length: this.count(at, stride) }, (_, index) => start + index * stride);
  }
}
