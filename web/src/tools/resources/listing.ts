/**
 * Lists of resources that are fit to be shown, and how much of a source's resources is taken.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import { shortenText } from "../../mcp/artifact-reader/answer.js";
import { ToolClientError } from "../errors.js";
import type { ListedResource, ListedTemplate } from "../source-features.js";

/** Maximum length of a URI and of a template, in UTF-16 units. */
export const MAX_URI: number = 4096;

/** Maximum number of resources or templates in a list. */
const MAX_LISTED: number = 10_000;
/** Maximum length of all their texts together, in UTF-16 units. */
const MAX_LISTED_CHARS: number = 2_000_000;
/** Maximum characters of a resource's name and title. */
const MAX_NAME: number = 200;
/** Maximum characters of a resource's description. */
const MAX_DESCRIPTION: number = 500;

/** Maximum entries of a page for a planner. */
export const MAX_PAGE_ENTRIES: number = 100;
/** Maximum characters of a page for a planner, as JSON. */
export const MAX_PAGE_CHARS: number = 20_000;

/** Maximum number of cached results, and of cached lists. */
export const MAX_KEPT: number = 512;
/** Maximum size of a cached result, in UTF-16 units. */
export const MAX_KEPT_CHARS: number = 262_144;
/** Maximum size of the whole cache, in UTF-16 units. */
export const MAX_ALL_KEPT_CHARS: number = 4_194_304;
/** Maximum artifacts of a cached result. Each is looked up before the result is used again. */
export const MAX_KEPT_ARTIFACTS: number = 64;
/** Maximum contents of a cached result. */
export const MAX_KEPT_CONTENTS: number = 256;

/** Maximum short texts of one result that are stored. Further ones are only shown. */
export const MAX_STORED_TEXTS: number = 256;
/** Maximum artifacts of one result that are reported to a host. */
export const MAX_TOLD: number = 1000;

/** Milliseconds that a result is cached if the source gives no time. */
export const UNTOLD_TTL: number = 300_000;
/** Maximum milliseconds that a result is cached. */
export const MAX_TTL: number = 86_400_000;
/** Milliseconds that a list is cached, unless the source reports a change. */
export const LIST_TTL: number = 60_000;

/** Maximum length of a subscribed URI, in UTF-16 units. */
export const MAX_WATCHED_URI: number = 2048;
/** Maximum subscriptions of one session. */
export const MAX_SUBSCRIPTIONS: number = 1000;
/** Maximum number of sessions whose subscriptions are tracked. The least recently used is forgotten. */
export const MAX_OWNERS: number = 1000;
/** Milliseconds that renewing subscriptions on a new connection may take. */
export const RENEWAL_TIME: number = 60_000;

/** Maximum expressions of a template. */
export const MAX_EXPRESSIONS: number = 64;
/** Maximum values of a template argument that is a list or an object. */
export const MAX_VALUES: number = 100;
/** Maximum values of a completion (MCP "Completion"). */
export const MAX_COMPLETIONS: number = 100;

/** A list, within limits. */
export interface Listing<T> {
  /** In the source's order. */
  readonly items: readonly T[];
  /** Number of entries left out: invalid URIs, or too many entries. */
  readonly left_out: number;
  /** Length of all texts, in UTF-16 units. */
  readonly chars: number;
}

/** Characters that are invisible, or that hide or move other text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");
/** UTF-16 units of a text that are inspected for each character that is shown. */
const LOOKED_AT = 4;

/** Filters resources by valid URIs, and shortens and cleans names and descriptions. */
export function fitResources(listed: readonly ListedResource[]): Listing<ListedResource> {
  return fitEntries(listed, (resource) => {
    if (!isFitUri(resource.uri)) return undefined;
    const size = resource.size_bytes;
    const isSize = Number.isSafeInteger(size) && (size as number) >= 0;
    return { uri: resource.uri, ...describeEntry(resource), ...(isSize && { size_bytes: size as number }) };
  });
}

/** Same for templates. */
export function fitTemplates(listed: readonly ListedTemplate[]): Listing<ListedTemplate> {
  return fitEntries(listed, (template) => {
    if (!isFitUri(template.uri_template)) return undefined;
    return { uri_template: template.uri_template, ...describeEntry(template) };
  });
}

/**
 * Checks a URI.
 *
 * @throws ToolClientError if it is not a string, empty, longer than `most` UTF-16 units, or has invisible characters.
 */
export function checkUri(uri: unknown, name = "uri", most: number = MAX_URI): asserts uri is string {
  if (isFitUri(uri, most)) return;
  throw new ToolClientError(
    `${name} must be a string of 1 to ${most} visible characters: copy it from the list of the source.`,
  );
}

/** Whether it is a string of 1 to `most` UTF-16 units without invisible characters. */
export function isFitUri(uri: unknown, most: number = MAX_URI): uri is string {
  return typeof uri === "string" && uri !== "" && uri.length <= most && !HIDDEN.test(uri);
}

type Described = Pick<ListedResource, "name" | "title" | "description" | "mime_type">;

/** The name and what describes an entry, shortened and without invisible characters. */
export function describeEntry({ name, title, description, mime_type }: Described): Described {
  const type = plainType(textOr(mime_type));
  const shownTitle = cleanText(title, MAX_NAME);
  const shownDescription = cleanText(description, MAX_DESCRIPTION);
  return {
    name: cleanText(name, MAX_NAME),
    ...(shownTitle !== "" && { title: shownTitle }),
    ...(shownDescription !== "" && { description: shownDescription }),
    ...(type !== undefined && { mime_type: type }),
  };
}

function cleanText(text: unknown, most: number): string {
  const seen = (textOr(text) ?? "").slice(0, LOOKED_AT * most).replace(ALL_HIDDEN, " ");
  return shortenText(seen.replace(/\s+/g, " ").trim(), most);
}

/** The value if it is a string. A connection's values may differ from their types at run time. */
function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A list within limits, of entries as `fitted` makes them. It gives undefined for what is left out. */
export function fitEntries<T extends object>(listed: readonly T[], fitted: (each: T) => T | undefined): Listing<T> {
  const items: T[] = [];
  let chars = 0;
  for (const each of listed.slice(0, MAX_LISTED)) {
    const item = fitted(each);
    if (item === undefined) continue;
    const more = Object.values(item).reduce<number>((sum, value) => sum + measureValue(value), 0);
    if (chars + more > MAX_LISTED_CHARS) break;
    chars += more;
    items.push(item);
  }
  return { items, left_out: listed.length - items.length, chars };
}

function measureValue(value: unknown): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}
