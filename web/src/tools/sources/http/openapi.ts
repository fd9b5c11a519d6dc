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
import { serverOf } from "./openapi-server.js";
import { plainOperation, type PlainOperation } from "./openapi-operation.js";
import { Schemas } from "./schemas.js";
import { templateOf } from "./manual.js";
import { effectsOf, type HttpTemplate, type HttpTool } from "./tool.js";

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
