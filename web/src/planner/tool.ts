/**
 * Tools that are functions of the host's own: what they are made of, what they have at hand, and what they may tell.
 * @module
 */
import { z } from "zod";
import type { ToolArtifacts } from "../artifacts/scoped.js";
import { isByteSource, piecesOf, type ValuePiece } from "../core/value.js";
import { SluiceError } from "../errors/error.js";
import { checkOptions, FUNCTION, type OptionTests, TEXT } from "../errors/arguments.js";
import type { ToolContext } from "../tools/options.js";
import type { JsonSchema } from "../tools/source.js";
import { LEAST_SHARE } from "./observation.js";

/** A function as a tool. */
export interface NativeToolOptions<Input extends z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_`, `-` and `.`, at most 64; unique in a catalog. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** What its arguments must be: a Zod object. The function is called with nothing else. */
  readonly input: Input;
  /**
   * What it returns. Fields whose schema says `.meta({ artifact: true })` are kept in `trajectory.artifacts` and left out of
   * what the model sees.
   */
  readonly output?: Output;
  /** Whether it only looks, or may change something; the latter when left out. */
  readonly sideEffects?: "read" | "external";
  /** Characters that the model sees of a result at most, from 256 to 10,000,000; as the guardrail says when left out. */
  readonly maxObservationChars?: number;
  /**
   * Does the work. What it returns is JSON; bytes in it, at any depth, become artifacts, as do base64 texts: typed arrays,
   * `DataView`, `ArrayBuffer`, `Blob`, `Response`, `ReadableStream`. Throw a ToolNodeError to tell the model why it failed.
   */
  readonly run: (args: z.output<Input>, context: PlannerToolContext) => unknown;
}

/** A tool that is a function of the host's own. */
export interface NativeTool {
  /** Told apart from tools of sources by this. */
  readonly kind: "native";
  /** As it was given. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** What its arguments must be. */
  readonly inputSchema: JsonSchema;
  /** What it returns; undefined where nothing is said. */
  readonly outputSchema: JsonSchema | undefined;
  /** Whether it only looks. */
  readonly sideEffects: "read" | "external";
  /** Characters that the model sees of a result; undefined: as the guardrail says. */
  readonly maxObservationChars: number | undefined;
  /** Checks the arguments and does the work. Throws a ZodError where they do not fit. */
  readonly run: (args: unknown, context: PlannerToolContext) => Promise<unknown>;
}

const NAME = /^[\w.-]{1,64}$/;
/** Characters: the guardrail takes no more. */
const MOST_CHARS = 10_000_000;

const TOOL: OptionTests<NativeToolOptions<z.ZodType>> = {
  name: ["of letters, digits, _, - and ., at most 64", isName],
  description: TEXT,
  input: ["a Zod object, such as z.object({ to: z.string() }), made with Zod 4", isSchema],
  output: ["a Zod schema, such as z.object({ sum: z.number() }), made with Zod 4", isSchema],
  sideEffects: ['"read" or "external"', (value) => value === "read" || value === "external"],
  maxObservationChars: [
    `a whole number from ${LEAST_SHARE} to ${MOST_CHARS}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= LEAST_SHARE && (value as number) <= MOST_CHARS,
  ],
  run: FUNCTION,
};

/**
 * Makes a tool of a function.
 *
 * @throws SluiceError E_INVALID_ARGUMENT, with the option's name as `path`, where an option is wrong, missing, or one that there is
 * not; or where a schema has in it what JSON Schema cannot say.
 */
export function tool<Input extends z.ZodType>(options: NativeToolOptions<Input>): NativeTool {
  const owner = ownerOf(options);
  checkOptions<NativeToolOptions<Input>>(options, TOOL, owner, wrong, ["name", "description", "input", "run"]);
  const { name, description, input, output, sideEffects = "external", maxObservationChars, run } = options;
  const inputSchema = schemaOf(input, "input", owner);
  // Other schemas are of values that no call has.
  if (inputSchema["type"] !== "object") throw wrong(`The option input of ${owner} must be ${TOOL.input[0]}.`, "input");
  return {
    kind: "native",
    name,
    description,
    inputSchema,
    outputSchema: output && schemaOf(output, "output", owner),
    sideEffects,
    maxObservationChars,
    run: async (args, context) => run(await input.parseAsync(args), context),
  };
}

function schemaOf(schema: z.ZodType, option: "input" | "output", owner: string): JsonSchema {
  try {
    return z.toJSONSchema(schema, { io: option });
  } catch (cause) {
    const remedy = "use what JSON has, such as texts for dates";
    throw wrong(
      `The option ${option} of ${owner} has something in it that JSON Schema cannot say: ${remedy}.`,
      option,
      cause,
    );
  }
}

/** Whose options they are: a host has many tools. */
function ownerOf(options: unknown): string {
  const { name } = (options ?? {}) as { readonly name?: unknown };
  return isName(name) ? `the tool ${JSON.stringify(name)}` : "a tool";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && NAME.test(value);
}

/** Those of other copies of Zod 4 too. */
function isSchema(value: unknown): boolean {
  return value instanceof z.ZodType;
}

function wrong(sentence: string, path: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path }, { cause });
}

/** A call's surroundings, beside its arguments. */
export interface PlannerToolContext extends Required<Pick<ToolContext, "pause" | "signal">> {
  /** Bytes and large texts, of whoever asks the planner: what is stored here goes to the model as a reference. */
  readonly artifacts: ToolArtifacts;
  /** What the host gave for tools alone: connections, secrets, the person who asks. The model never sees it. */
  readonly toolContext: Readonly<Record<string, unknown>>;
  /** What the host gave for the model. */
  readonly llmContext: Readonly<Record<string, unknown>>;
  /**
   * Tells the host of a structured piece of work, as an event. The model does not see it. JSON values: bytes are stored with
   * `artifacts`, and their ref is passed.
   *
   * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON has not: bytes, a BigInt, a Map or a Set, a cycle.
   */
  readonly emitArtifact: (name: string, value: unknown) => void;
  /** The same for a piece of something that comes in pieces. */
  readonly emitChunk: (stream: string, chunk: unknown) => void;
  /** Tells the host how far the call is. */
  readonly reportProgress: (progress: number, total?: number, message?: string) => void;
}

/** What stands in place of a marked field. */
const KEPT = "(kept by the planner, not shown)";
const MAX_DEPTH = 16;

/** A result in two parts. */
interface Parted {
  /** For the model. */
  readonly shown: unknown;
  /** By the path of the field: `totals`, `report.pages`. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/**
 * Takes out of a result what is for the host and not for the model: fields whose schema says `artifact: true`.
 * What does not look as its schema says stays as it is.
 */
export function parted(value: unknown, schema: JsonSchema | undefined): Parted {
  const kept: Record<string, unknown> = {};
  const shown = schema === undefined ? value : part(value, schema, [], kept);
  return { shown, kept };
}

/** The JSON of a marked field and the bytes in it; undefined for what JSON has not, such as a BigInt or a cycle. */
export function fieldPieces(value: unknown): readonly ValuePiece[] | undefined {
  try {
    return piecesOf(value);
  } catch {
    return undefined;
  }
}

/** Marked fields for a state store or a client: without those that JSON has not, which stay in this process. */
export function jsonFields(kept: Parted["kept"]): Parted["kept"] {
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => fieldPieces(value) !== undefined));
}

/** Whether a schema marks any field. */
export function hasMarks(schema: JsonSchema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > MAX_DEPTH) return false;
  return schema["artifact"] === true || Object.values(propertiesOf(schema)).some((each) => hasMarks(each, depth + 1));
}

function part(value: unknown, schema: JsonSchema, path: readonly string[], kept: Record<string, unknown>): unknown {
  if (schema["artifact"] === true && path.length > 0) {
    kept[path.join(".")] = value;
    return KEPT;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || path.length > MAX_DEPTH) return value;
  const properties = propertiesOf(schema);
  if (Object.keys(properties).length === 0 || isByteSource(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const its = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, its === undefined ? each : part(each, its, [...path, name], kept)];
  });
  return Object.fromEntries(entries);
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(Object.entries(properties).filter(([, each]) => typeof each === "object" && each !== null));
}

/** What JSON writes as an empty object. */
const COLLECTION = /^\[object (?:Weak)?(?:Map|Set)\]$/;
/** Characters of a key, and of a whole path, that an error repeats. */
const [MAX_KEY, MAX_PATH] = [64, 256];

/**
 * A copy of what a tool tells, as JSON has it, since an event has to survive a network and a state store: dates are texts, what has `toJSON` is what that gives, and functions are left out.
 *
 * @param path what the value is called, for errors: `value`.
 * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON has not: bytes, a BigInt, a Map or a Set, a cycle.
 */
export function jsonValue(value: unknown, path: string): unknown {
  /** From the whole to what is written now. */
  const open: { readonly value: unknown; readonly path: string }[] = [];
  // `JSON.stringify` says in which object a key is: those behind it are written.
  function checked(this: object, key: string, written: unknown): unknown {
    while (open.length > 0 && open.at(-1)?.value !== this) open.pop();
    const parent = open.at(-1)?.path;
    const place = parent === undefined ? path : within(parent, key, Array.isArray(this));
    // Buffers have a `toJSON`, which writes each byte as a number.
    for (const each of [Reflect.get(this, key) as unknown, written]) check(each, place);
    if (typeof written !== "object" || written === null) return written;
    if (open.some((outer) => outer.value === written)) throw refused(place, "holds itself: leave it out");
    open.push({ value: written, path: place });
    return written;
  }
  try {
    const text = JSON.stringify(value, checked) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const reason = error instanceof RangeError ? "is too deep or too long for JSON" : "cannot be written as JSON";
    throw refused(open.at(-1)?.path ?? path, reason, error);
  }
}

function check(value: unknown, path: string): void {
  const tag = Object.prototype.toString.call(value);
  if (tag === "[object BigInt]") throw refused(path, "is a BigInt, which JSON has not: write it as a string");
  if (isByteSource(value) || tag === "[object Request]") {
    throw refused(path, "is bytes, which JSON has not: store them with context.artifacts.upload, and pass the ref");
  }
  if (COLLECTION.test(tag)) throw refused(path, "is a Map or a Set, which JSON has not: make it an object or a list");
}

function within(parent: string, key: string, isList: boolean): string {
  const shown = key.slice(0, MAX_KEY);
  return `${parent}${isList ? `[${shown}]` : `.${shown}`}`.slice(0, MAX_PATH);
}

function refused(path: string, reason: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${path} ${reason}.`, { path }, { cause });
}
