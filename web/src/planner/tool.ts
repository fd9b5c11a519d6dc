/**
 * Tools that are functions of the host's own.
 * @module
 */
import { z } from "zod";
import { SluiceError } from "../errors/error.js";
import { checkOptions, FUNCTION, TEXT, type OptionTests } from "../errors/options.js";
import type { JsonSchema } from "../tools/source.js";
import type { PlannerToolContext } from "./context.js";
import { LEAST_SHARE } from "./sharing.js";

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
  maxObservationChars: [`a whole number from ${LEAST_SHARE} to ${MOST_CHARS}`, isLimit],
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

function isLimit(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= LEAST_SHARE && (value as number) <= MOST_CHARS;
}

function wrong(sentence: string, path: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path }, { cause });
}
