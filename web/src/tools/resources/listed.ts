/**
 * What a source lists, made fit to be shown: its words are anybody's.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import { shortened } from "../../mcp/reading/answer.js";
import { ToolClientError } from "../errors.js";
import type { ListedResource, ListedTemplate } from "./connection.js";
import { MAX_DESCRIPTION, MAX_LISTED, MAX_LISTED_CHARS, MAX_NAME, MAX_URI } from "./limits.js";

/** A list as far as it is taken. */
export interface Listing<T> {
  /** In the source's order. */
  readonly items: readonly T[];
  /** How many were left out: unfit URIs, or too many of them. */
  readonly left_out: number;
  /** UTF-16 units of all texts in it. */
  readonly chars: number;
}

/** What cannot be seen, and hides what a line says or moves it. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");
/** Units of a text that are looked at, for each character that is shown of it. */
const LOOKED_AT = 4;

/** Resources whose URIs can be shown and given back; names and descriptions without what hides, and cut. */
export function fitResources(listed: readonly ListedResource[]): Listing<ListedResource> {
  return fit(listed, (resource) => {
    if (!isFitUri(resource.uri)) return undefined;
    const size = resource.size_bytes;
    const isSize = Number.isSafeInteger(size) && (size as number) >= 0;
    return { uri: resource.uri, ...described(resource), ...(isSize && { size_bytes: size as number }) };
  });
}

/** The same for templates. */
export function fitTemplates(listed: readonly ListedTemplate[]): Listing<ListedTemplate> {
  return fit(listed, (template) => {
    if (!isFitUri(template.uri_template)) return undefined;
    return { uri_template: template.uri_template, ...described(template) };
  });
}

/**
 * Checks what somebody wants to have read, or to be told of.
 *
 * @throws ToolClientError when it is no text, empty, longer than `most` UTF-16 units, or has characters that cannot be
 * seen.
 */
export function checkUri(uri: unknown, name = "uri", most: number = MAX_URI): asserts uri is string {
  if (isFitUri(uri, most)) return;
  throw new ToolClientError(
    `${name} must be a text of 1 to ${most} characters that can all be seen: give it as the source lists it.`,
  );
}

/** Whether it is a text of 1 to `most` UTF-16 units that can all be seen. */
export function isFitUri(uri: unknown, most: number = MAX_URI): uri is string {
  return typeof uri === "string" && uri !== "" && uri.length <= most && !HIDDEN.test(uri);
}

type Described = Pick<ListedResource, "name" | "title" | "description" | "mime_type">;

function described({ name, title, description, mime_type }: Described): Described {
  const type = plainType(textOr(mime_type));
  const shownTitle = shown(title, MAX_NAME);
  const shownDescription = shown(description, MAX_DESCRIPTION);
  return {
    name: shown(name, MAX_NAME),
    ...(shownTitle !== "" && { title: shownTitle }),
    ...(shownDescription !== "" && { description: shownDescription }),
    ...(type !== undefined && { mime_type: type }),
  };
}

function shown(text: unknown, most: number): string {
  const seen = (textOr(text) ?? "").slice(0, LOOKED_AT * most).replace(ALL_HIDDEN, " ");
  return shortened(seen.replace(/\s+/g, " ").trim(), most);
}

/** A connection may be anybody's: types hold nothing at run time. */
function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function fit<T extends object>(listed: readonly T[], fitted: (each: T) => T | undefined): Listing<T> {
  const items: T[] = [];
  let chars = 0;
  for (const each of listed.slice(0, MAX_LISTED)) {
    const item = fitted(each);
    if (item === undefined) continue;
    const more = Object.values(item).reduce<number>((sum, value) => sum + String(value).length, 0);
    if (chars + more > MAX_LISTED_CHARS) break;
    chars += more;
    items.push(item);
  }
  return { items, left_out: listed.length - items.length, chars };
}
