/**
 * What the core takes of a configuration, written by the build from the tables that the core reads by.
 */

/** The keywords that those tables are written in. */
export interface ConfigSchema {
  readonly type?: string | readonly string[];
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
}

export const CORE_SCHEMA: ConfigSchema;
