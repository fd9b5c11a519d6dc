/**
 * What a configuration may hold, written by the build from its schema: what the core says of the keys that it reads
 * (`wasm/src/config/keys.cpp`, defaults in `wasm/include/sluice/defaults.h`), and `retention.json` and `interceptor.json`.
 */

/** A schema in the keywords that the configuration's needs (JSON Schema 2020-12). */
export interface ConfigSchema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ConfigSchema[];
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly additionalProperties?: false | ConfigSchema;
  readonly propertyNames?: ConfigSchema;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly items?: ConfigSchema;
  readonly prefixItems?: readonly ConfigSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Shown in place of the pattern where a value is refused. */
  readonly examples?: readonly unknown[];
}

/** The names of all sections. */
export const SECTIONS: readonly string[];

/** The sections that the core reads, without defaults: those are the core's. */
export const CORE_SCHEMA: ConfigSchema;

/** The section `resources`, with its defaults. */
export const RESOURCES_SCHEMA: ConfigSchema;

/** The default of `max_inline_size`, in characters. */
export const MAX_INLINE_SIZE: number;

/** The default of `binary_detection.min_size_for_detection`, in characters. */
export const MIN_SIZE_FOR_DETECTION: number;

/** The default of `guardrail.max_observation_chars`. */
export const MAX_OBSERVATION_CHARS: number;

/** The section `retention`, with its defaults: `retention.json`. */
export const RETENTION_SCHEMA: ConfigSchema;

/** What a key of `retention` limits. */
export interface RetentionLimit {
  readonly key: string;
  readonly counts: "bytes" | "artifacts";
  /** Whether a content that several artifacts share counts once. */
  readonly once: boolean;
  /** What counts together. */
  readonly within: "trace" | "session" | "namespace" | "store";
}

/** The keys of `retention` with a `limit` in `retention.json`, in the order of that file. */
export const RETENTION_LIMITS: readonly RetentionLimit[];

/** The section `interceptor`, with its defaults: `interceptor.json`. */
export const INTERCEPTOR_SCHEMA: ConfigSchema;
