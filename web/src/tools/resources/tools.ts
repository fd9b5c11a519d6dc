/**
 * A source's resources as tools: `resources_list`, `resources_read` and `resources_templates_list`.
 * @module
 */
import { Answer } from "../../core/transform.js";
import type { SluiceConfig } from "../../config/types.js";
import type { Sluice, Transformed } from "../../core/types.js";
import type { ToolContext } from "../context.js";
import { ToolClientError } from "../errors.js";
import type { ToolSpec } from "../registry.js";
import type { SilenceListener } from "../resilience/attempt.js";
import type { JsonSchema } from "../source-features.js";
import { ToolAnswer } from "../result.js";
import { nameArtifact, type ResourceContent } from "./cache.js";
import { type Listing, MAX_PAGE_CHARS, MAX_PAGE_ENTRIES } from "./listing.js";
import type { ResourceReader } from "./reader.js";
import { fillTemplate } from "./templates.js";

interface ResourceToolDeps {
  readonly reader: ResourceReader;
  /** Prefix of the tools' names. */
  readonly namespace: string;
  /** The transport. */
  readonly source: string;
  /** Every result passes it. */
  readonly sluice: Sluice;
  /** The sluice's configuration: pages stay well within its guardrail. */
  readonly config?: Pick<SluiceConfig, "guardrail">;
  /** Makes a call of a tool, named without the prefix. Defaults to the work alone. */
  readonly run?: RunTool;
}

/** Does the work of a call: watches its time, and reports what it gives. */
export type RunTool = (
  tool: string,
  context: ToolContext,
  work: (silence?: SilenceListener) => Promise<ToolAnswer>,
) => Promise<ToolAnswer>;

type Args = Readonly<Record<string, unknown>>;

const CURSOR = { type: "string", description: "next_cursor of the previous page. Leave it out for the first page." };
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

/** Creates the three tools. What a model sees of them depends only on the namespace. */
export function resourceTools(deps: ResourceToolDeps): readonly ToolSpec[] {
  const { namespace, reader, source, run = (_, __, work) => work() } = deps;
  const tool = (
    name: string,
    description: string,
    schema: JsonSchema,
    call: (args: Args, context: ToolContext, silence?: SilenceListener) => Promise<Transformed>,
  ): ToolSpec => ({
    name: `${namespace}.${name}`,
    description,
    input_schema: schema,
    side_effects: "read",
    tags: [source, namespace, "resources"],
    extra: { source, namespace },
    call: async (args, context = {}) => {
      checkNames(args, schema);
      return run(name, context, async (silence) => new ToolAnswer(await call(args, context, silence), false));
    },
  });
  return [
    tool(
      "resources_list",
      `Lists the resources of ${namespace}: documents and data that ${namespace}.resources_read reads. Long lists come in pages.`,
      LIST_SCHEMA,
      async (args, context, silence) =>
        listPage("resources", await reader.listResources(context, silence), args, context, deps),
    ),
    tool(
      "resources_read",
      `Reads a resource of ${namespace} by its URI, or by a template and the values of its variables. Short text is shown; ` +
        "bytes and long text are stored as artifacts and named.",
      READ_SCHEMA,
      (args, context, silence) => read(readUri(args), context, deps, silence),
    ),
    tool(
      "resources_templates_list",
      `Lists the URI templates of ${namespace}: patterns of URIs that ${namespace}.resources_read fills and reads.`,
      LIST_SCHEMA,
      async (args, context, silence) =>
        listPage("templates", await reader.listResourceTemplates(context, silence), args, context, deps),
    ),
  ];
}

async function listPage(
  kind: "resources" | "templates",
  { items, left_out }: Listing<object>,
  { cursor }: Args,
  context: ToolContext,
  deps: ResourceToolDeps,
): Promise<Transformed> {
  if (cursor !== undefined && typeof cursor !== "string") throw wrongArgument("cursor", "a string");
  const most = (deps.config?.guardrail?.max_observation_chars ?? Infinity) / 2;
  const page = cutPage(items, cursor, Math.min(MAX_PAGE_CHARS, most));
  const value = {
    [kind]: page.items,
    total: items.length,
    ...(left_out > 0 && { left_out }),
    ...(page.next !== undefined && { next_cursor: page.next }),
  };
  return gateValue(value, kind === "resources" ? "resources_list" : "resources_templates_list", context, deps);
}

async function read(
  uri: string,
  context: ToolContext,
  deps: ResourceToolDeps,
  silence: SilenceListener | undefined,
): Promise<Transformed> {
  const { contents, artifacts, failures } = await deps.reader.readResource(uri, context, { silence });
  const answer = await gateValue({ contents: contents.map(describeContent) }, "resources_read", context, deps);
  return new Answer({
    ...answer,
    refs: answer.refs,
    artifacts: [...artifacts, ...answer.artifacts],
    failures: [...failures, ...answer.failures],
    changed: answer.changed || artifacts.length > 0,
  });
}

function gateValue(value: object, tool: string, context: ToolContext, deps: ResourceToolDeps): Promise<Transformed> {
  const { scope, signal } = context;
  return deps.sluice.transform(value, {
    tool,
    namespace: deps.namespace,
    dialect: "observation",
    ...(scope !== undefined && { scope }),
    ...(signal !== undefined && { signal }),
  });
}

function describeContent(content: ResourceContent): Readonly<Record<string, unknown>> {
  const { uri, mime_type } = content;
  const what = { uri, ...(mime_type !== null && { mime_type }) };
  if (content.kind === "artifact") return { ...what, artifact: nameArtifact(content), summary: content.summary };
  const { text, artifact } = content;
  if (artifact === undefined) return { ...what, text };
  return {
    ...what,
    text,
    artifact: { id: artifact.id, mime_type: artifact.mime_type, size_bytes: artifact.size_bytes },
  };
}

function readUri({ uri, template, arguments: given = {} }: Args): string {
  if ((uri === undefined) === (template === undefined)) {
    throw new ToolClientError("Give either uri, or template with arguments.");
  }
  if (uri !== undefined) {
    if (typeof uri !== "string") throw wrongArgument("uri", "a string");
    return uri;
  }
  if (typeof template !== "string") throw wrongArgument("template", "a string");
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw wrongArgument("arguments", "an object");
  return fillTemplate(template, given as Args);
}

function checkNames(args: Args, { properties }: JsonSchema): void {
  const known = Object.keys(properties as object);
  if (Object.keys(args).every((name) => known.includes(name))) return;
  throw new ToolClientError(`This tool only takes the arguments ${known.join(", ")}.`);
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
 * The page that a cursor names, or the first. Has at least one entry unless the list is empty. The cursors are
 * Sluice's own: a source's pages are read to the end, while pages for planners are short.
 *
 * @param chars maximum characters of the page as JSON.
 * @throws ToolClientError for an invalid cursor, or if the list has changed since.
 */
export function cutPage<T>(items: readonly T[], cursor: string | undefined, chars: number): Page<T> {
  const print = fingerprint(items);
  const start = cursor === undefined ? 0 : readOffset(cursor, print, items.length);
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

function readOffset(cursor: string, print: string, length: number): number {
  const [, of, at] = CURSOR_FORM.exec(cursor) ?? [];
  if (of === undefined || at === undefined) {
    throw new ToolClientError("cursor must be a next_cursor from this tool: leave it out to start at the beginning.");
  }
  const offset = Number.parseInt(at, 36);
  if (of === print && offset < length) return offset;
  throw new ToolClientError("The list has changed since this cursor was given: leave it out to start again.");
}

/** A hash to tell lists apart (FNV-1a). Not meant to resist forgery. */
function fingerprint(items: readonly unknown[]): string {
  let hash = 0x811c9dc5;
  for (const item of items) {
    const text = JSON.stringify(item);
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
