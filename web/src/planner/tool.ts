/**
 * Tools: functions of the host's own, and all tools of a planner under the names that a model calls them by.
 * @module
 */
import type { ToolArtifacts } from "../artifacts/scoped.js";
import { groupDigits } from "../core/amounts.js";
import { isByteSource, toPieces, type ValuePiece } from "../core/value.js";
import { SluiceError } from "../errors/error.js";
import { checkOptions, FUNCTION, isObject, type OptionTests, TEXT } from "../errors/arguments.js";
import { ARTIFACT_TOOLS } from "../mcp/artifact-tools.js";
import type { ToolNodeEvent } from "../tools/event.js";
import type { ToolContext } from "../tools/context.js";
import type { JsonSchema } from "../tools/source-features.js";
import { LEAST_SHARE } from "./observation.js";
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { ToolRegistry, type ToolSpec } from "../tools/registry.js";
import type { PlannerEvent } from "./event.js";
import { wrongOption, type LlmTool } from "./llm/client.js";

/**
 * A schema of any library that implements Standard Schema and Standard JSON Schema (standardschema.dev): of Zod from 4.2
 * on, of ArkType from 2.1.28 on, of Valibot with `toStandardJsonSchema`.
 */
export interface StandardSchema<Output = unknown> {
  /** The properties that the two specifications name. */
  readonly "~standard": {
    /** The version of the specifications. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Makes JSON Schema of what it takes and of what it gives. */
    readonly jsonSchema: Record<"input" | "output", (options: { readonly target: "draft-2020-12" }) => JsonSchema>;
    /** The types, for TypeScript alone. */
    readonly types?:
      | {
          /** What is checked. */
          readonly input: unknown;
          /** What a valid value becomes. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What a check found. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Something that is wrong with a value. */
interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The arguments that a function gets: what the schema's check gives, or any object where the schema checks nothing. */
export type ToolArguments<Input extends StandardSchema | JsonSchema> =
  Input extends StandardSchema<infer Output> ? Output : Readonly<Record<string, unknown>>;

/** A function as a tool. */
export interface NativeToolOptions<Input extends StandardSchema | JsonSchema> {
  /** The name: letters, digits, `_`, `-` and `.`, at most 64, unique in a catalog. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /**
   * The arguments, an object: a schema of Zod or of another library, and the function gets nothing else; or JSON Schema,
   * which the model is told and nothing is checked by: the function gets any object.
   */
  readonly input: Input;
  /**
   * The result. Fields whose JSON Schema has `"artifact": true` are kept in `trajectory.artifacts`, and the model does not
   * see them; with Zod, `.meta({ artifact: true })`.
   */
  readonly output?: StandardSchema | JsonSchema;
  /**
   * Whether it only reads, or may change something.
   * @defaultValue `external`
   */
  readonly sideEffects?: "read" | "external";
  /** Most characters of a result for the model, 256 to 10,000,000. Defaults to the guardrail's limit. */
  readonly maxObservationChars?: number;
  /**
   * The function. Returns JSON; bytes at any depth become artifacts, and so do base64 texts: typed arrays,
   * `DataView`, `ArrayBuffer`, `Blob`, `Response`, `ReadableStream`. Throw a ToolNodeError to tell the model why it
   * failed.
   */
  readonly run: (args: ToolArguments<Input>, context: PlannerToolContext) => unknown;
}

/** A native tool, made by {@link tool}. */
export interface NativeTool {
  /** Tells it from tools of sources. */
  readonly kind: "native";
  /** The tool's name. */
  readonly name: string;
  /** The tool's description. */
  readonly description: string;
  /** The schema of its arguments. */
  readonly inputSchema: JsonSchema;
  /** The schema of its result, if given. */
  readonly outputSchema: JsonSchema | undefined;
  /** Whether it only reads. */
  readonly sideEffects: "read" | "external";
  /** Most characters of a result for the model. Undefined: the guardrail's limit. */
  readonly maxObservationChars: number | undefined;
  /** Checks the arguments and calls the function. Throws an error that names all wrong arguments. */
  readonly run: (args: unknown, context: PlannerToolContext) => Promise<unknown>;
}

const NAME = /^[\w.-]{1,64}$/;
/** The guardrail's maximum of characters. */
const MOST_CHARS = 10_000_000;

const TOOL: OptionTests<NativeToolOptions<JsonSchema>> = {
  name: ["1 to 64 letters, digits, dots, _ or -", isName],
  description: TEXT,
  input: [
    'a schema of an object, such as z.object({ to: z.string() }) of Zod 4.2, or JSON Schema with the type "object"',
    isSchema,
  ],
  output: ["a schema, such as z.object({ sum: z.number() }) of Zod 4.2, or JSON Schema", isSchema],
  sideEffects: ['"read" or "external"', (value) => value === "read" || value === "external"],
  maxObservationChars: [
    `a whole number from ${LEAST_SHARE} to ${groupDigits(MOST_CHARS)}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= LEAST_SHARE && (value as number) <= MOST_CHARS,
  ],
  run: FUNCTION,
};

/**
 * Makes a tool of a function.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for an option that is wrong, missing or unknown, with its name as `path`; or
 * for a schema that JSON Schema cannot express.
 */
export function tool<Input extends StandardSchema | JsonSchema>(options: NativeToolOptions<Input>): NativeTool {
  const owner = nameOwner(options);
  checkOptions<NativeToolOptions<Input>>(options, TOOL, owner, wrongOption, ["name", "description", "input", "run"]);
  const { name, description, input, output, sideEffects = "external", maxObservationChars, run } = options;
  const inputSchema = toJsonSchema(input, "input", owner);
  // Arguments are always an object.
  if (inputSchema["type"] !== "object")
    throw wrongOption(`The option input of ${owner} must be ${TOOL.input[0]}.`, "input");
  return {
    kind: "native",
    name,
    description,
    inputSchema,
    outputSchema: output && toJsonSchema(output, "output", owner),
    sideEffects,
    maxObservationChars,
    run: async (args, context) => run((await fitting(args, input)) as ToolArguments<Input>, context),
  };
}

/** Thrown for arguments that do not fit their schema. */
export class WrongArguments extends Error {
  /** What is wrong, and where. */
  readonly issues: readonly StandardIssue[];

  constructor(issues: readonly StandardIssue[]) {
    super(issues.map(({ message }) => message).join("; "));
    this.name = "WrongArguments";
    this.issues = issues;
  }
}

async function fitting(args: unknown, schema: StandardSchema | JsonSchema): Promise<unknown> {
  if (!isStandard(schema)) return args;
  const result = await schema["~standard"].validate(args);
  if (result.issues !== undefined) throw new WrongArguments(result.issues);
  return result.value;
}

function toJsonSchema(schema: StandardSchema | JsonSchema, option: "input" | "output", owner: string): JsonSchema {
  if (!isStandard(schema)) return schema;
  try {
    return schema["~standard"].jsonSchema[option]({ target: "draft-2020-12" });
  } catch (cause) {
    const remedy = "use JSON types, such as strings for dates";
    throw wrongOption(
      `The option ${option} of ${owner} has something in it that JSON Schema cannot express: ${remedy}.`,
      option,
      cause,
    );
  }
}

/** Names the tool in errors: a host has many. */
function nameOwner(options: unknown): string {
  const { name } = (options ?? {}) as { readonly name?: unknown };
  return isName(name) ? `the tool ${JSON.stringify(name)}` : "a tool";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && NAME.test(value);
}

/** Whether a value has what {@link StandardSchema} names, or may be JSON Schema. */
function isSchema(value: unknown): boolean {
  // An object whose values are schemas is the shape of one.
  if (!isStandard(value)) return isObject(value) && !Object.values(value).some(isStandard);
  const { validate, jsonSchema } = value["~standard"] as Partial<StandardSchema["~standard"]>;
  return typeof validate === "function" && isObject(jsonSchema);
}

/** Also true for functions: those of ArkType are schemas. */
function isStandard(value: unknown): value is StandardSchema {
  if (typeof value !== "function" && !isObject(value)) return false;
  return isObject((value as Partial<StandardSchema>)["~standard"]);
}

/** The context of a call. */
export interface PlannerToolContext extends Required<Pick<ToolContext, "pause" | "signal">> {
  /** The artifacts of the planner's user. What is stored here goes to the model as a reference. */
  readonly artifacts: ToolArtifacts;
  /** The host's data for tools: connections, secrets, the user. The model never sees it. */
  readonly toolContext: Readonly<Record<string, unknown>>;
  /** The host's data for the model. */
  readonly llmContext: Readonly<Record<string, unknown>>;
  /**
   * Sends a structured piece of work to the host, as an event. The model does not see it. JSON values: store bytes
   * with `artifacts`, and pass their ref.
   *
   * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON cannot hold: bytes, a BigInt, a Map or a Set, a
   * cycle.
   */
  readonly emitArtifact: (name: string, value: unknown) => void;
  /** The same for a chunk of a longer output. */
  readonly emitChunk: (stream: string, chunk: unknown) => void;
  /** Reports progress to the host. */
  readonly reportProgress: (progress: number, total?: number, message?: string) => void;
}

/** Replaces a marked field for the model. */
const KEPT = "(kept by the planner, not shown)";
const MAX_DEPTH = 16;

/** A result in two parts. */
interface Parted {
  /** For the model. */
  readonly shown: unknown;
  /** By path: `totals`, `report.pages`. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/**
 * Separates fields marked `artifact: true` in the schema, which are for the host. What does not match its schema
 * stays.
 */
export function partValue(value: unknown, schema: JsonSchema | undefined): Parted {
  const kept: Record<string, unknown> = {};
  const shown = schema === undefined ? value : part(value, schema, [], kept);
  return { shown, kept };
}

/** The JSON of a marked field and its bytes. Undefined for what JSON cannot hold, such as a BigInt or a cycle. */
export function fieldPieces(value: unknown): readonly ValuePiece[] | undefined {
  try {
    return toPieces(value);
  } catch {
    return undefined;
  }
}

/** Marked fields for a state store or a client, without those that JSON cannot hold. */
export function jsonFields(kept: Parted["kept"]): Parted["kept"] {
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => fieldPieces(value) !== undefined));
}

/** Whether a schema marks any field. */
export function hasMarks(schema: JsonSchema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > MAX_DEPTH) return false;
  return schema["artifact"] === true || Object.values(readProperties(schema)).some((each) => hasMarks(each, depth + 1));
}

function part(value: unknown, schema: JsonSchema, path: readonly string[], kept: Record<string, unknown>): unknown {
  if (schema["artifact"] === true && path.length > 0) {
    kept[path.join(".")] = value;
    return KEPT;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || path.length > MAX_DEPTH) return value;
  const properties = readProperties(schema);
  if (Object.keys(properties).length === 0 || isByteSource(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const its = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, its === undefined ? each : part(each, its, [...path, name], kept)];
  });
  return Object.fromEntries(entries);
}

function readProperties(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(Object.entries(properties).filter(([, each]) => typeof each === "object" && each !== null));
}

/** JSON would write these as an empty object. */
const COLLECTION = /^\[object (?:Weak)?(?:Map|Set)\]$/;
/** Most characters of a key and of a path in an error. */
const [MAX_KEY, MAX_PATH] = [64, 256];

/**
 * A copy of a value as JSON, since an event has to survive a network and a state store. Dates become texts, `toJSON`
 * is used, functions are left out.
 *
 * @param path the value's name in errors: `value`.
 * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON cannot hold: bytes, a BigInt, a Map or a Set, a
 * cycle.
 */
export function jsonValue(value: unknown, path: string): unknown {
  /** The open objects, from the outermost to the current one. */
  const open: { readonly value: unknown; readonly path: string }[] = [];
  // `JSON.stringify` passes a key's object: deeper ones are finished.
  function checkMember(this: object, key: string, written: unknown): unknown {
    while (open.length > 0 && open.at(-1)?.value !== this) open.pop();
    const parent = open.at(-1)?.path;
    const place = parent === undefined ? path : within(parent, key, Array.isArray(this));
    // Node's byte arrays have a `toJSON` that writes each byte as a number.
    for (const each of [Reflect.get(this, key) as unknown, written]) check(each, place);
    if (typeof written !== "object" || written === null) return written;
    if (open.some((outer) => outer.value === written)) throw toRefusal(place, "contains itself: leave it out");
    open.push({ value: written, path: place });
    return written;
  }
  try {
    const text = JSON.stringify(value, checkMember) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const reason = error instanceof RangeError ? "is too deep or too long for JSON" : "cannot be written as JSON";
    throw toRefusal(open.at(-1)?.path ?? path, reason, error);
  }
}

function check(value: unknown, path: string): void {
  const tag = Object.prototype.toString.call(value);
  if (tag === "[object BigInt]") throw toRefusal(path, "is a BigInt, which JSON does not have: write it as a string");
  if (isByteSource(value) || tag === "[object Request]") {
    throw toRefusal(
      path,
      "is bytes, which JSON does not have: store them with context.artifacts.upload, and pass the ref",
    );
  }
  if (COLLECTION.test(tag))
    throw toRefusal(path, "is a Map or a Set, which JSON does not have: make it an object or a list");
}

function within(parent: string, key: string, isList: boolean): string {
  const shown = key.slice(0, MAX_KEY);
  return `${parent}${isList ? `[${shown}]` : `.${shown}`}`.slice(0, MAX_PATH);
}

function toRefusal(path: string, reason: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${path} ${reason}.`, { path }, { cause });
}

/** A source of tools. Those of a ToolNode or a registry are read at each step. */
export type CatalogSource = NativeTool | ToolSpec | ToolRegistry | ToolProvider;

/** Offers tools, as a ToolNode does. */
export interface ToolProvider {
  /** The current tools. */
  getTools(): readonly ToolSpec[];
  /** Calls the listener with the source's events, and returns what ends that. Optional. */
  listen?(listener: (event: ToolNodeEvent) => void): () => void;
}

/** One tool. */
export type CatalogTool = NativeTool | (ToolSpec & { readonly kind?: undefined });

/** The tools of one step. */
export interface Listed {
  /** The tools as the model sees them. */
  readonly tools: readonly LlmTool[];
  /** Finds a tool by the name that the model wrote, which may be the catalog's own. */
  find(name: string): CatalogTool | undefined;
  /** The names that the model sees, for suggestions. */
  readonly names: readonly string[];
  /** A text of a source's tool in which tools that Sluice adds have the names that the model sees. */
  offered(text: string): string;
}

/** A tool that Sluice adds to a source, in one of our sentences: `Use docs.resources_read to fetch`. */
const OURS = new RegExp(
  String.raw`[\w.-]+\.(?:${["resources_read", ...ARTIFACT_TOOLS.map(({ name }) => name)].join("|")})\b`,
  "g",
);

/**
 * Reads the tools of all sources.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if two tools have the same name.
 */
export function listTools(sources: readonly CatalogSource[]): Listed {
  const byName = new Map<string, CatalogTool>();
  for (const each of sources.flatMap(readTools)) {
    if (byName.has(each.name)) throw twice(each.name);
    byName.set(each.name, each);
  }
  const wire = wireNames([...byName.keys()]);
  const byWire = new Map(Array.from(wire, ([name, wired]) => [wired, byName.get(name)]));
  const offerText = (text: string): string => text.replace(OURS, (name) => ownName(name, wire.get(name)));
  const tools = Array.from(byName.values(), (each) => ({
    name: wire.get(each.name) as string,
    description: each.kind === "native" ? each.description : offerText(each.description),
    inputSchema: each.kind === "native" ? each.inputSchema : each.input_schema,
  }));
  return { tools, names: [...wire.values()], offered: offerText, find: (name) => byWire.get(name) ?? byName.get(name) };
}

/** Of the same length, so that no text outgrows its limit: other names than that stay, and are found too. */
function ownName(name: string, wire: string | undefined): string {
  return wire?.length === name.length ? wire : name;
}

function readTools(source: CatalogSource): readonly CatalogTool[] {
  if (source instanceof ToolRegistry) return source.list();
  if ("getTools" in source) return source.getTools();
  return [source];
}

function twice(name: string): SluiceError {
  const remedy = "rename one of them, or give one of the sources another name";
  return new SluiceError("E_INVALID_ARGUMENT", `The catalog has two tools named ${JSON.stringify(name)}: ${remedy}.`, {
    path: "catalog",
  });
}

const MOST = 64;
const DIGITS = 6;

/**
 * Maps names to unique names for the model. The result depends on all names, so that the same catalog gives the same
 * result in every process. A name that is too long or would collide ends in a few digits of its own.
 */
export function wireNames(names: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(names.map((name) => [name, name.replaceAll(/[^\w-]/g, "_")]));
  const count = new Map<string, number>();
  for (const wire of plain.values()) count.set(wire, (count.get(wire) ?? 0) + 1);
  const taken = new Set<string>();
  const made = new Map<string, string>();
  for (const [name, wire] of plain) {
    const isOwn = wire.length <= MOST && (wire === name || count.get(wire) === 1);
    made.set(name, distinct(isOwn ? wire : markName(wire, name), MOST, taken));
  }
  return made;
}

function markName(wire: string, name: string): string {
  return `${wire.slice(0, MOST - DIGITS - 1)}_${hashDigits(name)}`;
}

/** FNV-1a: distinguishes names, and keeps nothing secret. */
function hashDigits(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0").slice(0, DIGITS);
}

/** Sends a run the events of changed resources of its user. Returns what ends that. */
export function listening(
  catalog: readonly CatalogSource[],
  scope: ArtifactScope,
  tell: (event: PlannerEvent) => void,
): () => void {
  const hear = (event: ToolNodeEvent): void => {
    if (event.kind !== "resource" || event.event.kind !== "updated") return;
    const { namespace: source, uri, scope: told } = event.event;
    if (told === undefined || isSameUser(told, scope)) tell({ kind: "resource_updated", source, uri });
  };
  const ends = catalog.map((source) => ("getTools" in source ? source.listen?.(hear) : undefined));
  return () => ends.forEach((end) => end?.());
}

function isSameUser(one: ArtifactScope, other: ArtifactScope): boolean {
  const [left, right] = [fullScope(one), fullScope(other)];
  return left.tenant_id === right.tenant_id && left.user_id === right.user_id;
}

/** The beginning of a text, at most so many UTF-16 units and no half character. */
export function leading(text: string, most: number): string {
  const start = text.slice(0, most);
  return start.length < text.length && /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
}

/** A name that is not taken yet, of at most so many UTF-16 units if the given one is. */
export function distinct(name: string, most: number, taken: Set<string>): string {
  let own = name;
  for (let number = 2; taken.has(own); number += 1) own = `${leading(name, most - 8)}_${number}`;
  taken.add(own);
  return own;
}
