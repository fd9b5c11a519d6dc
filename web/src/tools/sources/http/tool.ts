/**
 * A tool that is called by an HTTP request, as its document describes it.
 * @module
 */
import type { HttpCallTemplate } from "@utcp/http";
import type { SourceTool } from "../../source.js";
import { isObject, type Document } from "../utcp/document.js";
import { checked, manualTools, type Parser } from "../utcp/manual.js";

/** Who asks, as a document wants to be told (UTCP "auth"); values may name variables. */
export type HttpAuth =
  | {
      readonly auth_type: "api_key";
      readonly api_key: string;
      readonly var_name: string;
      readonly location: "header" | "query" | "cookie";
    }
  | { readonly auth_type: "basic"; readonly username: string; readonly password: string }
  | {
      readonly auth_type: "oauth2_user";
      readonly access_token: string;
      readonly var_name?: string | undefined;
      readonly prefix?: string | undefined;
    };

/** UTCP's `http` call template, with its defaults. */
export interface HttpTemplate {
  readonly http_method: string;
  /** May hold `{name}` for arguments, and variables. */
  readonly url: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The argument that is the body. */
  readonly body_field: string;
  /** Arguments that are headers. */
  readonly header_fields: readonly string[];
  readonly auth: HttpAuth | undefined;
  /** Whether `auth` was made up from what the document says of its API, and may go unanswered. */
  readonly isAuthOptional: boolean;
}

/** A tool and how it is called. */
export interface HttpTool extends SourceTool {
  readonly template: HttpTemplate;
}

/** Methods that only look (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Methods whose repetition does no more than the first of them (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set([...SAFE, "PUT", "DELETE"]);

/** What a tool's method says of calling it. */
export function effectsOf(method: string): { readonly isRepeatable: boolean; readonly isReadOnly: boolean } {
  const name = method.toUpperCase();
  return { isRepeatable: IDEMPOTENT.has(name), isReadOnly: SAFE.has(name) };
}

/** An input schema that says what every one of them is: that of an object. */
export function inputSchema(inputs: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.hasOwn(inputs, "type") ? inputs : { type: "object", ...inputs };
}

/** A place for an argument in a URL. */
export const PARAMETER: RegExp = /\{([^{}]{1,256})\}/g;

/** The arguments that a URL has places for, each once. */
export function parametersIn(url: string): readonly string[] {
  return [...new Set(Array.from(url.matchAll(PARAMETER), ([, name = ""]) => name))];
}

/** The tools of a manual that are called over HTTP. */
export async function httpTools(document: Document, source: string, subject: string): Promise<readonly HttpTool[]> {
  const tools = manualTools(document, ["http", "streamable_http"], source, subject);
  const { HttpCallTemplateSchema } = await import("@utcp/http");
  return tools.map(({ name, description, inputs, outputs, template: written, at, subject: named }) => {
    const parsed = checked(
      HttpCallTemplateSchema as unknown as Parser,
      // Both types say the same of a request; an answer that streams is read to its end.
      { ...withoutNulls(written), call_template_type: "http" },
      named,
      `${at}.tool_call_template`,
    );
    const template = templateOf(parsed);
    return {
      name,
      description,
      input_schema: inputSchema(inputs),
      ...(outputs !== null && { output_schema: outputs }),
      ...effectsOf(template.http_method),
      template,
    };
  });
}

/** A call template that the library has checked, as we use it. */
export function templateOf(parsed: unknown): HttpTemplate {
  const template = parsed as HttpCallTemplate;
  return {
    http_method: template.http_method,
    url: template.url,
    content_type: template.content_type,
    headers: template.headers ?? {},
    body_field: template.body_field ?? "body",
    header_fields: [...new Set(template.header_fields ?? [])],
    auth: authOf(template.auth),
    isAuthOptional: false,
  };
}

// Python writes null for whatever has no value.
function withoutNulls(template: Document): Document {
  return Object.fromEntries(Object.entries(template).filter(([, value]) => value !== null));
}

// A client's own credentials are exchanged for a token by whoever keeps tokens: see auth_type.
function authOf(auth: unknown): HttpAuth | undefined {
  if (!isObject(auth)) return undefined;
  const type = auth["auth_type"];
  // The library checks, and leaves its defaults to others.
  if (type === "api_key") return { var_name: "X-Api-Key", location: "header", ...auth } as unknown as HttpAuth;
  return type === "basic" || type === "oauth2_user" ? (auth as unknown as HttpAuth) : undefined;
}
