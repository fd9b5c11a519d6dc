/**
 * The configuration as a form: its fields in sentences, its presets, and changes of single values.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import schema from "mcp-sluice/config.schema.json" with { type: "json" };

/** A field, as a sentence with the value in it. What it takes and what it is unless it is set, the schema says. */
export interface ConfigField {
  /** Configuration keys, joined by dots. */
  readonly path: string;
  /** The sentence up to the value, or all of it for a switch. */
  readonly label: string;
  /** The sentence behind the value. */
  readonly unit?: string;
  readonly hint: string;
  /** Choices in words, if the schema's own say little. */
  readonly choices?: readonly ConfigChoice[];
}

/** A choice: its value as JSON and its words. */
export type ConfigChoice = readonly [value: unknown, words: string];

/** Fields under a heading. */
export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly ConfigField[];
}

/** The fields that most people want. */
export const MAIN_FIELDS: readonly ConfigField[] = [
  {
    path: "max_inline_size",
    label: "Store strings longer than",
    unit: "characters",
    hint: "The model reads a reference instead. Shorter ones stay.",
  },
  {
    path: "guardrail.max_observation_chars",
    label: "Show the model at most",
    unit: "characters",
    hint: "A longer result is cut, whichever tool it came from.",
  },
  {
    path: "auto_artifact_large_content",
    label: "Store long text, not only files",
    hint: "If off, long text stays, and is cut where it is too long.",
  },
  {
    path: "binary_detection.enabled",
    label: "Find files that are hidden in text",
    hint: "Such as a PDF as base64 in JSON. If off, only what the server marks as a file is one.",
  },
  {
    path: "binary_detection.min_size_for_detection",
    label: "Look for files in encoded text from",
    unit: "characters",
    hint: "Shorter encoded text stays in place.",
  },
  {
    path: "prefer",
    label: "If a server says it twice, show",
    hint: "What only the other half says is added.",
    choices: [
      ["structured", "structuredContent"],
      ["content", "the content blocks"],
    ],
  },
];

/** The other fields, folded. */
export const MORE_FIELDS: readonly FieldGroup[] = [
  {
    title: "When a result is too long",
    fields: [
      {
        path: "guardrail.auto_artifact_threshold",
        label: "Store it whole instead of cutting it from",
        unit: "characters",
        hint: "The model then reads a reference to all of it.",
      },
      {
        path: "guardrail.max_field_chars",
        label: "Cut each string in it to",
        unit: "characters",
        hint: "The longest strings are cut before anything else is.",
      },
      {
        path: "guardrail.preserve_structure",
        label: "Keep its objects and lists",
        hint: "If off, it becomes one string of cut JSON.",
      },
      {
        path: "guardrail.truncation_suffix",
        label: "End a cut string with",
        hint: "{truncated_chars} becomes the number of characters left out.",
      },
    ],
  },
  {
    title: "What counts as a file",
    fields: [
      {
        path: "binary_detection.require_magic_bytes",
        label: "Only encoded text that begins like a known type of file",
        hint: "If off, everything that decodes is stored.",
      },
      {
        path: "binary_detection.max_decode_bytes",
        label: "Tell its type from the first",
        unit: "bytes",
        hint: "Stored files are never cut.",
      },
    ],
  },
  {
    title: "Linked resources",
    fields: [
      {
        path: "resources.enabled",
        label: "Read resources that a result links to",
        hint: "If off, each link stays a link.",
      },
      {
        path: "resources.auto_read_if_size_under_bytes",
        label: "Read them at once below",
        unit: "bytes",
        hint: "0: never at once.",
      },
      {
        path: "resources.inline_text_if_under_chars",
        label: "Show their text if it is shorter than",
        unit: "characters",
        hint: "Longer text is stored.",
      },
      {
        path: "resources.cache_reads_to_artifacts",
        label: "Store their text also where it is shown",
        hint: "If off, short text is only shown.",
      },
    ],
  },
  {
    title: "Pictures and words",
    fields: [
      {
        path: "inline_media",
        label: "Show small images to the model",
        hint: "They are stored too.",
        choices: [
          ["auto", "if its client shows them"],
          ["off", "never"],
          [{}, "always"],
        ],
      },
      {
        path: "default_summary_template",
        label: "Describe a stored file as",
        hint: "Such as {filename}, {size_human}. Empty: in Sluice's own words.",
      },
    ],
  },
];

/** A configuration with a name and what it is for. */
export interface Preset {
  readonly name: string;
  readonly config: SluiceConfig;
}

/** Presets. */
export const PRESETS: readonly Preset[] = [
  { name: "The defaults", config: {} },
  {
    name: "A model with a small context",
    config: { max_inline_size: 2000, guardrail: { max_observation_chars: 8000, max_field_chars: 1000 } },
  },
  {
    name: "A model with a large context",
    config: { max_inline_size: 50_000, guardrail: { max_observation_chars: 200_000, max_field_chars: 50_000 } },
  },
  { name: "Store files alone, leave text", config: { auto_artifact_large_content: false } },
  {
    name: "Store everything that decodes",
    config: { binary_detection: { require_magic_bytes: false, min_size_for_detection: 64 } },
  },
];

/** What the configuration's schema says of a key. */
export interface KeySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, KeySchema>>;
}

const ROOT: KeySchema = schema;

/** The schema of the key at a path. */
export function schemaAt(path: string): KeySchema {
  return path.split(".").reduce((section, key) => section.properties?.[key] ?? {}, ROOT);
}

/** What a number at a path may be, as a sentence; undefined where the schema has no bounds of it. */
export function describeBounds(path: string): string | undefined {
  const { minimum, maximum } = schemaAt(path);
  const [least, most] = [minimum, maximum].map((bound) => bound?.toLocaleString("en"));
  if (least === undefined || most === undefined) return undefined;
  return `Between ${least} and ${most}.`;
}

/** The whole configuration that holds: what is set, and the defaults of all else. */
export function fillIn(config: SluiceConfig): object {
  const fill = (section: KeySchema, value: unknown): unknown => {
    if (section.properties === undefined) return value === undefined ? section.default : value;
    const given = isObject(value) ? value : {};
    return Object.fromEntries(Object.entries(section.properties).map(([key, inner]) => [key, fill(inner, given[key])]));
  };
  return fill(ROOT, config) as object;
}

/** The value at a path; its default if it is not set. */
export function valueAt(config: SluiceConfig, path: string): unknown {
  const value = path
    .split(".")
    .reduce<unknown>((section, key) => (isObject(section) ? section[key] : undefined), config as unknown);
  return value === undefined ? schemaAt(path).default : value;
}

/** Whether the value at a path is not the default. */
export function isChanged(config: SluiceConfig, path: string): boolean {
  return JSON.stringify(valueAt(config, path)) !== JSON.stringify(schemaAt(path).default);
}

/** The configuration with one value changed. A default is left out, and so is a section without values. */
export function withValue(config: SluiceConfig, path: string, value: unknown): SluiceConfig {
  const isDefault = JSON.stringify(value) === JSON.stringify(schemaAt(path).default);
  return writeMember(config, path.split("."), isDefault ? undefined : value);
}

function writeMember(section: unknown, [key = "", ...rest]: readonly string[], value: unknown): object {
  const { [key]: inner, ...others } = isObject(section) ? section : {};
  const next = rest.length === 0 ? value : writeMember(inner, rest, value);
  const isEmpty = next === undefined || (rest.length > 0 && Object.keys(next as object).length === 0);
  if (isEmpty) return others;
  // Keys keep their order, so that the JSON does not jump.
  return isObject(section) && key in section
    ? Object.fromEntries(Object.entries(section).map(([name, old]) => [name, name === key ? next : old]))
    : { ...others, [key]: next };
}

/** What was typed into a field, as a value. The core says what is wrong with it. */
export function parseTyped(path: string, text: string): unknown {
  const { type = [] } = schemaAt(path);
  const types = typeof type === "string" ? [type] : type;
  if (types.includes("string")) return text === "" && types.includes("null") ? null : escapeLineEnds(text);
  const plain = text.trim().replaceAll(/(?<=\d)[,\s](?=\d{3})/g, "");
  const number = Number(plain);
  return plain === "" || Number.isNaN(number) ? text : number;
}

/** A value as a field shows it: digits in groups, line ends as `\n`. */
export function formatValue(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en");
  return typeof value === "string" ? value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n") : "";
}

function escapeLineEnds(text: string): string {
  return text.replaceAll(/\\(n|\\)/g, (_, sign: string) => (sign === "n" ? "\n" : "\\"));
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
