/**
 * What a tool may be given: a schema that a form can be drawn from, and arguments read by it.
 * @module
 */

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
  /** What counts where nothing is given. */
  readonly default: number;
}

/** A text, or one of a few. */
export interface TextField extends Labelled {
  /** In the schema. */
  readonly type: "string";
  /** All that may be given. */
  readonly enum?: readonly string[];
  /** UTF-16 units; 64 when left out. */
  readonly maxLength?: number;
  /** What counts where nothing is given. */
  readonly default: string;
}

/** A tool's arguments by their names: flat, and each with a default, so that none has to be given. */
export type Fields = Readonly<Record<string, IntegerField | TextField>>;

/** The arguments that fields describe. */
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends TextField ? string : number };

/** The JSON Schema of the fields. */
export function schemaOf(fields: Fields): { type: "object" } & Record<string, unknown> {
  return { type: "object", properties: fields, additionalProperties: false };
}

/** The arguments with defaults filled in, or a sentence that says what is wrong with them. */
export function readArguments<F extends Fields>(
  fields: F,
  args: Readonly<Record<string, unknown>>,
): Values<F> | string {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const known = Object.keys(fields).join(", ");
    return `There is no argument ${JSON.stringify(unknown.slice(0, 64))}: this tool takes ${known === "" ? "none" : known}.`;
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = args[name] ?? field.default;
    const expected = field.type === "integer" ? missedNumber(field, value) : missedText(field, value);
    if (expected !== undefined) return `The argument ${name} must be ${expected}.`;
    values[name] = value;
  }
  return values as Values<F>;
}

function missedNumber({ minimum, maximum }: IntegerField, value: unknown): string | undefined {
  const holds = Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  return holds ? undefined : `a whole number from ${minimum} to ${maximum}`;
}

function missedText({ enum: choices, maxLength = 64 }: TextField, value: unknown): string | undefined {
  if (choices !== undefined) return choices.includes(value as string) ? undefined : `one of ${choices.join(", ")}`;
  return typeof value === "string" && value.length <= maxLength
    ? undefined
    : `a text of at most ${maxLength} characters`;
}
