/**
 * The tools of a UTCP manual that are called over HTTP, read with the schema of `@utcp/http`.
 * @module
 */
import type { HttpCallTemplate } from "@utcp/http";
import { isObject, type Document } from "../utcp/document.js";
import { checked, manualTools, type Parser } from "../utcp/manual.js";
import { inputSchema, effectsOf, type HttpAuth, type HttpTemplate, type HttpTool } from "./tool.js";

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
