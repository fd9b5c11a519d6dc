/**
 * A source's resources as tools: `resources_list`, `resources_read`, `resources_templates_list` (RFC 0.3 §6, phase 2).
 * @module
 */
import { Answer } from "../../core/transformed.js";
import type { SluiceConfig } from "../../core/config.js";
import type { Sluice, Transformed } from "../../core/sluice.js";
import type { ToolContext } from "../context.js";
import { ToolClientError } from "../errors.js";
import type { ToolSpec } from "../registry.js";
import type { JsonSchema } from "../source.js";
import { ToolAnswer } from "../tool-answer.js";
import { namedArtifact, type ResourceContent } from "./contents.js";
import { MAX_PAGE_CHARS, MAX_PAGE_ENTRIES } from "./limits.js";
import type { Listing } from "./listed.js";
import type { ResourceReader } from "./reader.js";
import { fillTemplate } from "./templates.js";

/** What the tools are made of. */
interface ResourceToolTerms {
  readonly reader: ResourceReader;
  /** Prefix of the tools' names. */
  readonly namespace: string;
  /** Where the tools come from: the transport. */
  readonly source: string;
  /** What every result passes. */
  readonly sluice: Sluice;
  /** The same configuration as the sluice's: pages stay well within its guardrail. */
  readonly config?: Pick<SluiceConfig, "guardrail">;
  /** Told of each answer, by the name of its tool without the prefix. */
  readonly onAnswer?: (tool: string, answer: ToolAnswer) => void;
}

type Args = Readonly<Record<string, unknown>>;

const CURSOR = { type: "string", description: "next_cursor of the page before; leave it out for the first page." };
const LIST_SCHEMA: JsonSchema = { type: "object", properties: { cursor: CURSOR }, additionalProperties: false };
const READ_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    uri: { type: "string", description: "The URI, as a list or a link names it. Give this or a template." },
    template: { type: "string", description: "A uri_template, as the list of templates names it." },
    arguments: {
      type: "object",
      description: "Values for the template's variables.",
      additionalProperties: { type: ["string", "number", "boolean", "array", "object"] },
    },
  },
  additionalProperties: false,
};

/** The three tools; a pure function of the namespace, as far as a model sees them. */
export function resourceTools(terms: ResourceToolTerms): readonly ToolSpec[] {
  const { namespace, reader, source, onAnswer } = terms;
  const tool = (
    name: string,
    description: string,
    schema: JsonSchema,
    call: (args: Args, context: ToolContext) => Promise<Transformed>,
  ): ToolSpec => ({
    name: `${namespace}.${name}`,
    description,
    input_schema: schema,
    side_effects: "read",
    tags: [source, namespace, "resources"],
    extra: { source, namespace },
    call: async (args, context = {}) => {
      checkNames(args, schema);
      const answer = new ToolAnswer(await call(args, context), false);
      onAnswer?.(name, answer);
      return answer;
    },
  });
  return [
    tool(
      "resources_list",
      `Lists the resources of ${namespace}: documents and data that ${namespace}.resources_read reads. Long lists come in pages.`,
      LIST_SCHEMA,
      async (args, context) => listed("resources", await reader.listResources(context), args, context, terms),
    ),
    tool(
      "resources_read",
      `Reads a resource of ${namespace} by its URI, or by a template and the values of its variables. Short texts are shown; ` +
        "bytes and long texts are stored as artifacts and named.",
      READ_SCHEMA,
      (args, context) => read(uriOf(args), context, terms),
    ),
    tool(
      "resources_templates_list",
      `Lists the URI templates of ${namespace}: patterns of URIs that ${namespace}.resources_read fills and reads.`,
      LIST_SCHEMA,
      async (args, context) => listed("templates", await reader.listResourceTemplates(context), args, context, terms),
    ),
  ];
}

async function listed(
  kind: "resources" | "templates",
  { items, left_out }: Listing<object>,
  { cursor }: Args,
  context: ToolContext,
  terms: ResourceToolTerms,
): Promise<Transformed> {
  if (cursor !== undefined && typeof cursor !== "string") throw wrongArgument("cursor", "a text");
  const most = (terms.config?.guardrail?.max_observation_chars ?? Infinity) / 2;
  const page = pageOf(items, cursor, Math.min(MAX_PAGE_CHARS, most));
  const value = {
    [kind]: page.items,
    total: items.length,
    ...(left_out > 0 && { left_out }),
    ...(page.next !== undefined && { next_cursor: page.next }),
  };
  return gated(value, kind === "resources" ? "resources_list" : "resources_templates_list", context, terms);
}

async function read(uri: string, context: ToolContext, terms: ResourceToolTerms): Promise<Transformed> {
  const { contents, artifacts, failures } = await terms.reader.readResource(uri, context);
  const answer = await gated({ contents: contents.map(shown) }, "resources_read", context, terms);
  return new Answer({
    ...answer,
    refs: answer.refs,
    artifacts: [...artifacts, ...answer.artifacts],
    failures: [...failures, ...answer.failures],
    changed: answer.changed || artifacts.length > 0,
  });
}

function gated(value: object, tool: string, context: ToolContext, terms: ResourceToolTerms): Promise<Transformed> {
  const { scope, signal } = context;
  return terms.sluice.transform(value, {
    tool,
    namespace: terms.namespace,
    dialect: "observation",
    ...(scope !== undefined && { scope }),
    ...(signal !== undefined && { signal }),
  });
}

function shown(content: ResourceContent): Readonly<Record<string, unknown>> {
  const { uri, mime_type } = content;
  const what = { uri, ...(mime_type !== null && { mime_type }) };
  if (content.kind === "artifact") return { ...what, artifact: namedArtifact(content), summary: content.summary };
  const { text, artifact } = content;
  if (artifact === undefined) return { ...what, text };
  return {
    ...what,
    text,
    artifact: { id: artifact.id, mime_type: artifact.mime_type, size_bytes: artifact.size_bytes },
  };
}

function uriOf({ uri, template, arguments: given = {} }: Args): string {
  if ((uri === undefined) === (template === undefined)) {
    throw new ToolClientError("Give either uri, or template with arguments.");
  }
  if (uri !== undefined) {
    if (typeof uri !== "string") throw wrongArgument("uri", "a text");
    return uri;
  }
  if (typeof template !== "string") throw wrongArgument("template", "a text");
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw wrongArgument("arguments", "an object");
  return fillTemplate(template, given as Args);
}

function checkNames(args: Args, { properties }: JsonSchema): void {
  const known = Object.keys(properties as object);
  if (Object.keys(args).every((name) => known.includes(name))) return;
  throw new ToolClientError(`This tool takes no other arguments than ${known.join(", ")}.`);
}

function wrongArgument(name: string, expected: string): ToolClientError {
  return new ToolClientError(`${name} must be ${expected}.`);
}

/** Part of a list. */
interface Page<T> {
  readonly items: readonly T[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

const CURSOR_FORM = /^([0-9a-z]{1,7})\.([0-9a-z]{1,4})$/;

/**
 * The page that a cursor names, or the first. It has at least one entry, if there is one. The cursors are our own: sources'
 * pages are followed to the end, planners' are short.
 *
 * @param chars most characters of the page as JSON.
 * @throws ToolClientError for what is no cursor, or one of a list that has changed since.
 */
export function pageOf<T>(items: readonly T[], cursor: string | undefined, chars: number): Page<T> {
  const print = fingerprint(items);
  const start = cursor === undefined ? 0 : offsetOf(cursor, print, items.length);
  let left = chars;
  let end = start;
  while (end < items.length && end < start + MAX_PAGE_ENTRIES) {
    left -= JSON.stringify(items[end]).length + 1;
    if (left < 0 && end > start) break;
    end += 1;
  }
  const next = end < items.length ? `${print}.${end.toString(36)}` : undefined;
  return { items: items.slice(start, end), next };
}

function offsetOf(cursor: string, print: string, length: number): number {
  const [, of, at] = CURSOR_FORM.exec(cursor) ?? [];
  if (of === undefined || at === undefined) {
    throw new ToolClientError("cursor must be a next_cursor that this tool gave: leave it out to begin at the start.");
  }
  const offset = Number.parseInt(at, 36);
  if (of === print && offset < length) return offset;
  throw new ToolClientError("The list has changed since this cursor was given: leave it out to begin again.");
}

/** Tells one list from another (FNV-1a); nothing depends on nobody forging it. */
function fingerprint(items: readonly unknown[]): string {
  let hash = 0x811c9dc5;
  for (const item of items) {
    const text = JSON.stringify(item);
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
