/**
 * From a connection string to tools: a UTCP manual, an OpenAPI description, or an address that takes requests
 * (ToolNode 2.1 `UtcpMode`).
 * @module
 */
import { fromStatus, type ToolPlace } from "../../adapt-error.js";
import { subjectOf } from "../../adapting/place.js";
import { ToolAuthError } from "../../errors.js";
import { isInline } from "../../config/connection.js";
import { documentVariables } from "../document-variables.js";
import { wrong } from "../../problem.js";
import type { HttpTerms } from "../terms.js";
import { boundedText, kindOf, parsedDocument, tooLarge, type Document } from "../utcp/document.js";
import { addressOf } from "./addresses.js";
import { bytesOf } from "./answer.js";
import { httpTools } from "./manual.js";
import { openApiTools } from "./openapi.js";
import { originOf } from "./request.js";
import { send, type HttpAnswer } from "./send.js";
import type { HttpTool } from "./tool.js";

/** What a source has to offer. */
export interface Discovered {
  readonly tools: readonly HttpTool[];
  /** Where its document came from; null for one that is part of the configuration. */
  readonly from: URL | null;
  /** Origins that are told who asks. */
  readonly trusted: ReadonlySet<string>;
}

/** What discovery needs beside the terms. */
export interface Discovery {
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
}

/** Paths of documents. */
const DOCUMENT = /\.(?:json|ya?ml)$|\/utcp$/i;

/**
 * Finds a source's tools. Who asks is told only where the document is not given to everybody; a user who did not consent yet
 * is waited for then, and nobody is where none is named and the address may be no document's.
 *
 * @throws ToolNodeError E_TOOL_CONFIG where there is no document that can be read, E_TOOL_UNSUPPORTED for WebSockets, what
 * `fromStatus` and `adaptFetchError` make of a server's refusal.
 */
export async function discovered(terms: HttpTerms, discovery: Discovery): Promise<Discovered> {
  const { name, connection, utcp_mode: mode = "auto", trusted_origins: trusted = [] } = terms;
  const place = { source: name };
  if (isInline(connection)) {
    const tools = await inlineTools(connection, place);
    return { tools, from: null, trusted: new Set([...trusted, ...originsOf(tools, terms)]) };
  }
  const from = addressOf(connection, name);
  const origins = new Set([...trusted, from.origin]);
  if (mode === "base_url") return { tools: [requestTool(from)], from, trusted: origins };
  const isDocument = mode === "manual_url" || DOCUMENT.test(from.pathname);
  const document = await fetchedDocument(from, terms, discovery, isDocument);
  if (document === undefined) return { tools: [requestTool(from)], from, trusted: origins };
  return { tools: await toolsOf(document, from, place), from, trusted: origins };
}

async function inlineTools(text: string, place: ToolPlace): Promise<readonly HttpTool[]> {
  const document = await parsedDocument(text, subjectOf(place));
  if (document === undefined) throw noDocument(place);
  return toolsOf(document, null, place);
}

/** Undefined where an address turns out to be that of an API, and no document was promised. */
async function fetchedDocument(
  from: URL,
  terms: HttpTerms,
  discovery: Discovery,
  isPromised: boolean,
): Promise<Document | undefined> {
  const place = { source: terms.name };
  const { response } = await asked(from, terms, discovery, isPromised);
  if (!response.ok) {
    await response.body?.cancel().catch(() => undefined);
    // A server that is in trouble may well have a document, another time.
    const isRefusal = response.status >= 400 && response.status < 500 && response.status !== 429;
    if (isRefusal && !isPromised) return undefined;
    throw fromStatus(response.status, response.headers, place);
  }
  const text = await boundedText(bytesOf(response, discovery.signal, place));
  if (text === undefined && isPromised) throw tooLarge(subjectOf(place));
  const document = text === undefined ? undefined : await parsedDocument(text, subjectOf(place));
  if (document !== undefined && kindOf(document) !== "unknown") return document;
  if (isPromised) throw noDocument(place);
  return undefined;
}

async function asked(from: URL, terms: HttpTerms, discovery: Discovery, isPromised: boolean): Promise<HttpAnswer> {
  const { authorize, signal } = discovery;
  const sending = { fetch: terms.fetch ?? globalThis.fetch, signal, place: { source: terms.name } };
  const headers = new Headers({ accept: "application/json, application/yaml;q=0.9, */*;q=0.5" });
  const first = await send({ method: "GET", url: from, headers }, sending);
  if (first.response.status !== 401 && first.response.status !== 403) return first;
  await first.response.body?.cancel().catch(() => undefined);
  const own = await authorize().catch((error: unknown) => {
    // Whose consent can be asked for is asked by whoever gets the error.
    const isEnd = !(error instanceof ToolAuthError) || error.status !== undefined;
    if (isPromised || isEnd) throw error;
    return {};
  });
  if (Object.keys(own).length === 0) return first;
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return send({ method: "GET", url: from, headers }, sending);
}

async function toolsOf(document: Document, from: URL | null, place: ToolPlace): Promise<readonly HttpTool[]> {
  const kind = kindOf(document);
  if (kind === "manual") return httpTools(document, place.source, subjectOf(place));
  if (kind === "openapi") return openApiTools(document, from, subjectOf(place));
  throw noDocument(place);
}

/** Whoever wrote the configuration wrote these addresses too. */
function originsOf(tools: readonly HttpTool[], terms: HttpTerms): readonly string[] {
  const variables = documentVariables(terms);
  return tools.flatMap(({ name, template }) => {
    try {
      return [originOf(template, variables, { source: terms.name, tool: name })];
    } catch {
      // Said when the tool is called; others may be of use.
      return [];
    }
  });
}

/** The one tool of an address of which nothing is known but that it takes requests. */
function requestTool(url: URL): HttpTool {
  return {
    name: "post",
    description: `Sends a POST request with a JSON body to the API at ${url.host}. Other arguments go into the query.`,
    input_schema: {
      type: "object",
      properties: { body: { description: "The request body, any JSON value" } },
      additionalProperties: true,
    },
    isRepeatable: false,
    isReadOnly: false,
    template: {
      http_method: "POST",
      url: url.href,
      content_type: "application/json",
      headers: {},
      body_field: "body",
      header_fields: [],
      auth: undefined,
      isAuthOptional: true,
    },
  };
}

function noDocument(place: ToolPlace): Error {
  const wanted = "a UTCP manual or an OpenAPI description, in JSON or YAML";
  return wrong(`${subjectOf(place)} has no document that describes its tools: its connection must lead to ${wanted}.`);
}
