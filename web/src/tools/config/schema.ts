/**
 * What each key of a source may be, its default, and the error where it is something else.
 * @module
 */
import { z } from "zod";
import type { SluiceConfig } from "../../core/config.js";
import type { ExternalToolConfig, OutputTransformer, RetryPolicy, ToolConfig } from "../config.js";
import { compilePattern, MAX_PATTERN, MAX_PATTERNS } from "./filter.js";
import { below, missingKey, type ToolConfigError, unknownKey, wrongValue } from "./problem.js";

/** A day: what is longer overflows a timer before long. */
const MAX_WAIT_S = 86_400;
const MAX_STATUSES = 100;
const MAX_DESCRIPTION = 10_000;
/** A manual may stand in its place. */
const MAX_CONNECTION = 1_000_000;
const MAX_PAIRS = 256;
const MAX_VALUE = 32_768;

const RETRY_SHAPE = {
  max_attempts: z.int().min(1).max(10).default(3),
  wait_exponential_min_s: z.number().min(0.01).max(MAX_WAIT_S).default(0.1),
  wait_exponential_max_s: z.number().min(0.1).max(MAX_WAIT_S).default(5),
  retry_on_status: z.array(z.int().min(100).max(599)).max(MAX_STATUSES).readonly().default([429, 500, 502, 503, 504]),
} satisfies Record<keyof RetryPolicy, z.ZodType>;

const pattern = z
  .string()
  .max(MAX_PATTERN)
  .transform((text, context) => {
    const compiled = compilePattern(text);
    if (compiled !== undefined) return compiled;
    context.addIssue({ code: "custom" });
    return z.NEVER;
  });

/** Names as processes and headers have them. */
const pairs = z
  .record(
    z.string().regex(/^[^=\u0000-\u001f]{1,256}$/),
    z
      .string()
      .max(MAX_VALUE)
      .regex(/^[^\u0000]*$/),
  )
  .refine((values) => Object.keys(values).length <= MAX_PAIRS);

// What is in it is the core's to check.
const extraction = z.custom<SluiceConfig>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

const notice = z.number().min(0.1).max(300);

const SHAPE = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().max(MAX_DESCRIPTION).default(""),
  transport: z.enum(["mcp", "http", "utcp", "cli"]),
  connection: z.string().max(MAX_CONNECTION).regex(/\S/),
  utcp_mode: z.enum(["auto", "manual_url", "base_url"]).default("auto"),
  env: pairs.readonly().default({}),
  auth_type: z.enum(["none", "api_key", "bearer", "oauth2_user"]).default("none"),
  auth_config: pairs.readonly().default({}),
  timeout_s: z.number().min(1).max(300).default(30),
  notify_after_s: z
    .tuple([notice, notice, notice])
    .refine(([first, second, third]) => first < second && second < third)
    .readonly()
    .default([15, 20, 25]),
  retry_policy: z.strictObject(RETRY_SHAPE).prefault({}),
  max_concurrency: z.int().min(1).max(100).default(10),
  tool_filter: z.array(pattern).max(MAX_PATTERNS).readonly().nullable().default(null),
  user_files: z.boolean().default(false),
  artifact_extraction: extraction.default({}),
  output_transformer: z
    .custom<OutputTransformer>((value) => typeof value === "function")
    .nullable()
    .default(null),
  transformer_input: z.enum(["reduced", "raw"]).default("reduced"),
  transformer_timeout_s: z.number().min(0.001).max(300).default(30),
} satisfies Record<keyof ExternalToolConfig, z.ZodType>;

const source = z.strictObject(SHAPE);

/** A source with its defaults. A test has the compiler hold what it takes to the type that is documented. */
export const SCHEMA: z.ZodType<ToolConfig, z.input<typeof source>> = source;

/** The keys there are, by the path of the object they stand in. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(SHAPE),
  retry_policy: Object.keys(RETRY_SHAPE),
};

type Place = keyof typeof SHAPE | `retry_policy.${keyof typeof RETRY_SHAPE}`;

/** What each key must be, in words that go on after "must be". */
const WANTED: Readonly<Record<Place, string>> = {
  name: "a namespace: 1 to 64 ASCII letters, digits, '-' and '_'",
  description: `text of at most ${MAX_DESCRIPTION} characters`,
  transport: 'one of "mcp", "http", "utcp" and "cli"',
  connection: `a command, a URL or a manual, of at most ${MAX_CONNECTION} characters`,
  utcp_mode: 'one of "auto", "manual_url" and "base_url"',
  env: `an object of at most ${MAX_PAIRS} names without '=' and control characters, each with a text without NUL`,
  auth_type: 'one of "none", "api_key", "bearer" and "oauth2_user"',
  auth_config: `an object of at most ${MAX_PAIRS} names, each with a text such as "\${TOKEN}"`,
  timeout_s: "a number of seconds from 1 to 300",
  notify_after_s: "three numbers of seconds from 0.1 to 300, each larger than the one before, such as [15, 20, 25]",
  retry_policy: 'an object, such as {"max_attempts": 5}',
  max_concurrency: "a whole number from 1 to 100",
  tool_filter:
    `null, or a list of at most ${MAX_PATTERNS} regular expressions of JavaScript, each of at most ${MAX_PATTERN} ` +
    "characters, with few repetitions and alternatives, and none of them inside a repeated group",
  user_files: "true or false",
  artifact_extraction: 'an object, such as {"max_inline_size": 5000}',
  output_transformer: "a function, or null",
  transformer_input: 'one of "reduced" and "raw"',
  transformer_timeout_s: "a number of seconds from 0.001 to 300",
  "retry_policy.max_attempts": "a whole number from 1 to 10",
  "retry_policy.wait_exponential_min_s": `a number of seconds from 0.01 to ${MAX_WAIT_S}`,
  "retry_policy.wait_exponential_max_s": `a number of seconds from 0.1 to ${MAX_WAIT_S}`,
  "retry_policy.retry_on_status": `a list of at most ${MAX_STATUSES} HTTP statuses, such as [429, 503]`,
};

/** The error of the first problem; a key that is not known goes first, since what it stands for is then missing. */
export function problemOf(issues: readonly z.core.$ZodIssue[], input: unknown, base: string): ToolConfigError {
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const [key = ""] = issue.keys;
    return unknownKey(placeOf(issue.path, base), key, KEYS[issue.path.join(".")] ?? []);
  }
  const path = issues[0]?.path ?? [];
  if (path.length === 0) return wrongValue(base, "an object");
  const place = placeOf(path, base);
  return valueAt(input, path) === undefined && issues[0]?.code !== "invalid_key"
    ? missingKey(place, wanted(path))
    : wrongValue(place, wanted(path));
}

function placeOf(path: readonly PropertyKey[], base: string): string {
  return path.reduce<string>((place, key) => below(place, typeof key === "number" ? key : String(key)), base);
}

/** What the key must be; of elements and of members with names of their own, what the whole must be. */
function wanted(path: readonly PropertyKey[]): string {
  const words: Readonly<Record<string, string>> = WANTED;
  const [first = "", second = ""] = path.map(String);
  return words[`${first}.${second}`] ?? words[first] ?? "something else";
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}
