/**
 * Questions of an MCP server to a person (MCP, "Elicitation"): what is shown, and the answer.
 * @module
 */
import { specTypeSchemas, type ElicitResult } from "@modelcontextprotocol/client";
import { shortenText } from "../../../mcp/artifact-reader/answer.js";
import { toSubject, ToolNodeError, type ToolPlace } from "../../errors.js";
import { isSafe } from "../../addresses.js";
import type { PausePayload, PauseReason } from "../../context.js";
import type { JsonSchema } from "../../source-features.js";

/** A question for the host. */
export interface Question<R> {
  readonly reason: PauseReason;
  readonly payload: PausePayload;
  /** Converts the host's answer. Undefined if it declines. Throws ToolNodeError for an invalid one. */
  readonly read: (given: unknown) => R | undefined;
}

/** A form to fill in, or a page to open. */
interface Elicitation {
  readonly reason: PauseReason;
  readonly payload: PausePayload;
  /** The fields of a form. Undefined for a page to open. */
  readonly fields: readonly string[] | undefined;
}

/** The answer if no one is asked, or the person declines. */
export const DECLINED: ElicitResult = { action: "decline" };

/** Maximum characters of a text. */
export const MAX_TEXT = 4000;

/** Maximum characters of what is asked, and of its answer, as JSON. */
export const MAX_JSON = 65_536;

/** Maximum depth of a schema. MCP's forms are flatter. */
const MAX_DEPTH = 8;

/** Invisible characters, except joiners, line breaks and tabs. */
const HIDDEN = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Keywords whose values are part of the answer. They are shown unchanged, or the form is declined. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "required"]);

/** Removes invisible characters and shortens a server's text to 4,000 characters. */
export function cleanText(text: string): string {
  // The text may be megabytes long, so most of it is not inspected.
  return shortenText(text.slice(0, 2 * MAX_TEXT).replaceAll(HIDDEN, ""), MAX_TEXT);
}

/** Reads the parameters of `elicitation/create`. Undefined if the question must not be shown. */
export function readQuestion(params: unknown, { source, tool = "" }: ToolPlace): Elicitation | undefined {
  const read = specTypeSchemas.ElicitRequestParams["~standard"].validate(params);
  if (read instanceof Promise || read.issues !== undefined) return undefined;
  const { value } = read;
  const about = { message: cleanText(value.message), source: cleanText(source), tool: cleanText(tool) };
  if (value.mode === "url") {
    const { url } = value;
    if (url.length > MAX_TEXT || !URL.canParse(url) || !isSafe(new URL(url))) return undefined;
    const payload = { pause_type: "url" as const, url: new URL(url).href, ...about };
    return { reason: "external_event", payload, fields: undefined };
  }
  const { type, properties, required } = value.requestedSchema;
  const asked = { type, properties, ...(required !== undefined && { required }) };
  if (JSON.stringify(asked).length > MAX_JSON) return undefined;
  const schema = tidySchema(asked) as JsonSchema | undefined;
  if (schema === undefined) return undefined;
  const payload = { pause_type: "elicitation" as const, schema, ...about };
  return { reason: "await_input", payload, fields: Object.keys(properties) };
}

/**
 * Converts a host's answer. Keeps only the fields that were asked for.
 *
 * @throws ToolNodeError for an invalid answer.
 */
export function answerTo({ fields }: Elicitation, given: unknown, place: ToolPlace): ElicitResult {
  if (given === null) return DECLINED;
  if (fields === undefined) return { action: "accept" };
  if (given === undefined) return DECLINED;
  if (typeof given !== "object" || Array.isArray(given)) throw noAnswer(place);
  const said = new Map(Object.entries(given));
  const content = Object.fromEntries(
    fields.filter((field) => said.has(field)).map((field) => [field, said.get(field)]),
  );
  const read = specTypeSchemas.ElicitResult["~standard"].validate({ action: "accept", content });
  if (read instanceof Promise || read.issues !== undefined) throw noAnswer(place);
  if (JSON.stringify(content).length > MAX_JSON) throw noAnswer(place);
  return read.value;
}

function noAnswer(place: ToolPlace): ToolNodeError {
  const remedy = `return an object of its fields (strings, numbers, booleans, lists of strings) with at most ${MAX_JSON} characters`;
  return new ToolNodeError(`pause returned an invalid answer to a question of ${toSubject(place)}: ${remedy}.`, {
    category: "non_retryable",
  });
}

/** A schema with cleaned titles and descriptions. Undefined if values that are part of the answer would change. */
function tidySchema(value: unknown, isData = false, depth = 0): unknown {
  if (typeof value === "string") return isData && cleanText(value) !== value ? undefined : cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const parts = value.map((part) => tidySchema(part, isData, depth + 1));
    return parts.includes(undefined) ? undefined : parts;
  }
  const entries: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const fit = tidySchema(part, isData || DATA.has(key), depth + 1);
    if (fit === undefined || cleanText(key) !== key || key === "__proto__") return undefined;
    entries.push([key, fit]);
  }
  return Object.fromEntries(entries);
}
