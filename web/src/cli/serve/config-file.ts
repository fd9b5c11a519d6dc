/**
 * Reads the configuration file of `sluice serve`, replaces its variables, and checks it; lists the keys.
 * @module
 */
import { z } from "zod";
import { below, missingKey, type ToolConfigError, unknownKey, wrongValue } from "../../tools/errors.js";
import { fillVariables, valuesIn, type Variables } from "../../tools/config/variables.js";
import { configKeys, type ConfigKey, type SchemaNode } from "../config.js";
import { checkConfig, readJsonObject } from "../configuration.js";
import { describeExpected } from "../../server/http/request.js";
import { SCHEMA, type ServeFile } from "./schema.js";
import { toPlace, valueAt } from "../../tools/config/config.js";

/** Keys whose variables are not replaced here. Those of sources are replaced when a source is connected. */
const AS_WRITTEN: ReadonlySet<string> = new Set(["sources", "artifacts", "retention", "instructions", "limits"]);

const MAX_DEPTH = 16;

const EXAMPLE = '{"sources": []}';

/** A configuration, and the values of its variables, which the log must not show. */
interface ReadServeFile {
  readonly config: ServeFile;
  readonly secrets: readonly string[];
}

/** Reads the file. Throws CommandError 66, and SluiceError that names the wrong key but never its value. */
export async function readServeFile(file: string, env: NodeJS.ProcessEnv): Promise<ReadServeFile> {
  const said = await readJsonObject(file, EXAMPLE);
  return checkConfig(file, () => checkServeFile(said, env));
}

/** Checks the content of a file. Throws SluiceError like {@link readServeFile}. */
export function checkServeFile(said: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv): ReadServeFile {
  const substitution = new Substitution((name) => env[name]);
  const filled = Object.fromEntries(
    Object.entries(said).map(([key, value]) => [key, AS_WRITTEN.has(key) ? value : substitution.filled(value, key)]),
  );
  const read = SCHEMA.safeParse(filled, { jitless: true });
  if (!read.success) throw toProblem(read.error.issues, filled);
  return { config: read.data, secrets: substitution.values };
}

/** Replaces `${VAR}` in all texts of a value, and collects the values of variables. */
class Substitution {
  readonly values: string[] = [];
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  filled(value: unknown, path: string, depth = 0): unknown {
    if (typeof value === "string") return this.#text(value, path);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) throw wrongValue(path, "nested less deeply");
    if (Array.isArray(value)) return value.map((each, index) => this.filled(each, below(path, index), depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.filled(each, below(path, key), depth + 1)]),
    );
  }

  #text(text: string, path: string): string {
    const options = { subject: `"${path}"`, path, where: "in the environment" };
    const replaced = fillVariables(text, this.#variables, options);
    this.values.push(...valuesIn(text, this.#variables));
    return replaced;
  }
}

/** The error for the first problem. Unknown keys come first: a misspelt key also causes a missing one. */
function toProblem(issues: readonly z.core.$ZodIssue[], input: unknown): ToolConfigError {
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys")
      return unknownKey(toPlace(issue.path), issue.keys[0] ?? "", keysAt(issue.path));
  }
  const issue = issues[0] && withinUnion(issues[0]);
  if (issue === undefined) return wrongValue("", "an object");
  const isMissing = issue.code === "invalid_type" && valueAt(input, issue.path) === undefined;
  return (isMissing ? missingKey : wrongValue)(toPlace(issue.path), describeExpected(issue));
}

/** The problem inside a union: with a key of its object rather than with the union. */
function withinUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().find(({ path }) => path.length > 0);
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

/** The known keys of the object at a path. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const root = z.toJSONSchema(SCHEMA, { io: "input" }) as SchemaNode;
  const found = path.reduce<SchemaNode | undefined>(
    (node, key) => (typeof key === "number" ? node?.items : readProperties(node)[String(key)]),
    root,
  );
  return Object.keys(readProperties(found));
}

/** The properties of a schema, also of one with an object among its alternatives. */
function readProperties(node: SchemaNode | undefined): Readonly<Record<string, SchemaNode>> {
  return node?.properties ?? node?.anyOf?.find(({ properties }) => properties !== undefined)?.properties ?? {};
}

/** All keys, in the order of the schema. The default of an optional key without one is `nothing`. */
export function serveKeys(): readonly ConfigKey[] {
  const schema = z.toJSONSchema(SCHEMA, { io: "input" }) as SchemaNode;
  const needed = new Set(listNeededKeys(schema, ""));
  return configKeys(schema).map((key) => ({
    ...key,
    default: key.default ?? (needed.has(key.key) ? undefined : "nothing"),
  }));
}

function listNeededKeys(node: SchemaNode, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, each]) => {
    const key = path === "" ? name : `${path}.${name}`;
    const inner = [...listNeededKeys(each, key), ...listNeededKeys(each.items ?? {}, `${key}[]`)];
    return node.required?.includes(name) === true ? [key, ...inner] : inner;
  });
}
