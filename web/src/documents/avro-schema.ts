/**
 * Schemas of Avro (Apache Avro 1.12, "Schema Declaration"): what the values of a file are, as types to read by.
 * @module
 */
import { isObject } from "../errors/arguments.js";
import { toDamagedError } from "./document.js";

/** What a value is read as. */
export type AvroType =
  | {
      readonly kind: "null" | "boolean" | "int" | "long" | "float" | "double" | "bytes" | "string";
      readonly logical?: AvroLogical;
    }
  | { readonly kind: "fixed"; readonly size: number; readonly logical?: AvroLogical }
  | { readonly kind: "enum"; readonly symbols: readonly string[] }
  | { readonly kind: "array" | "map"; readonly items: AvroType }
  | { readonly kind: "union"; readonly branches: readonly AvroType[] }
  /** Its fields are filled in once they are read: they may name the record itself. */
  | { readonly kind: "record"; readonly fields: AvroField[] };

/** A field of a record. */
export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

/** What a value stands for, where its schema says more than how it is stored. */
export interface AvroLogical {
  readonly name: string;
  readonly scale: number;
}

const PRIMITIVE: ReadonlySet<unknown> = new Set([
  "null",
  "boolean",
  "int",
  "long",
  "float",
  "double",
  "bytes",
  "string",
] as const);

/** Deepest schema, and most types in it. */
const MAX_DEPTH = 64;
const MAX_TYPES = 20_000;

/** Reads a schema. Throws E_DOCUMENT for one that is none. */
export function readAvroSchema(text: string): AvroType {
  try {
    return new SchemaReader().read(JSON.parse(text), "", 0);
  } catch {
    throw toDamagedError("Avro file");
  }
}

class SchemaReader {
  readonly #named = new Map<string, AvroType>();
  #types = 0;

  read(schema: unknown, space: string, depth: number): AvroType {
    this.#types += 1;
    if (depth > MAX_DEPTH || this.#types > MAX_TYPES) throw toDamagedError("Avro file");
    if (typeof schema === "string") return this.#find(schema, space);
    if (Array.isArray(schema)) {
      return { kind: "union", branches: schema.map((branch) => this.read(branch, space, depth + 1)) };
    }
    if (!isObject(schema)) throw toDamagedError("Avro file");
    const { type } = schema;
    switch (type) {
      case "record":
      case "error":
        return this.#readRecord(schema, space, depth);
      case "enum": {
        const symbols = requireList(schema["symbols"]).map(String);
        return this.#name(schema, space, { kind: "enum", symbols });
      }
      case "fixed": {
        const { size } = schema;
        if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) throw toDamagedError("Avro file");
        return this.#name(schema, space, { kind: "fixed", size, ...readLogical(schema) });
      }
      case "array":
      case "map":
        return { kind: type, items: this.read(schema[type === "array" ? "items" : "values"], space, depth + 1) };
      default: {
        const inner = this.read(type, space, depth + 1);
        return "logical" in inner || !PRIMITIVE.has(inner.kind) ? inner : { ...inner, ...readLogical(schema) };
      }
    }
  }

  #readRecord(schema: Record<string, unknown>, space: string, depth: number): AvroType {
    const fields: AvroField[] = [];
    const record = this.#name(schema, space, { kind: "record", fields });
    const inner = findSpace(schema, space);
    for (const field of requireList(schema["fields"])) {
      if (!isObject(field) || typeof field["name"] !== "string") throw toDamagedError("Avro file");
      fields.push({ name: field["name"], type: this.read(field["type"], inner, depth + 1) });
    }
    return record;
  }

  #name(schema: Record<string, unknown>, space: string, type: AvroType): AvroType {
    const { name } = schema;
    if (typeof name !== "string") throw toDamagedError("Avro file");
    const full = name.includes(".") ? name : joinName(findSpace(schema, space), name);
    this.#named.set(full, type);
    return type;
  }

  #find(name: string, space: string): AvroType {
    if (PRIMITIVE.has(name)) return { kind: name } as AvroType;
    const found = this.#named.get(joinName(space, name)) ?? this.#named.get(name);
    if (found === undefined) throw toDamagedError("Avro file");
    return found;
  }
}

/** The namespace of what a named type has in it. */
function findSpace({ name, namespace }: Record<string, unknown>, outer: string): string {
  if (typeof name === "string" && name.includes(".")) return name.slice(0, name.lastIndexOf("."));
  return typeof namespace === "string" ? namespace : outer;
}

function joinName(space: string, name: string): string {
  return space === "" || name.includes(".") ? name : `${space}.${name}`;
}

function readLogical({ logicalType, scale }: Record<string, unknown>): { readonly logical?: AvroLogical } {
  if (typeof logicalType !== "string") return {};
  return {
    logical: { name: logicalType, scale: typeof scale === "number" && Number.isSafeInteger(scale) ? scale : 0 },
  };
}

function requireList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw toDamagedError("Avro file");
  return value;
}

/** A type as it is told: its logical type, or how it is stored; what may be null is what it is else. */
export function nameAvroType(type: AvroType): string {
  if (type.kind === "union") {
    const others = type.branches.filter(({ kind }) => kind !== "null");
    return others.length === 1 ? nameAvroType(others[0] as AvroType) : "union";
  }
  return "logical" in type ? type.logical.name : type.kind;
}
