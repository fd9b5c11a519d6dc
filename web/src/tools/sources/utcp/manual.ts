/**
 * UTCP 1.1 manuals: the schemas of call templates, and the tools of a manual.
 * @module
 */
import { z } from "zod";
import { CALL_TEMPLATE_TYPES, type CallTemplateType, LOCAL_TYPES } from "../../config/config.js";
import { quoteName, toSafeName, toSubject, type ToolNodeError, toUnsupportedError, wrong } from "../../errors.js";
import type { JsonSchema, LeftOutTool, SourceTool } from "../../source-features.js";
import { type Document, MAX_TOOLS } from "./document.js";
import { isObject } from "../../../errors/arguments.js";

const textSchema = z.string();
const headersSchema = z.record(textSchema, textSchema).default({});
const fieldsSchema = z
  .array(textSchema)
  .default([])
  .transform((names): readonly string[] => [...new Set(names)]);

const authSchema = z
  .discriminatedUnion("auth_type", [
    z.object({
      auth_type: z.literal("api_key"),
      api_key: textSchema,
      var_name: textSchema.default("X-Api-Key"),
      location: z.enum(["header", "query", "cookie"]).default("header"),
    }),
    z.object({ auth_type: z.literal("basic"), username: textSchema, password: textSchema }),
    z.object({
      auth_type: z.literal("oauth2"),
      token_url: textSchema,
      client_id: textSchema,
      client_secret: textSchema,
      scope: textSchema.nullish(),
    }),
    z.object({
      auth_type: z.literal("oauth2_user"),
      access_token: textSchema,
      var_name: textSchema.default("Authorization"),
      prefix: textSchema.default("Bearer "),
    }),
  ])
  .optional();

/** The `auth` of a call template. Values may contain variables. */
export type TemplateAuth = NonNullable<z.output<typeof authSchema>>;

/** Client credentials, which are exchanged for a token (RFC 6749 §4.4). */
export type ClientCredentials = Extract<TemplateAuth, { readonly auth_type: "oauth2" }>;

/** Members of all templates that send requests. */
const requestShape = { url: textSchema, headers: headersSchema, header_fields: fieldsSchema, auth: authSchema };

const httpSchema = z.object({
  ...requestShape,
  call_template_type: z.literal("http"),
  http_method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).default("GET"),
  content_type: textSchema.default("application/json"),
  body_field: textSchema.nullable().default("body"),
});

const streamableHttpSchema = z.object({
  ...requestShape,
  call_template_type: z.literal("streamable_http"),
  http_method: z.enum(["GET", "POST"]).default("GET"),
  content_type: textSchema.default("application/octet-stream"),
  body_field: textSchema.nullable().default(null),
});

const sseSchema = z.object({
  ...requestShape,
  call_template_type: z.literal("sse"),
  body_field: textSchema.nullable().default(null),
  event_type: textSchema.nullable().default(null),
});

const webSocketSchema = z.object({
  ...requestShape,
  call_template_type: z.literal("websocket"),
  message: z
    .union([textSchema, z.record(textSchema, z.unknown())])
    .nullable()
    .default(null),
  protocol: textSchema.nullable().default(null),
  response_format: z.enum(["json", "text", "raw"]).nullable().default(null),
});

const mcpServerSchema = z.union([
  z.object({ url: z.string(), headers: headersSchema, transport: textSchema.nullish() }),
  z.object({
    command: z.string().min(1),
    args: z.array(textSchema).default([]),
    env: z.record(textSchema, textSchema).default({}),
    cwd: textSchema.nullish(),
  }),
]);

const mcpSchema = z.object({
  call_template_type: z.literal("mcp"),
  config: z.object({ mcpServers: z.record(textSchema, mcpServerSchema) }),
  auth: authSchema,
});

const contentSchema = z.object({ call_template_type: z.literal("text"), content: textSchema });
const fileSchema = z.object({ call_template_type: z.enum(["text", "file"]), file_path: z.string().min(1) });

/** Schemas by type. Those of commands are in `command/tools.ts`. */
const SCHEMAS = {
  http: httpSchema,
  sse: sseSchema,
  streamable_http: streamableHttpSchema,
  websocket: webSocketSchema,
  mcp: mcpSchema,
  text: z.union([contentSchema, fileSchema]),
  file: fileSchema,
} satisfies Partial<Record<CallTemplateType, z.ZodType>>;

/** A checked call template that sends an HTTP request. */
export type RequestTemplate =
  | z.output<typeof httpSchema>
  | z.output<typeof sseSchema>
  | z.output<typeof streamableHttpSchema>;
/** A checked `websocket` call template. */
export type WebSocketTemplate = z.output<typeof webSocketSchema>;
/** A checked call template of a text, or of a text file. */
export type TextTemplate = z.output<typeof contentSchema> | z.output<typeof fileSchema>;
/** A server in an `mcp` call template. */
type McpServer = z.output<typeof mcpServerSchema>;

/** The schema of a type. */
export function getSchema<T extends keyof typeof SCHEMAS>(type: T): z.ZodType<z.output<(typeof SCHEMAS)[T]>> {
  return SCHEMAS[type] as unknown as z.ZodType<z.output<(typeof SCHEMAS)[T]>>;
}

/** Removes nulls at the top level, which Python writes for missing values. */
export function withoutNulls(template: Document): Document {
  return Object.fromEntries(Object.entries(template).filter(([, value]) => value !== null));
}

/** A tool of a manual, with an unchecked call template. */
export interface ManualTool {
  /** The last part of its name. The part before it is the manual's name. */
  readonly name: string;
  /** Its name in the manual. */
  readonly fullName: string;
  readonly description: string;
  readonly inputs: JsonSchema;
  /** Null if the manual gives none. */
  readonly outputs: JsonSchema | null;
  /** The type of its call template. */
  readonly type: string;
  readonly template: Document;
  /** Its place in the manual. */
  readonly at: string;
  /** The start of error messages about it. */
  readonly subject: string;
}

/** The tools of a manual. */
interface ManualTools {
  readonly tools: readonly ManualTool[];
  readonly leftOut: readonly LeftOutTool[];
}

const MAX_NAME = 128;

/**
 * Reads the tools whose call templates are allowed. Tools with the same name are all left out, since they cannot be
 * told apart.
 *
 * @param refusal why a type of call templates is not allowed; completes a sentence after "since". Undefined if it is.
 * @throws ToolNodeError E_TOOL_CONFIG that names the place of an error.
 */
export function manualTools(
  { tools }: Document,
  refusal: (type: string) => string | undefined,
  source: string,
  subject: string,
): ManualTools {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  if (list.length > MAX_TOOLS)
    throw wrong(`${subject} has more than ${MAX_TOOLS} tools in its manual, the limit here.`);
  const read = list.map((tool, index) => {
    const one = toolAt(tool, `tools[${index}]`, source, subject);
    return { one, reason: refusal(one.type) };
  });
  const names = new Map<string, number>();
  for (const { one, reason } of read) {
    if (reason === undefined) names.set(one.name, (names.get(one.name) ?? 0) + 1);
  }
  const found: ManualTool[] = [];
  const leftOut: LeftOutTool[] = [];
  for (const { one, reason } of read) {
    const why = reason ?? ((names.get(one.name) ?? 0) > 1 ? "another tool of the manual has the same name" : undefined);
    if (why === undefined) found.push(one);
    else leftOut.push(toLeftOutTool(one, why));
  }
  return { tools: found, leftOut };
}

/** A tool that is not offered, for events. */
export function toLeftOutTool({ fullName, type }: Pick<ManualTool, "fullName" | "type">, reason: string): LeftOutTool {
  return { name: toSafeName(fullName), type: type.slice(0, 32).replace(/\W/g, "_"), reason };
}

/** Why a type of call templates is not used. */
const TYPE_REASONS = {
  unknown: "call templates of this type are not supported",
  fetched: "only a manual in the configuration itself may name things on this machine",
  notAllowed: "allowed_communication_protocols does not name its type",
  nodeOnly: "it can only be called in Node",
  commandsOnly: "the transport cli only runs commands: use the manual in a source with the transport utcp",
} as const;

/** Which types of call templates may be used. */
export interface TypeRules {
  /** From the configuration. null or empty for the default. */
  readonly allowed: readonly string[] | null;
  /** The default. */
  readonly byDefault: readonly string[];
  /** Whether the manual is inline. */
  readonly isOwn: boolean;
  /** The types that are supported here. */
  readonly runs: readonly string[];
  /** Why other types are not supported. */
  readonly elsewhere: "nodeOnly" | "commandsOnly";
}

/** Why a type of call templates may not be used. Completes a sentence after "since"; undefined if it may. */
export function typeRefusal(
  type: string,
  { allowed, byDefault, isOwn, runs, elsewhere }: TypeRules,
): string | undefined {
  if (!(CALL_TEMPLATE_TYPES as readonly string[]).includes(type)) return TYPE_REASONS.unknown;
  if (!isOwn && (LOCAL_TYPES as readonly string[]).includes(type)) return TYPE_REASONS.fetched;
  if (!runs.includes(type)) return TYPE_REASONS[elsewhere];
  const types = allowed === null || allowed.length === 0 ? byDefault : allowed;
  return types.includes(type) ? undefined : TYPE_REASONS.notAllowed;
}

/** Maximum reasons, and tools for each, in one message. */
const MAX_TOLD = 3;

/** The error for a document without any usable tool. */
export function nothingOffered(subject: string, leftOut: readonly LeftOutTool[]): ToolNodeError {
  const byReason = new Map<string, LeftOutTool[]>();
  for (const tool of leftOut) byReason.set(tool.reason, [...(byReason.get(tool.reason) ?? []), tool]);
  const told = [...byReason].slice(0, MAX_TOLD).map(([reason, tools]) => {
    const names = tools.slice(0, MAX_TOLD).map(({ name, type }) => `${quoteName(name)} of the type ${type}`);
    return `not ${names.join(", ")}${tools.length > MAX_TOLD ? " and others" : ""}, since ${reason}`;
  });
  const ofTypes: readonly string[] = Object.values(TYPE_REASONS);
  const isUnsupported = leftOut.every(({ reason }) => ofTypes.includes(reason));
  const sentence = `${subject} has no usable tool in its document: ${told.join("; ")}.`;
  return isUnsupported ? toUnsupportedError(sentence) : wrong(sentence);
}

/** Checks a value against a schema. Errors name only the place, since values may be secrets. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, subject: string, at: string): T {
  // zod would compile code, which a content security policy may forbid and report.
  const result = schema.safeParse(value, { jitless: true });
  if (result.success) return result.data;
  const path = result.error.issues[0]?.path ?? [];
  throw toMalformedError(
    subject,
    path.reduce<string>((place, key) => `${place}.${String(key).slice(0, 64)}`, at),
  );
}

/** The error for an invalid manual, or an invalid tool in it. */
function toMalformedError(subject: string, at: string): ToolNodeError {
  return wrong(`${subject} is not a valid UTCP manual: ${at} is missing or wrong.`);
}

function toolAt(tool: unknown, at: string, source: string, subject: string): ManualTool {
  if (!isObject(tool)) throw toMalformedError(subject, at);
  const { name, description, inputs, outputs, tool_call_template: template } = tool;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) throw toMalformedError(subject, `${at}.name`);
  const own = name.slice(name.lastIndexOf(".") + 1);
  if (own === "") throw toMalformedError(subject, `${at}.name`);
  const named = toSubject({ source, tool: own });
  if (!isObject(template)) throw toMalformedError(named, `${at}.tool_call_template`);
  const type = template["call_template_type"];
  if (typeof type !== "string") throw toMalformedError(named, `${at}.tool_call_template.call_template_type`);
  if (!isObject(inputs ?? {})) throw toMalformedError(named, `${at}.inputs`);
  return {
    name: own,
    fullName: name,
    description: typeof description === "string" ? description : "",
    inputs: isObject(inputs) ? cleanSchema(inputs) : {},
    outputs: isObject(outputs) && Object.keys(outputs).length > 0 ? cleanSchema(outputs) : null,
    type,
    template,
    at,
    subject: named,
  };
}

/** Removes nulls that Python writes for keywords without a value. */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const cleanNode = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(cleanNode);
    if (!isObject(node)) return node;
    const entries = Object.entries(node).filter(([key, value]) => value !== null || MAY_BE_NULL.has(key));
    return Object.fromEntries(entries.map(([key, value]) => [key, MAY_BE_NULL.has(key) ? value : cleanNode(value)]));
  };
  return cleanNode(schema) as JsonSchema;
}

const MAY_BE_NULL: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example"]);

/** A call template of an HTTP request, with its defaults filled in. */
export interface HttpTemplate {
  readonly call_template_type: "http" | "sse" | "streamable_http";
  /** For `sse` the method of requests with a body. Without a body it is GET. */
  readonly http_method: string;
  /** May contain `{name}` for arguments, and variables. */
  readonly url: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The argument for the body, or null. */
  readonly body_field: string | null;
  /** Arguments that become headers. */
  readonly header_fields: readonly string[];
  /** The type of events that are read, or null for all. */
  readonly event_type: string | null;
  readonly auth: TemplateAuth | undefined;
  /** Whether `auth` was inferred from the API's description. It may then lack values. */
  readonly isAuthOptional: boolean;
}

/** A tool and its call template. */
export interface HttpTool extends SourceTool {
  readonly template: HttpTemplate;
}

/** Methods that only read (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Methods that can be repeated (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set([...SAFE, "PUT", "DELETE"]);

/** What the method says about the effects of a tool. */
export function describeEffects(method: string): { readonly isRepeatable: boolean; readonly isReadOnly: boolean } {
  const name = method.toUpperCase();
  return { isRepeatable: IDEMPOTENT.has(name), isReadOnly: SAFE.has(name) };
}

/** Adds the type `object` to an input schema without a type. */
function inputSchema(inputs: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.hasOwn(inputs, "type") ? inputs : { type: "object", ...inputs };
}

/** A placeholder in a URL. */
export const PARAMETER: RegExp = /\{([^{}]{1,256})\}/g;

/** The names of placeholders in a URL, each once. */
export function parametersIn(url: string): readonly string[] {
  return [...new Set(Array.from(url.matchAll(PARAMETER), ([, name = ""]) => name))];
}

/** A tool that sends an HTTP request. */
export function requestTool(tool: ManualTool, template: RequestTemplate): HttpTool {
  const made = toHttpTemplate(template);
  return { ...plainTool(tool), ...describeEffects(made.http_method), template: made };
}

/** A tool without its call template. Manuals do not say whether a call may be repeated, so it may not. */
export function plainTool({ name, description, inputs, outputs }: ManualTool): SourceTool {
  return {
    name,
    description,
    input_schema: inputSchema(inputs),
    ...(outputs !== null && { output_schema: outputs }),
    isRepeatable: false,
    isReadOnly: false,
  };
}

function toHttpTemplate(template: RequestTemplate): HttpTemplate {
  const { url, headers, header_fields, body_field, auth } = template;
  const same = { url, headers, header_fields, body_field, auth, isAuthOptional: false } as const;
  if (template.call_template_type === "sse") {
    const { call_template_type, event_type } = template;
    const http_method = body_field === null ? "GET" : "POST";
    return { ...same, call_template_type, http_method, content_type: "application/json", event_type };
  }
  const { call_template_type, http_method, content_type } = template;
  return { ...same, call_template_type, http_method, content_type, event_type: null };
}

/** A tool of an MCP server. */
export interface McpToolTemplate {
  readonly call_template_type: "mcp";
  readonly server: McpServer;
  /** The server's name for it. */
  readonly tool: string;
  readonly auth: TemplateAuth | undefined;
}

/**
 * The server of a tool, and the tool's name there. The tool's name in a manual is `server.tool`, possibly after the
 * manual's own name. Undefined if there are several servers and the name matches none.
 */
export function findServer(
  { fullName, name }: Pick<ManualTool, "fullName" | "name">,
  servers: Readonly<Record<string, McpServer>>,
): { readonly server: McpServer; readonly tool: string } | undefined {
  const parts = fullName.split(".");
  for (const at of [0, 1]) {
    const [key = "", rest] = [parts[at], parts.slice(at + 1).join(".")];
    const server = Object.hasOwn(servers, key) ? servers[key] : undefined;
    if (server !== undefined && rest !== "") return { server, tool: rest };
  }
  const [only, ...others] = Object.values(servers);
  return only === undefined || others.length > 0 ? undefined : { server: only, tool: name };
}
