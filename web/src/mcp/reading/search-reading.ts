/**
 * Where a text stands in an artifact.
 * @module
 */
import { counted, humanSize } from "../../core/amounts.js";
import type { Told } from "./answer.js";
import { artifactUri } from "./definition.js";
import { asciiOf } from "./hex.js";
import { jsonChars } from "./json-chars.js";
import { HIT_CHARS, MAX_HITS } from "./limits.js";
import type { Look } from "./look.js";
import { Needle } from "./needle.js";
import { Searcher, type Hit } from "./searcher.js";
import { pour, type Readable } from "./source.js";
import { quoted } from "./untrusted.js";

const NEWLINE_CHARS = 2;
/** Bytes of a binary artifact shown before and behind a hit. */
const BINARY_AROUND = 24;
/** Characters shown before a hit, at most; what is left of a hit's room follows it. */
const BEFORE = 60;

/** Tells of hits in at most `most` characters. */
export async function tellSearch(from: Readable, look: Look, needle: string, most: number): Promise<Told> {
  const { id, size_bytes: size } = from.ref;
  // One more tells whether there are more.
  const searcher = new Searcher(new Needle(needle), MAX_HITS + 1);
  const end = Math.min(size, from.maxScanned);
  await pour(from, { start: 0, end }, (chunk) => {
    searcher.push(chunk);
    return !searcher.isFull;
  });
  searcher.end();
  const lines = fittingLines(searcher.hits.slice(0, MAX_HITS), look.isText, most);
  const limit = end < size ? [`Only the first ${humanSize(end)} were searched.`] : [];
  const head = `${artifactUri(id)}, search for ${quoted(needle)}`;
  if (lines.length === 0) return { head: `${head}: not found`, notes: [...limit, ...noneNotes(look)] };
  const hasMore = searcher.hits.length > lines.length;
  const notes = [...limit, ...(hasMore ? ["There are more: search for something longer."] : []), readOn(look)];
  return {
    head: `${head}: ${hasMore ? "the first " : ""}${counted(lines.length, "place")}`,
    data: lines.join("\n"),
    notes,
  };
}

function fittingLines(hits: readonly Hit[], isText: boolean, most: number): readonly string[] {
  const lines: string[] = [];
  let left = most;
  for (const hit of hits) {
    const line = isText ? textLine(hit) : binaryLine(hit);
    left -= jsonChars(line) + (lines.length > 0 ? NEWLINE_CHARS : 0);
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  return lines;
}

/** The line that a hit stands in, as far as there is room. */
function textLine({ at, line, before, match, after }: Hit): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const left = Array.from(decoder.decode(whole(before)).split("\n").at(-1) ?? "");
  const own = Array.from(decoder.decode(match)).slice(0, HIT_CHARS);
  const start = left.slice(-Math.min(BEFORE, HIT_CHARS - own.length) || left.length);
  const right = Array.from(decoder.decode(after, { stream: true }).split("\n", 1)[0]?.replace(/\r$/, "") ?? "");
  const end = right.slice(0, HIT_CHARS - own.length - start.length);
  const opening = start.length < left.length ? "…" : "";
  const closing = end.length < right.length ? "…" : "";
  return `line ${line}, byte ${at}: ${opening}${[...start, ...own, ...end].join("")}${closing}`;
}

function binaryLine({ at, before, match, after }: Hit): string {
  const shown = asciiOf(before.subarray(-BINARY_AROUND)) + asciiOf(match) + asciiOf(after.subarray(0, BINARY_AROUND));
  return `byte ${at}: ${shown}`;
}

/** Without the bytes at the start that continue a character. */
function whole(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return from < 0 || from > 3 ? bytes : bytes.subarray(from);
}

function readOn(look: Look): string {
  return look.isText ? "Read around a place with lines or bytes." : "Read around a place with bytes.";
}

function noneNotes(look: Look): readonly string[] {
  return look.isText ? [] : ["The artifact is no plain text: what is in it may be compressed or encoded."];
}
