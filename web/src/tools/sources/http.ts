/**
 * Tools of an HTTP API: an OpenAPI description, a UTCP manual, or a bare address. For browsers and Node.
 * @module
 */
import { fromStatus, type ToolPlace } from "../adapt-error.js";
import { subjectOf } from "../adapting/place.js";
import { isInline } from "../config/connection.js";
import { ToolAuthError } from "../errors.js";
import { wrong } from "../problem.js";
import type { Authorize, OpenOptions, SourceCall, SourceConnection, SourceResult, ToolSource } from "../source.js";
import { checkArguments } from "./arguments.js";
import {
  DocumentConnection,
  documentVariables,
  type Discover,
  type DocumentVariables,
  type HttpTerms,
} from "./document-source.js";
import { bytesOf, gatedAnswer } from "./http/answer.js";
import { openApiTools } from "./http/openapi.js";
import { addressOf, mayGoOn, originOf, requestOf, send, type HttpAnswer } from "./http/request.js";
import { httpTools, type HttpTool } from "./http/tool.js";
import { boundedText, kindOf, parsedDocument, tooLarge, type Document } from "./utcp/document.js";

/**
 * A source whose tools are called by HTTP requests. With the transport `http` its connection is the address of an OpenAPI
 * description (JSON or YAML), such a description itself, or the base URL of an API, which becomes one tool that sends POST
 * requests. With the transport `utcp` it is the address of a UTCP manual, or a manual itself as text. Tools with call templates of
 * the types `http` and `streamable_http` are offered; a manual cannot start commands, for which there is the transport `cli`.
 *
 * Bodies of answers pass the gate while they come: JSON as it is, text as a string, anything else as its exact bytes.
 *
 * Of UTCP's libraries only the schema of call templates and the converter of OpenAPI descriptions are used, neither of
 * which prints anything as it is called here: the client in there writes to standard output, and makes lossy text of
 * binary answers.
 */
export function httpSource(terms: HttpTerms): ToolSource {
  return {
    async open({ authorize, signal: opening }: OpenOptions): Promise<SourceConnection> {
      const discover = (signal: AbortSignal): Promise<Discovered> => discovered(terms, { authorize, signal });
      return new HttpConnection(terms, discover, await discover(opening), authorize);
    },
  };
}

class HttpConnection extends DocumentConnection<HttpTerms, Discovered> {
  readonly #authorize: Authorize;
  readonly #variables: DocumentVariables;

  constructor(terms: HttpTerms, discover: Discover<Discovered>, found: Discovered, authorize: Authorize) {
    super(terms, discover, found);
    this.#authorize = authorize;
    this.#variables = documentVariables(terms);
  }

  async call({ tool: name, args, dialect, keepOriginal, scope, signal, alive }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice, fetch = globalThis.fetch, auth_type, auth_config } = this.terms;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.tool(name);
    checkArguments(args, schema, subjectOf(place));
    const { from, trusted } = this.found;
    const authorize = this.#authorize;
    signal.throwIfAborted();
    const variables = this.#variables;
    const keyHeader = auth_type === "api_key" ? auth_config?.["header"] : undefined;
    const request = await requestOf({ template, args, variables, trusted, authorize, keyHeader, place });
    if (from !== null && !trusted.has(request.url.origin) && !mayGoOn(from, request.url)) {
      const where = "on this machine, or on another server in the clear";
      throw wrong(`${subjectOf(place)} is ${where}, which its document may not ask for: give the document as text.`);
    }
    const answer = await send(request, { fetch, signal, place });
    const options = { tool: name, namespace: source, scope, dialect, keepOriginal, signal };
    return { gated: await gatedAnswer(answer, sluice, options, place, alive), isError: false };
  }
}

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
