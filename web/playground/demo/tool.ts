/**
 * A tool of the demo server: its entry in the list, its arguments and what it does.
 * @module
 */
import type { CallToolResult, ElicitRequestFormParams, ElicitResult, Tool } from "@modelcontextprotocol/client";

/** The context of a running call. */
export interface DemoCall {
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
  /** Reports progress, if the client asked for it. */
  readonly progress: (progress: number, total: number, message: string) => Promise<void>;
  /** Asks the user through the client. Throws if the client does not support it. */
  readonly ask: (message: string, schema: ElicitRequestFormParams["requestedSchema"]) => Promise<ElicitResult>;
}

/** A tool of a demo server. */
export interface DemoTool {
  /** Its entry in the list of tools. */
  readonly listed: Tool;
  /** Invalid arguments return a result with `isError`. */
  readonly call: (args: Readonly<Record<string, unknown>>, call: DemoCall) => Promise<CallToolResult>;
}

/** Options for `demoTool`. */
interface ToolOptions<F extends Fields> extends Pick<Tool, "name" | "title" | "description" | "outputSchema"> {
  /** Its arguments. */
  readonly fields: F;
  /** Whether a call changes something. Defaults to false. */
  readonly writes?: boolean;
  /** Runs a call with valid arguments. */
  readonly run: (values: Values<F>, call: DemoCall) => CallToolResult | Promise<CallToolResult>;
}

/** A tool from its description. */
export function demoTool<F extends Fields>({ fields, writes = false, run, ...shown }: ToolOptions<F>): DemoTool {
  const annotations = { readOnlyHint: !writes, openWorldHint: false, ...(writes && { destructiveHint: false }) };
  return {
    listed: { ...shown, inputSchema: toSchema(fields), annotations },
    call: async (args, call) => {
      const values = readArguments(fields, args);
      return typeof values === "string" ? toErrorResult(values) : run(values, call);
    },
  };
}

/** A result that is a text. */
export function toTextResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** A result that says what went wrong. */
export function toErrorResult(sentence: string): CallToolResult {
  return { ...toTextResult(sentence), isError: true };
}

interface Labelled {
  readonly title: string;
  readonly description: string;
}

/** A whole number within limits. */
export interface IntegerField extends Labelled {
  /** In the schema. */
  readonly type: "integer";
  /** The least. */
  readonly minimum: number;
  /** The most. */
  readonly maximum: number;
  /** The default value. */
  readonly default: number;
}

/** A text, or one of a few. */
interface TextField extends Labelled {
  /** In the schema. */
  readonly type: "string";
  /** All that may be given. */
  readonly enum?: readonly string[];
  /** UTF-16 units; 64 when left out. */
  readonly maxLength?: number;
  /** The default value. */
  readonly default: string;
}

/** The arguments of a tool by name: flat, each with a default. */
type Fields = Readonly<Record<string, IntegerField | TextField>>;

/** The arguments that fields describe. */
type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends TextField ? string : number };

/** The JSON Schema of the fields. */
function toSchema(fields: Fields): { type: "object" } & Record<string, unknown> {
  return { type: "object", properties: fields, additionalProperties: false };
}

/** The arguments with defaults filled in, or a sentence that says what is wrong with them. */
function readArguments<F extends Fields>(fields: F, args: Readonly<Record<string, unknown>>): Values<F> | string {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const known = Object.keys(fields).join(", ");
    return `There is no argument ${JSON.stringify(unknown.slice(0, 64))}: this tool takes ${known === "" ? "none" : known}.`;
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = args[name] ?? field.default;
    const expected = field.type === "integer" ? checkNumber(field, value) : checkText(field, value);
    if (expected !== undefined) return `The argument ${name} must be ${expected}.`;
    values[name] = value;
  }
  return values as Values<F>;
}

function checkNumber({ minimum, maximum }: IntegerField, value: unknown): string | undefined {
  const holds = Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  return holds ? undefined : `a whole number from ${minimum} to ${maximum}`;
}

function checkText({ enum: choices, maxLength = 64 }: TextField, value: unknown): string | undefined {
  if (choices !== undefined) return choices.includes(value as string) ? undefined : `one of ${choices.join(", ")}`;
  return typeof value === "string" && value.length <= maxLength
    ? undefined
    : `a string of at most ${maxLength} characters`;
}
