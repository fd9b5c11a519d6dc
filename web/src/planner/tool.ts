/**
 * Tools that are functions of the host's own.
 * @module
 */
import { z } from "zod";
import { SluiceError } from "../errors/error.js";
import type { JsonSchema } from "../tools/source.js";
import type { PlannerToolContext } from "./context.js";

/** A function as a tool. */
export interface NativeToolOptions<Input extends z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_`, `-` and `.`, at most 64; unique in a catalog. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** What its arguments must be: an object. The function is called with nothing else. */
  readonly input: Input;
  /**
   * What it returns. Fields whose schema says `.meta({ artifact: true })` are kept in `trajectory.artifacts` and left out of
   * what the model sees.
   */
  readonly output?: Output;
  /** Whether it only looks, or may change something; the latter when left out. */
  readonly sideEffects?: "read" | "external";
  /** Characters that the model sees of a result at most; as the guardrail says when left out. */
  readonly maxObservationChars?: number;
  /** Does the work. What it returns is JSON; bytes in it go to the store. Throw a ToolNodeError to tell the model why it failed. */
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

/**
 * Makes a tool of a function.
 *
 * @throws SluiceError E_INVALID_ARGUMENT where the name is none, or the input is no object that JSON Schema can say.
 */
export function tool<Input extends z.ZodType>(options: NativeToolOptions<Input>): NativeTool {
  const { name, description, input, output, sideEffects = "external", maxObservationChars, run } = options;
  if (!NAME.test(name)) throw wrong("name", "must be of letters, digits, _, - and ., at most 64");
  const inputSchema = schemaOf(input, "input");
  if (inputSchema["type"] !== "object") throw wrong("input", "must be the schema of an object");
  return {
    kind: "native",
    name,
    description,
    inputSchema,
    outputSchema: output && schemaOf(output, "output"),
    sideEffects,
    maxObservationChars,
    run: async (args, context) => run(await input.parseAsync(args), context),
  };
}

function schemaOf(schema: z.ZodType, option: string): JsonSchema {
  try {
    return z.toJSONSchema(schema, { io: option === "input" ? "input" : "output" });
  } catch (cause) {
    throw wrong(option, "has something in it that JSON Schema cannot say", cause);
  }
}

function wrong(option: string, what: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `The option ${option} of a tool ${what}.`, { path: option }, { cause });
}
