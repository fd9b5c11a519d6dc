/**
 * An operation of an OpenAPI description, versions 2 and 3, as a tool's input.
 * @module
 */
import { isObject, type Document } from "../utcp/document.js";
import type { Schemas } from "./schemas.js";
import { parametersIn } from "./tool.js";

/** What an operation takes and gives. */
export interface PlainOperation {
  readonly description: string;
  /** Parameters of the path, the query and the headers, and the body. */
  readonly inputs: Document;
  readonly headerFields: readonly string[];
  /** The argument that is the body. */
  readonly bodyField: string;
  /** The body's, where there is one. */
  readonly contentType: string | undefined;
  /** The schema of a successful answer in JSON. */
  readonly output: Document | undefined;
}

const MAX_PARAMETERS = 500;
const FORM = "application/x-www-form-urlencoded";

/**
 * Reads one operation; `item` is its path's.
 *
 * @param url its address, whose parts in braces are arguments whether they are described or not.
 */
export function plainOperation(operation: Document, item: Document, url: string, schemas: Schemas): PlainOperation {
  const all = parametersOf(operation, item, schemas);
  const parameters = [...all.filter((parameter) => PLACES.has(parameter["in"])), ...undescribed(url, all)];
  const body = bodyOf(operation, all, schemas);
  const bodyField = parameters.some(({ name }) => name === "body") ? "request_body" : "body";
  const properties = parameters.map((one) => [one["name"], property(schemaOf(one), one["description"])] as const);
  // A path without one of its parameters is no path.
  const required = parameters.filter((one) => one["required"] === true || one["in"] === "path").map(({ name }) => name);
  if (body !== undefined) properties.push([bodyField, property(body.schema, body.description)]);
  if (body?.isRequired === true) required.push(bodyField);
  return {
    description: descriptionOf(operation),
    inputs: {
      type: "object",
      ...(required.length > 0 && { required: [...new Set(required)] }),
      // An API that knows no such parameter would find what a model made up in its query, and in its log.
      additionalProperties: false,
      properties: Object.fromEntries(properties),
    },
    headerFields: parameters.filter((one) => one["in"] === "header").map(({ name }) => name as string),
    bodyField,
    contentType: body?.contentType,
    output: outputOf(operation, schemas),
  };
}

const PLACES: ReadonlySet<unknown> = new Set(["path", "query", "header"]);

interface PlainBody {
  readonly contentType: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
}

/** Those of the path first; one of the operation stands for its namesake there. */
function parametersOf(operation: Document, item: Document, schemas: Schemas): readonly Document[] {
  const found = new Map<string, Document>();
  for (const list of [item["parameters"], operation["parameters"]]) {
    for (const written of Array.isArray(list) ? list.slice(0, MAX_PARAMETERS) : []) {
      const parameter = schemas.resolved(written);
      if (typeof parameter?.["name"] !== "string") continue;
      found.set(`${String(parameter["in"])} ${parameter["name"]}`, parameter);
    }
  }
  return [...found.values()];
}

/** Parts of an address that nobody describes. */
function undescribed(url: string, parameters: readonly Document[]): readonly Document[] {
  const described = new Set(parameters.filter((one) => one["in"] === "path").map(({ name }) => name));
  return parametersIn(url)
    .filter((name) => !described.has(name))
    .map((name) => ({ name, in: "path", schema: { type: "string" } }));
}

/** Version 3 keeps a schema, or one in `content`; version 2 is one itself. */
function schemaOf(parameter: Document): unknown {
  if (Object.hasOwn(parameter, "schema")) return parameter["schema"];
  if (isObject(parameter["content"])) {
    const [media] = Object.values(parameter["content"]);
    return isObject(media) ? media["schema"] : {};
  }
  return Object.fromEntries(Object.entries(parameter).filter(([key]) => !OF_A_PARAMETER.has(key)));
}

const OF_A_PARAMETER: ReadonlySet<string> = new Set([
  ..."name in description required style explode allowReserved allowEmptyValue deprecated".split(" "),
  ..."collectionFormat example examples".split(" "),
]);

function bodyOf(operation: Document, parameters: readonly Document[], schemas: Schemas): PlainBody | undefined {
  const body = schemas.resolved(operation["requestBody"]);
  if (isObject(body?.["content"])) {
    const content = Object.entries(body["content"]);
    const chosen = MEDIA.map((wanted) => content.find(([type]) => wanted.test(type))).find(
      (found) => found !== undefined,
    );
    const [contentType, media] = chosen ?? [];
    if (contentType === undefined) return undefined;
    return {
      contentType: contentType.includes("*") ? "application/json" : contentType,
      description: text(body["description"]),
      isRequired: body["required"] === true,
      schema: isObject(media) ? media["schema"] : {},
    };
  }
  const whole = parameters.find((parameter) => parameter["in"] === "body");
  if (whole !== undefined) {
    const description = text(whole["description"]);
    const { schema, required } = whole;
    return { contentType: "application/json", description, isRequired: required === true, schema };
  }
  return formOf(parameters.filter((parameter) => parameter["in"] === "formData"));
}

/** The best that we can write comes first. */
const MEDIA: readonly RegExp[] = [
  /^application\/json\b/i,
  /\+json\b/i,
  /^\*\/\*/,
  /^application\/x-www-form/i,
  /^multipart\/form/i,
  /^text\//i,
  /./,
];

function formOf(fields: readonly Document[]): PlainBody | undefined {
  if (fields.length === 0) return undefined;
  const required = fields.filter((field) => field["required"] === true).map((field) => field["name"]);
  const properties = Object.fromEntries(fields.map((field) => [field["name"] as string, schemaOf(field)]));
  const isFile = fields.some((field) => field["type"] === "file");
  return {
    contentType: isFile ? "multipart/form-data" : FORM,
    description: "",
    isRequired: required.length > 0,
    schema: { type: "object", properties, ...(required.length > 0 && { required }) },
  };
}

function outputOf({ responses }: Document, schemas: Schemas): Document | undefined {
  if (!isObject(responses)) return undefined;
  const status = ["200", "201", "202", "2XX", "default"].find((one) => Object.hasOwn(responses, one));
  const response = status === undefined ? undefined : schemas.resolved(responses[status]);
  if (isObject(response?.["schema"])) return response["schema"];
  const content = isObject(response?.["content"]) ? Object.entries(response["content"]) : [];
  const media = content.find(([type]) => /[/+]json\b/i.test(type))?.[1];
  return isObject(media) && isObject(media["schema"]) ? media["schema"] : undefined;
}

function descriptionOf({ summary, description }: Document): string {
  const [short, long] = [text(summary).trim(), text(description).trim()];
  return long === "" || long.startsWith(short) ? long || short : [short, long].filter((one) => one !== "").join("\n\n");
}

/** The parameter's own sentence says what it is here; that of the schema, what it is anywhere. */
function property(schema: unknown, description: unknown): Document {
  return { ...(isObject(schema) ? schema : {}), ...(text(description) !== "" && { description }) };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
