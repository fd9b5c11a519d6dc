/**
 * What of js-yaml is used, which brings no types.
 * @module
 */
declare module "js-yaml" {
  /** How nodes with a tag are made. */
  export interface Type {
    readonly tag: string;
  }
  export const Type: new (
    tag: string,
    options: { readonly kind: "scalar" | "sequence" | "mapping"; readonly multi?: boolean },
  ) => Type;

  /** The tags that are known. */
  export interface Schema {
    extend(types: { readonly implicit?: readonly Type[]; readonly explicit?: readonly Type[] }): Schema;
  }

  /** Null, booleans and numbers of YAML 1.2. */
  export const CORE_SCHEMA: Schema;
  export const types: { readonly merge: Type };

  /** Throws for anything but YAML, and for several documents. */
  export function load(
    text: string,
    options: {
      readonly schema: Schema;
      /** Whether the last of several keys of the same name counts. */
      readonly json: boolean;
      readonly maxDepth: number;
      readonly maxTotalMergeKeys: number;
      /** Told when a node begins and ends; what it throws ends the reading. */
      readonly listener: (
        event: "open" | "close",
        node: { readonly anchor: string | null; readonly result: unknown },
      ) => void;
    },
  ): unknown;
}
