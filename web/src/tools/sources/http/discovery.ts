/**
 * Discovers the tools of a source over HTTP: finds and reads its document, and checks which tools may be offered.
 * @module
 */
import { adaptRefusal } from "../../adapt-error.js";
import { Destinations, toOrigin as originOfUrl } from "../../addresses.js";
import { LOCAL_TYPES, NETWORK_TYPES } from "../../config/config.js";
import { isInline } from "../../config/connection.js";
import { toSubject, ToolAuthError, wrong, type ToolPlace } from "../../errors.js";
import type { SourceConnection } from "../../source.js";
import type { LeftOutTool, SourceTool } from "../../source-features.js";
import { documentVariables, fillDocument, type Found, type HttpDeps } from "../document-source.js";
import { readBoundedText, type Document, detectKind, parseDocument, tooLarge } from "../utcp/document.js";
import {
  validate,
  type HttpTemplate,
  type HttpTool,
  toLeftOutTool,
  type ManualTool,
  manualTools,
  type McpToolTemplate,
  nothingOffered,
  plainTool,
  type RequestTemplate,
  requestTool,
  getSchema,
  findServer,
  type TemplateAuth,
  type TextTemplate,
  typeRefusal,
  type TypeRules,
  type WebSocketTemplate,
  withoutNulls,
} from "../utcp/manual.js";
import { readBody } from "./answer.js";
import { openApiTools } from "./openapi.js";
import { parseSourceAddress, type HttpAnswer, fixOrigin, send } from "./request.js";

/** A command of a manual. The connection for all commands calls it. */
interface CommandOfManual {
  readonly call_template_type: "cli";
}

/** How a tool is called. */
type ToolTemplate = HttpTemplate | WebSocketTemplate | McpToolTemplate | TextTemplate | CommandOfManual;

/** A tool and its call template. */
type OfferedTool = SourceTool & { readonly template: ToolTemplate };

/** The result of discovery. */
export interface Discovered extends Found<ToolTemplate> {
  /** Where requests may go. */
  readonly destinations: Destinations;
  /** Origins that get credentials. */
  readonly trusted: ReadonlySet<string>;
}

/** What discovery needs beside the source's options. */
interface Discovery {
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
  /** Connects to the commands of a manual. */
  readonly commands: (manual: string, signal: AbortSignal) => Promise<SourceConnection>;
}

/** Paths that look like documents. */
const DOCUMENT = /\.(?:json|ya?ml)$|\/utcp$/i;

/**
 * Discovers a source's tools. Credentials are sent only if the document is not public. A user's consent is then
 * waited for, unless no user is named and the address may not be a document's.
 *
 * @throws ToolNodeError E_TOOL_CONFIG if there is no readable document or nothing in it can be offered;
 *   E_TOOL_UNSUPPORTED for WebSockets; errors of `adaptRefusal` and `adaptFetchError`.
 */
export async function discoverTools(deps: HttpDeps, discovery: Discovery): Promise<Discovered> {
  const { name, connection, utcp_mode: mode = "auto", trusted_origins: trusted = [] } = deps;
  const place = { source: name };
  if (isInline(connection)) {
    const destinations = createDestinations(null, deps);
    const document = await parseDocument(connection, toSubject(place));
    if (document === undefined) throw noDocument(place);
    const offer = await toolsIn(document, { from: null, destinations, deps, discovery });
    return { ...offer, destinations, trusted: new Set([...trusted, ...originsIn(offer.tools, deps)]) };
  }
  const from = parseSourceAddress(connection, name);
  const destinations = createDestinations(from, deps);
  const rest = { destinations, trusted: new Set([...trusted, from.origin]) };
  const bare = { tools: [postTool(from)], leftOut: [], ...rest };
  if (mode === "base_url") return bare;
  const isDocument = mode === "manual_url" || DOCUMENT.test(from.pathname);
  const document = await fetchDocument(from, deps, discovery, isDocument, destinations);
  if (document === undefined) return bare;
  return { ...(await toolsIn(document, { from, destinations, deps, discovery })), ...rest };
}

function createDestinations(from: URL | null, { platform, ...rules }: HttpDeps): Destinations {
  return new Destinations(from, { ...(platform?.lookup !== undefined && { lookup: platform.lookup }), ...rules });
}

/** Undefined if the address turns out to be an API's, and a document was not required. */
async function fetchDocument(
  from: URL,
  deps: HttpDeps,
  discovery: Discovery,
  isPromised: boolean,
  destinations: Destinations,
): Promise<Document | undefined> {
  const place = { source: deps.name };
  const { response } = await requestDocument(from, deps, discovery, isPromised, destinations);
  if (!response.ok) {
    // A failing server may have a document all the same.
    const isRefusal = response.status >= 400 && response.status < 500 && response.status !== 429;
    if (isRefusal && !isPromised) {
      await response.body?.cancel().catch(() => undefined);
      return undefined;
    }
    const own = Object.values(await discovery.authorize().catch(() => ({})));
    throw await adaptRefusal(response, place, { secrets: [...(deps.secrets ?? []), ...own] });
  }
  const text = await readBoundedText(readBody(response, discovery.signal, place));
  if (text === undefined && isPromised) throw tooLarge(toSubject(place));
  const document = text === undefined ? undefined : await parseDocument(text, toSubject(place));
  if (document !== undefined && detectKind(document) !== "unknown") return document;
  if (isPromised) throw noDocument(place);
  return undefined;
}

async function requestDocument(
  from: URL,
  deps: HttpDeps,
  discovery: Discovery,
  isPromised: boolean,
  destinations: Destinations,
): Promise<HttpAnswer> {
  const { authorize, signal } = discovery;
  const sending = { fetch: deps.fetch ?? globalThis.fetch, signal, destinations, place: { source: deps.name } };
  const headers = new Headers({ accept: "application/json, application/yaml;q=0.9, */*;q=0.5" });
  const first = await send({ method: "GET", url: from, headers }, sending);
  if (first.response.status !== 401 && first.response.status !== 403) return first;
  await first.response.body?.cancel().catch(() => undefined);
  const own = await authorize().catch((error: unknown) => {
    // The caller asks for consent.
    const isEnd = !(error instanceof ToolAuthError) || error.status !== undefined;
    if (isPromised || isEnd) throw error;
    return {};
  });
  if (Object.keys(own).length === 0) return first;
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return send({ method: "GET", url: from, headers }, sending);
}

/** A document, and what its tools are checked against. */
interface Reading {
  /** Null for an inline document. */
  readonly from: URL | null;
  readonly destinations: Destinations;
  readonly deps: HttpDeps;
  readonly discovery: Discovery;
}

async function toolsIn(document: Document, reading: Reading): Promise<Found<ToolTemplate>> {
  const { from, deps } = reading;
  const { name: source, allowed_communication_protocols: allowed = null, platform } = deps;
  const subject = toSubject({ source });
  const hasLocal = platform?.local !== undefined;
  const rules: TypeRules = {
    allowed,
    byDefault: NETWORK_TYPES,
    isOwn: from === null,
    runs: hasLocal ? [...NETWORK_TYPES, ...LOCAL_TYPES] : NETWORK_TYPES,
    elsewhere: "nodeOnly",
  };
  const offer = await toOffer(document, reading, rules, subject);
  const { tools, leftOut } = offer;
  if (tools.length === 0 && leftOut.length > 0) throw nothingOffered(subject, leftOut);
  return offer;
}

async function toOffer(
  document: Document,
  reading: Reading,
  rules: TypeRules,
  subject: string,
): Promise<Found<ToolTemplate>> {
  const { from, deps } = reading;
  const kind = detectKind(document);
  if (kind === "openapi") {
    const all = openApiTools(document, from, subject);
    const refusal = typeRefusal("http", rules);
    return siftTools(all, ({ name, template }) => {
      const reason = refusal ?? explainRefusal(template, reading);
      return reason === undefined ? undefined : toLeftOutTool({ fullName: name, type: "http" }, reason);
    });
  }
  if (kind !== "manual") throw noDocument({ source: deps.name });
  const { tools, leftOut } = manualTools(document, (type) => typeRefusal(type, rules), deps.name, subject);
  const commands = await collectCommands(tools, reading);
  const found = siftTools(
    tools.map((tool) => ({ tool, made: toOfferedTool(tool, reading, rules, commands) })),
    ({ tool, made }) => (typeof made === "string" ? toLeftOutTool(tool, made) : undefined),
  );
  return {
    tools: found.tools.map(({ made }) => made as OfferedTool),
    leftOut: [...leftOut, ...found.leftOut],
  };
}

function siftTools<T>(
  all: readonly T[],
  test: (one: T) => LeftOutTool | undefined,
): { readonly tools: readonly T[]; readonly leftOut: readonly LeftOutTool[] } {
  const judged = all.map((one) => ({ one, left: test(one) }));
  return {
    tools: judged.flatMap(({ one, left }) => (left === undefined ? [one] : [])),
    leftOut: judged.flatMap(({ left }) => (left === undefined ? [] : [left])),
  };
}

/** The tool, or why it is not offered. */
function toOfferedTool(
  tool: ManualTool,
  reading: Reading,
  rules: TypeRules,
  commands: ReadonlyMap<string, SourceTool>,
): OfferedTool | string {
  const { template, subject, at } = tool;
  const place = `${at}.tool_call_template`;
  const read = withoutNulls(template);
  switch (tool.type) {
    case "cli": {
      const command = commands.get(tool.name);
      return command === undefined ? "its command is missing" : { ...command, template: COMMAND };
    }
    case "text":
    case "file":
      return { ...plainTool(tool), ...LOOKS, template: validate(getSchema(tool.type), read, subject, place) };
    case "mcp": {
      const { config, auth } = validate(getSchema("mcp"), read, subject, place);
      const named = findServer(tool, config.mcpServers);
      if (named === undefined) return "its name does not say which of its servers it belongs to";
      const made: McpToolTemplate = { call_template_type: "mcp", auth, ...named };
      return mcpRefusal(made, reading, rules) ?? { ...plainTool(tool), template: made };
    }
    case "websocket": {
      const made = validate(getSchema("websocket"), read, subject, place);
      return explainRefusal(made, reading) ?? { ...plainTool(tool), template: made };
    }
    default: {
      const schema = getSchema(tool.type as RequestTemplate["call_template_type"]);
      const made = requestTool(tool, validate<RequestTemplate>(schema, read, subject, place));
      return explainRefusal(made.template, reading) ?? made;
    }
  }
}

const COMMAND: CommandOfManual = { call_template_type: "cli" };
/** The effects of reading a file. */
const LOOKS = { isRepeatable: true, isReadOnly: true } as const;

/** Why a tool's address must not be called. Undefined if it may, or if only a call can tell. */
function explainRefusal({ url }: Pick<HttpTemplate, "url">, { deps, destinations }: Reading): string | undefined {
  const origin = tryWork(() => fixOrigin({ url }, documentVariables(deps), { source: deps.name }));
  const refusal = origin === undefined ? undefined : destinations.refusal(new URL(origin));
  // Do not show the value of a variable.
  const isWritten = refusal !== undefined && !/^[^/]*\/\/[^/?#]*\$/.test(url);
  return isWritten ? `${refusal} (${new URL(origin as string).host})` : refusal;
}

function mcpRefusal({ server }: McpToolTemplate, reading: Reading, rules: TypeRules): string | undefined {
  if ("url" in server) return explainRefusal(server, reading);
  if (!rules.isOwn) return "only a manual in the configuration itself may start a program";
  if (rules.allowed?.includes("mcp") !== true)
    return "it is a program, and allowed_communication_protocols does not name mcp";
  return reading.deps.platform?.local === undefined ? "programs can only be started in Node" : undefined;
}

/** The commands of a manual, by name. */
async function collectCommands(
  tools: readonly ManualTool[],
  { discovery }: Reading,
): Promise<ReadonlyMap<string, SourceTool>> {
  const commands = tools.filter(({ type }) => type === "cli");
  if (commands.length === 0) return new Map();
  const written = commands.map(({ name, description, inputs, outputs, template }) => ({
    name,
    description,
    inputs,
    outputs,
    tool_call_template: template,
  }));
  const { signal } = discovery;
  const connection = await discovery.commands(JSON.stringify({ tools: written }), signal);
  return new Map((await connection.tools(signal)).map((tool) => [tool.name, tool]));
}

/** The origins in an inline document, whose author wrote the configuration too. */
function originsIn(tools: readonly OfferedTool[], deps: HttpDeps): readonly string[] {
  const variables = documentVariables(deps);
  return tools.flatMap(({ name, template }) => {
    const place = { source: deps.name, tool: name };
    // Errors are reported when the tool is called; other tools may work.
    const origins = addressesIn(template).map((url) => tryWork(() => fixOrigin({ url }, variables, place)));
    const { auth } = template as { readonly auth?: TemplateAuth };
    if (auth?.auth_type === "oauth2") {
      origins.push(tryWork(() => originOfUrl(new URL(fillDocument(auth.token_url, variables, deps.name)))));
    }
    return origins.filter((origin) => origin !== undefined);
  });
}

function addressesIn(template: ToolTemplate): readonly string[] {
  if ("url" in template) return [template.url];
  return "server" in template && "url" in template.server ? [template.server.url] : [];
}

function tryWork<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The only tool of an API without a document. */
function postTool(url: URL): HttpTool {
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
      call_template_type: "http",
      http_method: "POST",
      url: url.href,
      content_type: "application/json",
      headers: {},
      body_field: "body",
      header_fields: [],
      event_type: null,
      auth: undefined,
      isAuthOptional: true,
    },
  };
}

function noDocument(place: ToolPlace): Error {
  const wanted = "a UTCP manual or an OpenAPI description, in JSON or YAML";
  return wrong(
    `${toSubject(place)} has no document that describes its tools: its connection must be the address of ${wanted}.`,
  );
}
