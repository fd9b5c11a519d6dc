/**
 * One value of a JSON artifact: whole where it is short, else an outline of it.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { counted, grouped, humanSize } from "../../core/amounts.js";
import type { Told } from "./answer.js";
import { artifactUri } from "./definition.js";
import { fitting, shortened } from "./json-chars.js";
import type { Look } from "./look.js";
import { MAX_POINTER_BYTES, MAX_RESOURCE_PART } from "./limits.js";
import { pointerOf } from "./pointer.js";
import { PointerFinder, type Member, type Place } from "./pointer-finder.js";
import { pour, type Readable } from "./source.js";
import { quoted } from "./untrusted.js";

/** Members of an array that an outline names: they are much alike. */
const ELEMENTS_SHOWN = 20;
const MAX_NAME = 300;

/** Tells of the value at a pointer in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…. */
export async function tellPointer(from: Readable, look: Look, tokens: readonly string[], most: number): Promise<Told> {
  const finder = new PointerFinder(tokens, 4 * most + 2, look.markBytes);
  const place = await find(from, look, finder, tokens);
  const { text, isCut } = finder.text();
  const fit = fitting(text, most);
  const name = tokens.length === 0 ? "the whole document" : quoted(pointerOf(tokens));
  const head = `${artifactUri(from.ref.id)}, ${name}: ${kindOf(place)}`;
  if (!isCut && fit.text.length === text.length) return { head, data: text };
  if (place.kind === "object" || place.kind === "array") return outline(head, place, finder.members, tokens, most);
  const next = `bytes "${place.start}-${place.end - 1}"`;
  return { head: `${head}, its beginning`, data: fit.text, notes: [`The whole value is ${next}: read on there.`] };
}

/** The source text of the value at a pointer, whole. Throws the same. */
export async function textAtPointer(from: Readable, look: Look, tokens: readonly string[]): Promise<string> {
  const finder = new PointerFinder(tokens, MAX_RESOURCE_PART, look.markBytes);
  await find(from, look, finder, tokens);
  const { text, isCut } = finder.text();
  if (!isCut) return text;
  throw new SluiceError("E_TOO_LARGE", "The value is larger than 4 MiB: point to a part of it, or read bytes.", {
    path: "pointer",
  });
}

async function find(from: Readable, look: Look, finder: PointerFinder, tokens: readonly string[]): Promise<Place> {
  const size = from.ref.size_bytes;
  if (size > MAX_POINTER_BYTES) {
    const most = humanSize(MAX_POINTER_BYTES);
    throw wrong(
      "E_TOO_LARGE",
      `The artifact is larger than ${most}, too large for pointer: use lines, bytes or search.`,
    );
  }
  await pour(from, { start: look.markBytes, end: size }, (chunk) => {
    finder.push(chunk);
    return true;
  });
  finder.end();
  const place = finder.deepest as Place;
  if (place.depth < tokens.length) throw leadsNowhere(place, tokens);
  return place;
}

function leadsNowhere(place: Place, tokens: readonly string[]): SluiceError {
  const resolved = quoted(pointerOf(tokens.slice(0, place.depth)));
  const next = quoted(tokens[place.depth] ?? "");
  let remedy = "point there";
  if (place.kind === "object") remedy = `read pointer ${resolved} for its keys`;
  if (place.kind === "array") {
    remedy = place.members === 0 ? "it is empty" : `its elements are /0 to /${place.members - 1}`;
  }
  return wrong(
    "E_INVALID_ARGUMENT",
    `The pointer leads as far as ${resolved}, which is ${kindOf(place)}, and has no ${next}: ${remedy}.`,
  );
}

function outline(
  head: string,
  place: Place,
  members: readonly Member[],
  tokens: readonly string[],
  most: number,
): Told {
  const lines: string[] = [];
  let left = most;
  const enough = place.kind === "array" ? ELEMENTS_SHOWN : Infinity;
  for (const member of members.slice(0, enough)) {
    const line = lineOf(member);
    const { chars } = fitting(line, Infinity);
    if (chars + 2 > left) break;
    left -= chars + 2;
    lines.push(line);
  }
  const more = place.members - lines.length;
  const rest = more > 0 ? [`${grouped(more)} more not listed.`] : [];
  const example = quoted(`${shortened(pointerOf(tokens), 40)}/…`);
  return {
    head: `${head}, too large to be shown whole; an outline of its members follows`,
    data: lines.join("\n"),
    notes: [
      ...rest,
      `Go deeper with pointer ${example}${place.kind === "array" ? ", or rows where it is the root" : ""}.`,
    ],
  };
}

/** The name as the last token of a pointer, in quotes, and what is there. */
function lineOf(member: Member): string {
  const name =
    member.name === undefined
      ? "(a key too long to show)"
      : JSON.stringify(shortened(pointerOf([member.name]), MAX_NAME));
  const { source } = member;
  return `${name}: ${source === undefined || source.includes("\n") ? kindOf(member) : source}`;
}

function kindOf({ kind, members, start, end }: Place): string {
  const size = humanSize(end - start);
  if (kind === "object") return `an object of ${counted(members, "member")}, ${size}`;
  if (kind === "array") return `an array of ${counted(members, "element")}, ${size}`;
  if (kind === "string") return `a string, ${size}`;
  return kind === "number" ? "a number" : kind;
}

function wrong(code: "E_INVALID_ARGUMENT" | "E_TOO_LARGE", message: string): SluiceError {
  return new SluiceError(code, message, { path: "pointer" });
}
