/**
 * An OpenAPI description as tools, one for each operation, through the converter of `@utcp/http`.
 *
 * The converter says who may ask. Where an operation is, what it takes and what it gives is read here: the converter loses
 * references to what it has met before, refuses schemas that are not strict, and needs half a millisecond for each property.
 * It is given one operation at a time, so that one that it does not understand costs no other, each kind of them once, and
 * nothing that it would print a warning about.
 * @module
 */
import { wrong } from "../../problem.js";
import { isObject, MAX_TOOLS, type Document } from "../utcp/document.js";
import { Schemas } from "./schemas.js";
import { effectsOf, parametersIn, templateOf, type HttpTemplate, type HttpTool } from "./tool.js";

/** What UTCP's `http` call template can do. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "patch"];
/** Those of which the document says all that there is to know, so that the converter need not ask anybody. */
const SIMPLE_SCHEMES: ReadonlySet<unknown> = new Set(["apiKey", "basic", "http"]);

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly item: Document;
  readonly operation: Document;
}

/**
 * All operations. One without an `operationId` is named after its method and path.
 *
 * @param from where the document is; null for one that is part of the configuration.
 * @throws ToolNodeError E_TOOL_CONFIG where there are too many, or none.
 */
export async function openApiTools(
  document: Document,
  from: URL | null,
  subject: string,
): Promise<readonly HttpTool[]> {
  const { OpenApiConverter } = await import("@utcp/http");
  const schemas = new Schemas(document);
  const operations = operationsOf(document, schemas);
  if (operations.length > MAX_TOOLS)
    throw wrong(`${subject} has more than ${MAX_TOOLS} operations, which is too many.`);
  const security = securityOf(document, schemas);
  const templates = new Map<string, HttpTemplate | undefined>();
  /** The converter takes a millisecond for each, and most are alike but for where they are. */
  const templateFor = (method: string, required: Document): HttpTemplate | undefined => {
    const key = JSON.stringify([method, required]);
    if (!templates.has(key)) {
      const paths = { "/": { [method]: { operationId: "any", ...required } } };
      const options = { baseUrl: "http://localhost", callTemplateName: "api" };
      templates.set(
        key,
        converted(() => new OpenApiConverter({ ...security.members, paths }, options).convert()),
      );
    }
    return templates.get(key);
  };
  const names = new Set<string>();
  const tools = operations.flatMap(({ path, method, item, operation }): HttpTool[] => {
    const name = uniqueName(operation, method, path, names);
    const template = templateFor(method, requirements(operation, security.known));
    const url = `${serverOf([operation, item, document], from, subject)}/${path.replace(/^\/+/, "")}`;
    if (template === undefined) return [];
    return [finished({ ...template, url }, name, plainOperation(operation, item, url, schemas), schemas)];
  });
  if (tools.length === 0) throw wrong(`${subject} has a description of an API without operations that can be called.`);
  return tools;
}

function converted(convert: () => { readonly tools: readonly unknown[] }): HttpTemplate | undefined {
  try {
    const [tool] = convert().tools as readonly { readonly tool_call_template: unknown }[];
    return tool === undefined ? undefined : templateOf(tool.tool_call_template);
  } catch {
    // What the library makes nothing of cannot be called.
    return undefined;
  }
}

function finished(template: HttpTemplate, name: string, plain: PlainOperation, schemas: Schemas): HttpTool {
  const names = Object.keys(plain.inputs["properties"] as Document).length;
  return {
    name,
    description: plain.description,
    input_schema: schemas.standalone(plain.inputs, 2 * names),
    ...(plain.output !== undefined && { output_schema: schemas.standalone(plain.output) }),
    ...effectsOf(template.http_method),
    template: {
      ...template,
      content_type: plain.contentType ?? template.content_type,
      body_field: plain.bodyField,
      header_fields: plain.headerFields,
      isAuthOptional: true,
    },
  };
}

function operationsOf({ paths }: Document, schemas: Schemas): readonly Operation[] {
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, written]) => {
    const item = schemas.resolved(written) ?? {};
    return METHODS.flatMap((method) => {
      const operation = Object.hasOwn(item, method) ? item[method] : undefined;
      return isObject(operation) ? [{ path, method, item, operation }] : [];
    });
  });
}

/** Security schemes that the converter may look at, and the names of them. */
function securityOf(
  { components, securityDefinitions, security }: Document,
  schemas: Schemas,
): { readonly members: Document; readonly known: ReadonlySet<string> } {
  const written = isObject(components) ? components["securitySchemes"] : securityDefinitions;
  const schemes = Object.entries(isObject(written) ? written : {}).flatMap(([name, scheme]) => {
    const resolved = schemas.resolved(scheme);
    return resolved !== undefined && SIMPLE_SCHEMES.has(resolved["type"]) ? [[name, resolved] as const] : [];
  });
  const members = {
    info: { title: "api" },
    components: { securitySchemes: Object.fromEntries(schemes) },
    ...(Array.isArray(security) && { security: security.filter(isObject) }),
  };
  return { members, known: new Set(schemes.map(([name]) => name)) };
}

/** Of what an operation requires, what the converter knows how to answer. */
function requirements({ security }: Document, known: ReadonlySet<string>): Document {
  if (!Array.isArray(security)) return {};
  const isKnown = (one: Document): boolean => {
    const names = Object.keys(one);
    return names.length > 0 && names.every((name) => known.has(name));
  };
  return { security: security.filter(isObject).filter(isKnown) };
}

function uniqueName({ operationId }: Document, method: string, path: string, taken: Set<string>): string {
  const made = `${method}_${path}`.replace(/[\W_]+/g, "_").replace(/_$/, "");
  const wanted = typeof operationId === "string" && operationId.trim() !== "" ? operationId.trim() : made;
  let name = wanted.slice(0, 128);
  for (let n = 2; taken.has(name); n++) name = `${wanted.slice(0, 120)}_${n}`;
  taken.add(name);
  return name;
}

/**
 * The first server that the operation, its path or the document names, without a slash at its end.
 *
 * @param places innermost first.
 * @param from where the document is: servers may be relative to it.
 * @throws ToolNodeError E_TOOL_CONFIG where there is none.
 */
function serverOf(places: readonly Document[], from: URL | null, subject: string): string {
  const written =
    places.map(firstServer).find((server) => server !== undefined) ?? ofVersion2(places.at(-1) ?? {}, from);
  if (written === undefined && from !== null) return from.origin;
  const url = written === undefined ? undefined : absolute(written, from);
  if (url === undefined) {
    throw wrong(`${subject} has a description of an API that names no server: its "servers" must hold a whole URL.`);
  }
  return url.replace(/\/+$/, "");
}

function firstServer({ servers }: Document): string | undefined {
  const [server] = Array.isArray(servers) ? (servers as unknown[]) : [];
  if (!isObject(server) || typeof server["url"] !== "string") return undefined;
  const { url, variables } = server as { readonly url: string; readonly variables?: unknown };
  return url.replace(/\{([^{}]{1,128})\}/g, (written, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable["default"] === "string" ? variable["default"] : written;
  });
}

function ofVersion2({ swagger, host, basePath, schemes }: Document, from: URL | null): string | undefined {
  if (swagger === undefined) return undefined;
  const path = typeof basePath === "string" ? basePath : "/";
  if (typeof host !== "string") return path;
  const offered: readonly unknown[] = Array.isArray(schemes) ? schemes : [];
  const scheme = offered.includes("https") ? "https" : (offered[0] ?? from?.protocol.slice(0, -1) ?? "https");
  return `${scheme === "http" ? "http" : "https"}://${host}${path}`;
}

function absolute(url: string, from: URL | null): string | undefined {
  if (/^https?:\/\//i.test(url)) return url;
  return from !== null && URL.canParse(url, from.href) ? new URL(url, from.href).href : undefined;
}

/** What an operation takes and gives. */
interface PlainOperation {
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
function plainOperation(operation: Document, item: Document, url: string, schemas: Schemas): PlainOperation {
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
