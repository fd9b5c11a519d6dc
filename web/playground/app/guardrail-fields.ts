/**
 * The keys of the configuration that the form shows, presets, and the way between objects and JSON text.
 * @module
 */
import { jsonLanguage } from "@codemirror/lang-json";
import type { SluiceConfig } from "mcp-sluice";
import type { Problem } from "../engine/contract.js";

/** A key of the form. */
export type ConfigField = {
  /** Keys joined by dots. */
  readonly path: string;
  readonly label: string;
  readonly hint: string;
} & (
  | { readonly kind: "number"; readonly default: number }
  | { readonly kind: "boolean"; readonly default: boolean }
  | { readonly kind: "choice"; readonly default: string; readonly choices: readonly string[] }
);

/** Those that a person is most likely to try; all others are written as JSON. */
export const FIELDS: readonly ConfigField[] = [
  {
    path: "max_inline_size",
    label: "Longest text in place",
    hint: "Characters above which a string is stored.",
    kind: "number",
    default: 10_000,
  },
  {
    path: "guardrail.max_observation_chars",
    label: "Longest observation",
    hint: "Characters that a model is given at most.",
    kind: "number",
    default: 50_000,
  },
  {
    path: "guardrail.max_field_chars",
    label: "Longest field when cut",
    hint: "Characters to which single strings are cut first.",
    kind: "number",
    default: 10_000,
  },
  {
    path: "guardrail.preserve_structure",
    label: "Keep the structure when cut",
    hint: "Objects and arrays stay what they are.",
    kind: "boolean",
    default: true,
  },
  {
    path: "binary_detection.min_size_for_detection",
    label: "Shortest run",
    hint: "Encoded characters below which a run stays.",
    kind: "number",
    default: 1000,
  },
  {
    path: "binary_detection.enabled",
    label: "Find bytes in strings",
    hint: "Without it only typed blocks are taken for bytes.",
    kind: "boolean",
    default: true,
  },
  {
    path: "auto_artifact_large_content",
    label: "Store for size alone",
    hint: "Long texts and large documents.",
    kind: "boolean",
    default: true,
  },
  {
    path: "prefer",
    label: "When a server sends both",
    hint: "structuredContent, or the blocks.",
    kind: "choice",
    default: "structured",
    choices: ["structured", "content"],
  },
];

/** By name. */
export const PRESETS: Readonly<Record<string, SluiceConfig>> = {
  Defaults: {},
  "Small context": { max_inline_size: 2000, guardrail: { max_observation_chars: 8000, max_field_chars: 1000 } },
  "Large context": { max_inline_size: 50_000, guardrail: { max_observation_chars: 200_000, max_field_chars: 50_000 } },
  "Bytes only": { auto_artifact_large_content: false },
  "Everything that decodes": { binary_detection: { require_magic_bytes: false, min_size_for_detection: 64 } },
};

/** The value of a key; undefined where nothing is said. */
export function valueAt(config: SluiceConfig, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), config as unknown);
}

/** The same configuration with one key changed. */
export function withValue(config: SluiceConfig, path: string, value: unknown): SluiceConfig {
  const [key = "", ...rest] = path.split(".");
  const object = config as Readonly<Record<string, unknown>>;
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = isObject(object[key]) ? (object[key] as SluiceConfig) : {};
  return { ...object, [key]: withValue(inner, rest.join("."), value) };
}

/** As it is written to a file. */
export function asText(config: SluiceConfig): string {
  return JSON.stringify(config, null, 2);
}

/** Reads JSON text; what is in it is checked by the core. */
export function configOf(text: string): { readonly config: SluiceConfig } | { readonly problem: Problem } {
  try {
    const value = JSON.parse(text === "" ? "{}" : text) as unknown;
    if (isObject(value)) return { config: value };
    return { problem: { code: "E_CONFIG_VALUE", message: "A configuration is an object, in braces." } };
  } catch (error) {
    return { problem: { code: "E_CONFIG_JSON", message: (error as Error).message, ...placeIn(text) } };
  }
}

/** Where a text breaks off, which engines do not always say: the grammar of the editor knows. */
function placeIn(text: string): { line?: number; column?: number } {
  let position: number | undefined;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) position ??= from;
    },
  });
  if (position === undefined) return {};
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: Array.from(before.at(-1) ?? "").length + 1 };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
