/**
 * An OpenAPI description as tools, one for each operation: its address, its security, its arguments and its result.
 * @module
 */
import { wrong } from "../../errors.js";
import { type Document, MAX_TOOLS } from "../utcp/document.js";
import { describeEffects, type HttpTemplate, type HttpTool, parametersIn, type TemplateAuth } from "../utcp/manual.js";
import { isObject } from "../../../errors/arguments.js";

/** Methods of UTCP's `http` call templates. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "patch"];

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly item: Document;
  readonly operation: Document;
}

/**
 * All operations as tools. Operations without an `operationId` are named after method and path.
 *
 * @param from the document's address; null for an inline document.
 * @throws ToolNodeError E_TOOL_CONFIG if there are none or too many.
 */
export function openApiTools(document: Document, from: URL | null, subject: string): readonly HttpTool[] {
  const schemas = new Schemas(document);
  const operations = listOperations(document, schemas);
  if (operations.length > MAX_TOOLS) throw wrong(`${subject} has more than ${MAX_TOOLS} operations, the limit here.`);
  const security = new Security(document, from, schemas);
  const names = new Set<string>();
  const tools = operations.map(({ path, method, item, operation }): HttpTool => {
    const name = uniqueName(operation, method, path, names);
    const url = `${findServer([operation, item, document], from, subject)}/${path.replace(/^\/+/, "")}`;
    const where = { http_method: method.toUpperCase(), url, auth: security.of(operation) };
    return toTool(where, name, plainOperation(operation, item, url, schemas), schemas);
  });
  if (tools.length === 0) throw wrong(`${subject} has an API description without callable operations.`);
  return tools;
}

function toTool(
  where: Pick<HttpTemplate, "http_method" | "url" | "auth">,
  name: string,
  plain: PlainOperation,
  schemas: Schemas,
): HttpTool {
  const names = Object.keys(plain.inputs["properties"] as Document).length;
  return {
    name,
    description: plain.description,
    input_schema: schemas.standalone(plain.inputs, 2 * names),
    ...(plain.output !== undefined && { output_schema: schemas.standalone(plain.output) }),
    ...describeEffects(where.http_method),
    template: {
      ...where,
      call_template_type: "http",
      content_type: plain.contentType ?? "application/json",
      headers: {},
      body_field: plain.bodyField,
      header_fields: plain.headerFields,
      event_type: null,
      isAuthOptional: true,
    },
  };
}

function listOperations({ paths }: Document, schemas: Schemas): readonly Operation[] {
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, written]) => {
    const item = schemas.resolved(written) ?? {};
    return METHODS.flatMap((method) => {
      const operation = Object.hasOwn(item, method) ? item[method] : undefined;
      return isObject(operation) ? [{ path, method, item, operation }] : [];
    });
  });
}

/** The security requirements of operations. */
class Security {
  readonly #schemes: ReadonlyMap<string, TemplateAuth>;
  readonly #common: TemplateAuth | undefined;

  constructor({ components, securityDefinitions, security }: Document, from: URL | null, schemas: Schemas) {
    const written = isObject(components) ? components["securitySchemes"] : securityDefinitions;
    const schemes = Object.entries(isObject(written) ? written : {}).flatMap(([name, scheme]) => {
      const auth = toAuth(schemas.resolved(scheme) ?? {}, from);
      return auth === undefined ? [] : [[name, auth] as const];
    });
    this.#schemes = new Map(schemes);
    this.#common = this.#first(security);
  }

  /** The requirement of an operation, or of the document if that of the operation is not supported. */
  of({ security }: Document): TemplateAuth | undefined {
    if (Array.isArray(security) && security.length === 0) return undefined;
    return this.#first(security) ?? this.#common;
  }

  /** The first fully supported requirement. Those without a token request come first. */
  #first(security: unknown): TemplateAuth | undefined {
    const known = (Array.isArray(security) ? security.filter(isObject) : []).flatMap((requirement) => {
      const [name, ...others] = Object.keys(requirement);
      const auth = name === undefined ? undefined : this.#schemes.get(name);
      if (auth === undefined || !others.every((other) => this.#schemes.has(other))) return [];
      return [auth.auth_type === "oauth2" ? { ...auth, scope: joinScopes(requirement[name as string]) } : auth];
    });
    return known.find(({ auth_type }) => auth_type !== "oauth2") ?? known[0];
  }
}

/** A security scheme as an `auth` of a call template, with the variable names of UTCP's converters. */
function toAuth(scheme: Document, from: URL | null): TemplateAuth | undefined {
  const { type, in: location, name, scheme: way } = scheme;
  const kind = toText(type).toLowerCase();
  const written = toText(way).toLowerCase();
  if (kind === "apikey") {
    const var_name = toText(name) || "Authorization";
    const isElsewhere = location === "query" || location === "cookie";
    return { auth_type: "api_key", api_key: "${API_KEY_0}", var_name, location: isElsewhere ? location : "header" };
  }
  if (kind === "basic" || (kind === "http" && written === "basic")) {
    return { auth_type: "basic", username: "${USERNAME_0}", password: "${PASSWORD_0}" };
  }
  if (kind === "http" && written === "bearer") {
    return { auth_type: "api_key", api_key: "Bearer ${API_KEY_0}", var_name: "Authorization", location: "header" };
  }
  return kind === "oauth2" ? clientCredentials(scheme, from) : undefined;
}

/** The client credentials flow. Version 2 calls it `application`. */
function clientCredentials({ flows, flow, tokenUrl }: Document, from: URL | null): TemplateAuth | undefined {
  const written = isObject(flows) ? flows["clientCredentials"] : flow === "application" && { tokenUrl };
  const address = isObject(written) ? toText(written["tokenUrl"]) : "";
  const token_url = address === "" ? undefined : absolute(address, from);
  if (token_url === undefined) return undefined;
  return { auth_type: "oauth2", token_url, client_id: "${CLIENT_ID_0}", client_secret: "${CLIENT_SECRET_0}" };
}

/** The required scopes, or null. */
function joinScopes(scopes: unknown): string | null {
  const names = Array.isArray(scopes) ? scopes.filter((one) => typeof one === "string") : [];
  return names.length === 0 ? null : names.join(" ");
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
 * The first server of the operation, its path or the document, without a trailing slash.
 *
 * @param places innermost first.
 * @param from the document's address, for relative URLs.
 * @throws ToolNodeError E_TOOL_CONFIG if there is none.
 */
function findServer(places: readonly Document[], from: URL | null, subject: string): string {
  const written =
    places.map(firstServer).find((server) => server !== undefined) ?? ofVersion2(places.at(-1) ?? {}, from);
  if (written === undefined && from !== null) return from.origin;
  const url = written === undefined ? undefined : absolute(written, from);
  if (url === undefined) {
    throw wrong(`${subject} has an API description that names no server: its "servers" must have a full URL.`);
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

/** What an operation takes and returns. */
interface PlainOperation {
  readonly description: string;
  /** Parameters of path, query and headers, and the body. */
  readonly inputs: Document;
  readonly headerFields: readonly string[];
  /** The argument for the body. */
  readonly bodyField: string;
  /** The media type of the body, if there is one. */
  readonly contentType: string | undefined;
  /** The schema of a successful JSON answer. */
  readonly output: Document | undefined;
}

const MAX_PARAMETERS = 500;
const FORM = "application/x-www-form-urlencoded";

/**
 * Reads an operation.
 *
 * @param item its path item.
 * @param url its address. Parts in braces are arguments even if they are not described.
 */
function plainOperation(operation: Document, item: Document, url: string, schemas: Schemas): PlainOperation {
  const all = mergeParameters(operation, item, schemas);
  const parameters = [...all.filter((parameter) => PLACES.has(parameter["in"])), ...addUndescribed(url, all)];
  const body = readBody(operation, all, schemas);
  const bodyField = parameters.some(({ name }) => name === "body") ? "request_body" : "body";
  const properties = parameters.map((one) => [one["name"], property(getSchema(one), one["description"])] as const);
  // Path parameters are always required.
  const required = parameters.filter((one) => one["required"] === true || one["in"] === "path").map(({ name }) => name);
  if (body !== undefined) properties.push([bodyField, property(body.schema, body.description)]);
  if (body?.isRequired === true) required.push(bodyField);
  return {
    description: joinDescription(operation),
    inputs: {
      type: "object",
      ...(required.length > 0 && { required: [...new Set(required)] }),
      // Otherwise invented arguments would end up in the query, and in the API's log.
      additionalProperties: false,
      properties: Object.fromEntries(properties),
    },
    headerFields: parameters.filter((one) => one["in"] === "header").map(({ name }) => name as string),
    bodyField,
    contentType: body?.contentType,
    output: readOutput(operation, schemas),
  };
}

const PLACES: ReadonlySet<unknown> = new Set(["path", "query", "header"]);

interface PlainBody {
  readonly contentType: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
}

/** Parameters of the path item, overridden by those of the operation. */
function mergeParameters(operation: Document, item: Document, schemas: Schemas): readonly Document[] {
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

/** Parts of the address without a description. */
function addUndescribed(url: string, parameters: readonly Document[]): readonly Document[] {
  const described = new Set(parameters.filter((one) => one["in"] === "path").map(({ name }) => name));
  return parametersIn(url)
    .filter((name) => !described.has(name))
    .map((name) => ({ name, in: "path", schema: { type: "string" } }));
}

/** The schema of a parameter: in `schema` or `content` in version 3, the parameter itself in version 2. */
function getSchema(parameter: Document): unknown {
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

function readBody(operation: Document, parameters: readonly Document[], schemas: Schemas): PlainBody | undefined {
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
      description: toText(body["description"]),
      isRequired: body["required"] === true,
      schema: isObject(media) ? media["schema"] : {},
    };
  }
  const whole = parameters.find((parameter) => parameter["in"] === "body");
  if (whole !== undefined) {
    const description = toText(whole["description"]);
    const { schema, required } = whole;
    return { contentType: "application/json", description, isRequired: required === true, schema };
  }
  return toForm(parameters.filter((parameter) => parameter["in"] === "formData"));
}

/** Media types, best first. */
const MEDIA: readonly RegExp[] = [
  /^application\/json\b/i,
  /\+json\b/i,
  /^\*\/\*/,
  /^application\/x-www-form/i,
  /^multipart\/form/i,
  /^text\//i,
  /./,
];

function toForm(fields: readonly Document[]): PlainBody | undefined {
  if (fields.length === 0) return undefined;
  const required = fields.filter((field) => field["required"] === true).map((field) => field["name"]);
  const properties = Object.fromEntries(fields.map((field) => [field["name"] as string, getSchema(field)]));
  const isFile = fields.some((field) => field["type"] === "file");
  return {
    contentType: isFile ? "multipart/form-data" : FORM,
    description: "",
    isRequired: required.length > 0,
    schema: { type: "object", properties, ...(required.length > 0 && { required }) },
  };
}

function readOutput({ responses }: Document, schemas: Schemas): Document | undefined {
  if (!isObject(responses)) return undefined;
  const status = ["200", "201", "202", "2XX", "default"].find((one) => Object.hasOwn(responses, one));
  const response = status === undefined ? undefined : schemas.resolved(responses[status]);
  if (isObject(response?.["schema"])) return response["schema"];
  const content = isObject(response?.["content"]) ? Object.entries(response["content"]) : [];
  const media = content.find(([type]) => /[/+]json\b/i.test(type))?.[1];
  return isObject(media) && isObject(media["schema"]) ? media["schema"] : undefined;
}

function joinDescription({ summary, description }: Document): string {
  const [short, long] = [toText(summary).trim(), toText(description).trim()];
  return long === "" || long.startsWith(short) ? long || short : [short, long].filter((one) => one !== "").join("\n\n");
}

/** Adds the parameter's description, which is more specific than the schema's. */
function property(schema: unknown, description: unknown): Document {
  return { ...(isObject(schema) ? schema : {}), ...(toText(description) !== "" && { description }) };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Maximum values in the schema of one tool, beside property names. More would not be read by a model. */
const MAX_VALUES = 5000;
/** Minimum values of each tool, however many tools there are. */
const MIN_VALUES = 500;
/** Maximum values of all tools. Beyond it, each tool gets the minimum. */
const MAX_TOTAL = 1_000_000;
/** Maximum values of a definition, in order of available space. */
const SIZES: readonly number[] = [MAX_VALUES, 400, 100];
/** Maximum values of all copied definitions, which tools share. */
const MAX_COPIED = 4_000_000;
/** Maximum length of a chain of references. */
const MAX_HOPS = 8;

/** The target of a reference. */
interface Definition {
  /** Its name in `$defs`. */
  readonly name: string;
  readonly schema: unknown;
  /** Copies of different sizes, largest first, created on demand. */
  copies?: readonly PrunedSchema[];
}

/** Extracts standalone schemas from one document. */
class Schemas {
  readonly #document: Document;
  /** By pointer. Null if a pointer leads nowhere. */
  readonly #definitions = new Map<string, Definition | null>();
  /** How often each name was used. */
  readonly #names = new Map<string, number>();
  readonly #find = (pointer: string): Definition | null => this.#definition(pointer);
  #total = MAX_TOTAL;
  #copied = 0;

  constructor(document: Document) {
    this.#document = document;
  }

  /** Resolves a reference within the document. Other values are returned unchanged; undefined if there is no target. */
  resolved(value: unknown): Readonly<Record<string, unknown>> | undefined {
    let node = value;
    for (let hops = 0; isObject(node) && typeof node["$ref"] === "string"; hops++) {
      if (hops >= MAX_HOPS) return undefined;
      node = this.#definition(node["$ref"])?.schema;
    }
    return isObject(node) ? node : undefined;
  }

  /**
   * A standalone copy of a schema. References within the document lead to its `$defs`, which copies share; external
   * references, and what exceeds the limit, allow everything.
   *
   * @param names number of properties that are always kept.
   */
  standalone(schema: Readonly<Record<string, unknown>>, names: number = 0): Readonly<Record<string, unknown>> {
    const room = names + Math.max(MIN_VALUES, Math.min(MAX_VALUES, this.#total));
    const { value: root, size, needs } = cutSchema(schema, room, this.#find);
    let left = room - size;
    // A set can be extended while it is iterated.
    const needed = new Set(needs);
    const definitions = Array.from(needed, (definition): [string, unknown] => {
      const copy = this.#copyWithin(definition, left);
      if (copy === undefined) return [definition.name, {}];
      left -= copy.size;
      for (const one of copy.needs) needed.add(one);
      return [definition.name, copy.value];
    });
    this.#total = Math.max(0, this.#total - (room - left));
    if (definitions.length === 0) return root;
    const own = isObject(root["$defs"]) ? root["$defs"] : {};
    return { ...root, $defs: { ...own, ...Object.fromEntries(definitions) } };
  }

  /** The largest copy of a definition that fits, or undefined. */
  #copyWithin(definition: Definition, room: number): PrunedSchema | undefined {
    if (room <= 0) return undefined;
    if (definition.copies === undefined) {
      if (this.#copied > MAX_COPIED) return undefined;
      definition.copies = SIZES.map((limit) => cutSchema(definition.schema, limit, this.#find));
      for (const { size } of definition.copies) this.#copied += size;
    }
    return definition.copies.find(({ size }) => size <= room);
  }

  #definition(pointer: string): Definition | null {
    let definition = this.#definitions.get(pointer);
    if (definition === undefined) {
      const schema = valueAt(this.#document, pointer);
      definition = schema === undefined ? null : { name: this.#nameFor(pointer), schema };
      this.#definitions.set(pointer, definition);
    }
    return definition;
  }

  #nameFor(pointer: string): string {
    const wanted = undoPercent(pointer.split("/").pop() ?? "").replace(/\W/g, "_") || "definition";
    let n = (this.#names.get(wanted) ?? 0) + 1;
    while (n > 1 && this.#names.has(`${wanted}_${n}`)) n += 1;
    this.#names.set(wanted, n);
    if (n === 1) return wanted;
    this.#names.set(`${wanted}_${n}`, 1);
    return `${wanted}_${n}`;
  }
}

/** The value at a JSON pointer in a URI fragment. */
function valueAt(document: Document, pointer: string): unknown {
  if (!pointer.startsWith("#/")) return undefined;
  let node: unknown = document;
  for (const part of pointer.slice(2).split("/")) {
    const key = undoPercent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return node;
}

function undoPercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A copy of a schema. */
interface PrunedSchema {
  readonly value: Document;
  /** Number of values in it. */
  readonly size: number;
  /** The targets of its references, each once. */
  readonly needs: readonly Definition[];
}

/**
 * Copies a schema, up to a number of values. Invalid schemas allow everything.
 *
 * @param find the target of a reference, which is in `$defs`; null if there is none.
 */
export function cutSchema(schema: unknown, limit: number, find: (pointer: string) => Definition | null): PrunedSchema {
  const copy = new Copy(limit, find);
  const value = copy.of(schema);
  return { value: isObject(value) ? value : {}, size: copy.used, needs: [...copy.needs] };
}

/** Stands for what does not fit. */
const TOO_MUCH: unique symbol = Symbol("too much");

/**
 * Keywords that are dropped if their value does not fit completely: a partial value would change what the schema
 * allows.
 */
const ALL_OR_NOTHING: ReadonlySet<string> = new Set("const default enum example examples not if oneOf".split(" "));
/** Keywords whose members are named schemas. */
const NAMES: ReadonlySet<string> = new Set(
  "properties patternProperties dependentSchemas $defs definitions".split(" "),
);

/** Keywords about what another keyword leaves over. If that one was cut, they would allow less than before. */
const LEFT_OVER: Readonly<Record<string, readonly string[]>> = {
  patternProperties: ["additionalProperties"],
  prefixItems: ["items"],
  items: ["additionalItems"],
  contains: ["maxContains"],
};

class Copy {
  readonly #limit: number;
  readonly #find: (pointer: string) => Definition | null;
  readonly needs = new Set<Definition>();
  used = 1;
  /** Number of values that did not fit. */
  #cuts = 0;

  constructor(limit: number, find: (pointer: string) => Definition | null) {
    this.#limit = limit;
    this.#find = find;
  }

  /** Space for children is reserved before they are copied, so that they do not take it from their siblings. */
  of(node: unknown, isNames: boolean = false): unknown {
    if (typeof node !== "object" || node === null) return node;
    if (Array.isArray(node)) return this.#take(node.length) ? this.#items(node) : TOO_MUCH;
    const entries = Object.entries(node);
    if (!this.#take(entries.length)) return TOO_MUCH;
    return isNames
      ? Object.fromEntries(entries.map(([name, value]) => [name, orAnything(this.of(value))]))
      : this.#members(entries);
  }

  #take(values: number): boolean {
    const fits = this.used + values <= this.#limit;
    if (fits) this.used += values;
    else this.#cuts += 1;
    return fits;
  }

  #items(node: readonly unknown[]): unknown {
    const items = node.map((item) => this.of(item));
    return items.includes(TOO_MUCH) ? TOO_MUCH : items;
  }

  #members(entries: readonly (readonly [string, unknown])[]): unknown {
    const copied: [string, unknown][] = [];
    const before = this.#cuts;
    const refusing = new Set<string>();
    for (const [key, value] of entries) {
      if (key === "$ref" && typeof value === "string") {
        this.#refer(value, copied);
        continue;
      }
      // A boolean `required` in a property is common in OpenAPI 2 and 3.0, but not JSON Schema.
      if (key === "required" && typeof value === "boolean") continue;
      const cuts = this.#cuts;
      const part = this.of(value, NAMES.has(key));
      // Without property names, a closed schema would allow no arguments at all.
      if (part === TOO_MUCH && key === "properties") return {};
      const isCut = this.#cuts > cuts;
      // A pattern stays valid if its schema was cut.
      if (part === TOO_MUCH || (isCut && key === "contains")) {
        for (const other of LEFT_OVER[key] ?? []) refusing.add(other);
      }
      if (isCut && ALL_OR_NOTHING.has(key)) continue;
      if (part !== TOO_MUCH || !Array.isArray(value)) copied.push([key, orAnything(part)]);
    }
    if (this.#cuts > before) for (const key of ["unevaluatedProperties", "unevaluatedItems"]) refusing.add(key);
    return Object.fromEntries(copied.filter(([key]) => !refusing.has(key)));
  }

  #refer(pointer: string, copied: [string, unknown][]): void {
    const definition = this.#find(pointer);
    if (definition === null) {
      this.#cuts += 1;
      return;
    }
    this.needs.add(definition);
    copied.push(["$ref", `#/$defs/${definition.name}`]);
  }
}

function orAnything(part: unknown): unknown {
  return part === TOO_MUCH ? {} : part;
}
