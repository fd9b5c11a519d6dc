/**
 * The configuration's type as its source says it: every key with what it may be and what its docstring tells.
 * @module
 */
import { readFile } from "node:fs/promises";
import ts from "typescript";

/** One member of the type, by its whole path. */
export interface TypedKey {
  /** `number`, `boolean`, `string`, `null`, `list`, `object`, and literals as JSON; sorted. */
  readonly kinds: readonly string[];
  readonly required: boolean;
  readonly doc: string;
  /** What stands behind `@defaultValue`. */
  readonly standard: string | undefined;
}

const FILES = ["core/config.ts", "artifacts/retention/policy.ts"];

/** Every key below `SluiceConfig`; sections, which have no value of their own, are left out. */
export async function typedKeys(): Promise<Map<string, TypedKey>> {
  const declared = new Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>();
  for (const file of FILES) {
    const path = new URL(`../../../web/src/${file}`, import.meta.url);
    const source = ts.createSourceFile(file, await readFile(path, "utf8"), ts.ScriptTarget.Latest, true);
    for (const statement of source.statements) {
      if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
        declared.set(statement.name.text, statement);
      }
    }
  }
  const keys = new Map<string, TypedKey>();
  collect("SluiceConfig", "");
  return keys;

  function collect(name: string, path: string): void {
    const declaration = declared.get(name);
    if (declaration === undefined || !ts.isInterfaceDeclaration(declaration)) return;
    for (const member of declaration.members.filter(ts.isPropertySignature)) {
      const key = path + member.name.getText();
      const types = member.type === undefined ? [] : alternatives(member.type);
      const [only] = types;
      const section = types.length === 1 && only !== undefined && interfaceOf(only) !== undefined;
      if (!section) keys.set(key, typedKey(member, types));
      for (const type of types) {
        collect(interfaceOf(type) ?? "", `${key}.`);
        for (const [, entry = ""] of type.getText().matchAll(/^readonly (\w+)\[\]$/g)) collect(entry, `${key}[].`);
        for (const [, entry = ""] of type.getText().matchAll(/^Readonly<Record<string, readonly (\w+)\[\]>>$/g)) {
          collect(entry, `${key}.<tool>[].`);
        }
      }
    }
  }

  /** The members of a union, names of unions resolved. */
  function alternatives(type: ts.TypeNode): readonly ts.TypeNode[] {
    if (ts.isUnionTypeNode(type)) return type.types.flatMap(alternatives);
    const alias = ts.isTypeReferenceNode(type) ? declared.get(type.typeName.getText()) : undefined;
    return alias !== undefined && ts.isTypeAliasDeclaration(alias) ? alternatives(alias.type) : [type];
  }

  function interfaceOf(type: ts.TypeNode): string | undefined {
    const name = ts.isTypeReferenceNode(type) ? type.typeName.getText() : "";
    return declared.has(name) ? name : undefined;
  }
}

function typedKey(member: ts.PropertySignature, types: readonly ts.TypeNode[]): TypedKey {
  const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const [standard] = ts.getJSDocTags(member).filter(({ tagName }) => tagName.text === "defaultValue");
  return {
    kinds: types.map(kindOf).sort(),
    required: member.questionToken === undefined,
    doc: plain(doc?.comment),
    standard: standard === undefined ? undefined : plain(standard.comment).replaceAll("`", ""),
  };
}

function plain(comment: ts.JSDoc["comment"]): string {
  return (ts.getTextOfJSDocComment(comment) ?? "").replace(/\s+/g, " ").trim();
}

function kindOf(type: ts.TypeNode): string {
  const text = type.getText();
  if (/^readonly .*\[\]$/.test(text)) return "list";
  return /^["a-z]/.test(text) ? text : "object";
}
