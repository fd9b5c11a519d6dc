/**
 * Tools of an HTTP API: an OpenAPI description, a UTCP manual, or a bare address. For browsers and Node.
 * @module
 */
import { NoOpArtifactStore } from "../../../artifacts/no-op.js";
import type { ArtifactScope } from "../../../artifacts/store.js";
import { adaptError } from "../../adapt-error.js";
import { isSafe, toOrigin } from "../../addresses.js";
import { ClientTokens } from "../../auth/tokens.js";
import {
  toSubject,
  ToolAuthError,
  ToolConnectionError,
  toUnsupportedError,
  wrong,
  type ToolPlace,
} from "../../errors.js";
import { SingleFlight } from "../../../core/keyed-work.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, ToolSource } from "../../source.js";
import { gateBody } from "../body.js";
import {
  checkArguments,
  type Discover,
  DocumentConnection,
  documentVariables,
  fillDocument,
  type HttpDeps,
  type LocalTools,
} from "../document-source.js";
import { mcpSource } from "../mcp/http.js";
import type {
  ClientCredentials,
  HttpTemplate,
  McpToolTemplate,
  TemplateAuth,
  TextTemplate,
  WebSocketTemplate,
} from "../utcp/manual.js";
import { gateAnswer } from "./answer.js";
import { discoverTools, type Discovered } from "./discovery.js";
import { checkDestination, type HttpRequest, buildRequest, send, type Sending } from "./request.js";
import { exchange, buildMessage, webPlatform } from "./web-socket.js";
import type { Variables } from "../../config/variables.js";

/**
 * Creates a source whose tools are HTTP requests.
 *
 * - `http`: the connection is the address of an OpenAPI description (JSON or YAML), the description itself, or the
 *   base URL of an API, which becomes one tool that sends POST requests.
 * - `utcp`: the connection is the address of a UTCP manual, or the manual itself. Tools that use this machine are
 *   offered only if the manual is inline and the configuration allows them.
 *
 * Bodies of answers pass the gate while they arrive: JSON as it is, text as a string, anything else as bytes.
 */
export function httpSource(deps: HttpDeps): ToolSource {
  return {
    async open(options: OpenOptions): Promise<SourceConnection> {
      const { authorize, signal: opening } = options;
      const commands = new Commands(deps, options);
      const discover = (signal: AbortSignal): Promise<Discovered> =>
        discoverTools(deps, { authorize, signal, commands: (manual, by) => commands.of(manual, by) });
      return new HttpConnection(deps, discover, await discover(opening), options, commands);
    },
  };
}

class HttpConnection extends DocumentConnection<HttpDeps, Discovered> {
  readonly #options: OpenOptions;
  readonly #commands: Commands;
  readonly #variables: Variables;
  readonly #servers = new McpServers();
  readonly #tokens: ClientTokens;

  constructor(
    deps: HttpDeps,
    discover: Discover<Discovered>,
    found: Discovered,
    options: OpenOptions,
    commands: Commands,
  ) {
    super(deps, discover, found);
    this.#options = options;
    this.#commands = commands;
    this.#variables = documentVariables(deps);
    this.#tokens = new ClientTokens(deps.name, deps.fetch ?? globalThis.fetch);
  }

  async call(call: SourceCall): Promise<SourceResult> {
    const { tool: name, args, signal } = call;
    const place = { source: this.deps.name, tool: name };
    const { template, input_schema: schema } = this.tool(name);
    signal.throwIfAborted();
    if (template.call_template_type === "cli") return this.#commands.call(call);
    checkArguments(args, schema, toSubject(place));
    switch (template.call_template_type) {
      case "mcp":
        return this.#renewing((tokens) => this.#mcp(template, call, place, tokens));
      case "websocket":
        return this.#renewing((tokens) => this.#webSocket(template, call, place, tokens));
      case "text":
      case "file":
        return this.#text(template, call, place);
      default:
        return this.#renewing((tokens) => this.#request(template, call, place, tokens));
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await Promise.all([this.#servers[Symbol.asyncDispose](), this.#commands[Symbol.asyncDispose]()]);
  }

  async #request(template: HttpTemplate, call: SourceCall, place: ToolPlace, used: Set<string>): Promise<SourceResult> {
    const { sluice } = this.deps;
    const request = await this.#toRequest(template, call.args, call.signal, place, used);
    const answer = await send(request, this.#sending(call.signal, place));
    const parts = template.call_template_type === "http" ? undefined : template;
    const secrets = [...(this.deps.secrets ?? []), ...collectSecrets(request, template, call.args)];
    const more = { alive: call.alive, parts, secrets };
    return { gated: await gateAnswer(answer, sluice, this.#transform(call), place, more), isError: false };
  }

  async #webSocket(
    template: WebSocketTemplate,
    call: SourceCall,
    place: ToolPlace,
    used: Set<string>,
  ): Promise<SourceResult> {
    const { platform = webPlatform, sluice } = this.deps;
    const { args: given, signal } = call;
    const fields: ReadonlySet<string> = new Set(template.header_fields);
    const [told, args] = [true, false].map((isTold) =>
      Object.fromEntries(Object.entries(given).filter(([name]) => fields.has(name) === isTold)),
    ) as [SourceCall["args"], SourceCall["args"]];
    const { url, headers } = await this.#toRequest(handshake(template), told, signal, place, used);
    headers.delete("accept");
    await checkDestination(url, this.#sending(signal, place));
    const isTrusted = this.found.trusted.has(toOrigin(url));
    const resolveKnown: Variables = (name) => (isTrusted ? this.#variables(name) : undefined);
    const message = buildMessage(template.message, {
      args,
      schema: this.tool(call.tool).input_schema,
      fill: (text) => fillDocument(text, resolveKnown, this.deps.name),
      subject: toSubject(place),
    });
    const asked = { url, headers, protocol: template.protocol, signal, place };
    const { bytes, claim } = await exchange(asked, message, template, platform.openSocket);
    call.alive?.();
    const body = { bytes: once(bytes), claim, mimeType: null, filename: null };
    return { gated: await gateBody(body, sluice, this.#transform(call)), isError: false };
  }

  async #mcp(template: McpToolTemplate, call: SourceCall, place: ToolPlace, used: Set<string>): Promise<SourceResult> {
    const { server, auth } = template;
    const { scope } = this.#options;
    if (!("url" in server)) {
      const { command, args, env, cwd } = server;
      const fill = (text: string): string => fillDocument(text, this.#variables, this.deps.name);
      const source = this.#local(place).program({
        argv: [fill(command), ...args.map(fill)],
        env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)])),
        folder: cwd === null || cwd === undefined ? null : fill(cwd),
      });
      return this.#servers.call(template, call, { source, authorize: async () => ({}), scope });
    }
    const handshaken = { url: server.url, headers: server.headers, header_fields: [], auth };
    const { signal } = call;
    const { url } = await this.#toRequest(handshake(handshaken), {}, signal, place, used);
    const sending = this.#sending(signal, place);
    await checkDestination(url, sending);
    const { name, sluice, store = new NoOpArtifactStore(), sampling = false } = this.deps;
    const isSse = server.transport === "sse" || /\/sse\/?$/.test(url.pathname);
    const source = mcpSource({
      name,
      sluice,
      store,
      sampling,
      url: url.href,
      transport: isSse ? "sse" : "http",
      fetch: (to, init) => this.#mcpFetch(to, init, place),
    });
    const authorize = async (): Promise<Readonly<Record<string, string>>> => {
      const { headers } = await this.#toRequest(handshake(handshaken), {}, undefined, place, used);
      headers.delete("accept");
      return Object.fromEntries(headers);
    };
    return this.#servers.call(template, call, { source, authorize, scope });
  }

  /** A `fetch` that only goes where requests may go. */
  async #mcpFetch(to: string | URL, init: RequestInit = {}, place: ToolPlace): Promise<Response> {
    const { method = "GET", body, headers, signal } = init;
    const request = {
      method,
      url: new URL(to),
      headers: new Headers(headers),
      ...(body !== undefined && body !== null && { body: body as string }),
    };
    return (await send(request, this.#sending(signal ?? new AbortController().signal, place))).response;
  }

  async #text(template: TextTemplate, call: SourceCall, place: ToolPlace): Promise<SourceResult> {
    const { sluice, name } = this.deps;
    const options = this.#transform(call);
    if ("content" in template) {
      const bytes = once(new TextEncoder().encode(template.content));
      const body = { bytes, claim: "unknown", mimeType: null, filename: null } as const;
      return { gated: await gateBody(body, sluice, options), isError: false };
    }
    const path = fillDocument(template.file_path, this.#variables, name);
    const filename = path.split(/[/\\]/).pop() ?? null;
    const bytes = this.#local(place).file(path);
    try {
      const body = { bytes, claim: "unknown", mimeType: null, filename } as const;
      return { gated: await gateBody(body, sluice, options), isError: false };
    } catch (error) {
      call.signal.throwIfAborted();
      if (typeof (error as { readonly syscall?: unknown }).syscall !== "string") throw adaptError(error, place);
      // The path is not shown.
      throw wrong(`${toSubject(place)} has a file that cannot be read: check its path and permissions.`);
    }
  }

  #local(place: ToolPlace): LocalTools {
    const { platform } = this.deps;
    if (platform?.local !== undefined) return platform.local;
    throw toUnsupportedError(`${toSubject(place)} can only be called in Node.`);
  }

  #sending(signal: AbortSignal, place: ToolPlace): Sending {
    const { fetch = globalThis.fetch } = this.deps;
    return { fetch, signal, place, destinations: this.found.destinations };
  }

  #transform({ tool, scope, dialect, keepOriginal, signal }: SourceCall): Parameters<typeof gateAnswer>[2] {
    return { tool, namespace: this.deps.name, scope, dialect, keepOriginal, signal };
  }

  #toRequest(
    template: HttpTemplate,
    args: SourceCall["args"],
    signal: AbortSignal | undefined,
    place: ToolPlace,
    used: Set<string>,
  ): Promise<HttpRequest> {
    const { auth_type, auth_config } = this.deps;
    return buildRequest({
      template,
      args,
      variables: this.#variables,
      trusted: this.found.trusted,
      authorize: this.#options.authorize,
      keyHeader: auth_type === "api_key" ? auth_config?.["header"] : undefined,
      clientToken: async (credentials) => {
        const token = await this.#clientToken(credentials, signal, place);
        used.add(token);
        return token;
      },
      place,
    });
  }

  /** Secrets are sent only to trusted origins. */
  async #clientToken(
    { token_url, client_id, client_secret, scope = null }: ClientCredentials,
    signal: AbortSignal | undefined,
    place: ToolPlace,
  ): Promise<string> {
    const { destinations, trusted } = this.found;
    const url = URL.canParse(token_url) ? new URL(token_url) : undefined;
    if (url === undefined || !isSafe(url)) {
      throw wrong(`${toSubject(place)} has a token_url that is not safe to use: it must be an https: URL.`);
    }
    const refusal = trusted.has(url.origin)
      ? await destinations.refusalNow(url, signal)
      : "it is on another origin than the document, and trusted_origins does not name it";
    if (refusal !== undefined) {
      throw wrong(`${toSubject(place)} has a token_url that must not get a secret, because ${refusal}.`);
    }
    return this.#tokens.token({ token_url: url, client_id, client_secret, scope }, signal);
  }

  /** Repeats work once with a new token if the token was rejected. */
  async #renewing<T>(work: (used: Set<string>) => Promise<T>): Promise<T> {
    const used = new Set<string>();
    try {
      return await work(used);
    } catch (error) {
      if (used.size === 0 || !(error instanceof ToolAuthError) || error.status !== 401) throw error;
      for (const token of used) this.#tokens.refused(token);
      return work(new Set());
    }
  }
}

/** Headers without credentials. */
const PLAIN: readonly string[] = ["accept", "content-type"];

/** The credentials in a request: everything that the arguments did not supply. */
function collectSecrets(
  { url, headers }: Pick<HttpRequest, "url" | "headers">,
  { header_fields: fields }: Pick<HttpTemplate, "header_fields">,
  args: SourceCall["args"],
): readonly string[] {
  const given = new Set([...PLAIN, ...fields.map((name) => name.toLowerCase())]);
  const ours = [
    ...[...headers].filter(([name]) => !given.has(name)),
    ...[...url.searchParams].filter(([name]) => !Object.hasOwn(args, name)),
  ];
  return ours.map(([, value]) => value);
}

/** The request that opens a connection. */
function handshake({
  url,
  headers,
  header_fields,
  auth,
}: Pick<HttpTemplate, "url" | "headers" | "header_fields"> & {
  readonly auth?: TemplateAuth | undefined;
}): HttpTemplate {
  return {
    call_template_type: "http",
    http_method: "GET",
    content_type: "application/json",
    body_field: null,
    event_type: null,
    isAuthOptional: false,
    url,
    headers,
    header_fields,
    auth,
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The commands of a manual. The connection is kept while the manual stays the same. */
class Commands implements AsyncDisposable {
  readonly #deps: HttpDeps;
  readonly #options: OpenOptions;
  #known: { readonly manual: string; readonly connection: SourceConnection } | undefined;

  constructor(deps: HttpDeps, options: OpenOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async of(manual: string, signal: AbortSignal): Promise<SourceConnection> {
    if (this.#known?.manual === manual) return this.#known.connection;
    await this[Symbol.asyncDispose]();
    const { platform, auth_type = "none", auth_config, ...deps } = this.#deps;
    if (platform?.local === undefined) throw toUnsupportedError(`${toSubject({ source: deps.name })} has commands.`);
    // Without `env`, commands get no credentials.
    const isTold = auth_config !== undefined && Object.hasOwn(auth_config, "env");
    const source = platform.local.commands({
      ...deps,
      connection: manual,
      utcp_mode: "auto",
      auth_type: isTold ? auth_type : "none",
      ...(auth_config !== undefined && { auth_config }),
    });
    const connection = await source.open({ ...this.#options, signal });
    this.#known = { manual, connection };
    return connection;
  }

  call(call: SourceCall): Promise<SourceResult> {
    const { name } = this.#deps;
    if (this.#known !== undefined) return this.#known.connection.call(call);
    throw new ToolConnectionError(`${toSubject({ source: name })} was closed: connect it again.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const known = this.#known;
    this.#known = undefined;
    await known?.connection[Symbol.asyncDispose]();
  }
}

/** What connecting needs. */
interface Connecting {
  readonly source: ToolSource;
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
  readonly scope: ArtifactScope | undefined;
}

/** Connections to the MCP servers of one manual. */
class McpServers implements AsyncDisposable {
  readonly #connections = new Map<string, SourceConnection>();
  readonly #opening = new SingleFlight<SourceConnection>();
  readonly #over = new AbortController();

  /** Calls a tool. Connects to its server first if necessary. */
  async call({ server, tool, auth }: McpToolTemplate, call: SourceCall, connecting: Connecting): Promise<SourceResult> {
    const connection = await this.#connection(JSON.stringify([server, auth]), call.signal, connecting);
    return connection.call({ ...call, tool });
  }

  /** Closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.allSettled(connections.map((one) => one[Symbol.asyncDispose]()));
  }

  async #connection(key: string, signal: AbortSignal, connecting: Connecting): Promise<SourceConnection> {
    const known = this.#connections.get(key);
    if (known?.isOpen === true) return known;
    return this.#opening.join(key, signal, async (opening) => {
      this.#connections.delete(key);
      // Errors while closing are ignored.
      await Promise.allSettled([known?.[Symbol.asyncDispose]()]);
      const { source, authorize, scope } = connecting;
      const connection = await source.open({
        authorize,
        signal: AbortSignal.any([opening, this.#over.signal]),
        onNotice: () => undefined,
        ...(scope !== undefined && { scope }),
      });
      if (this.#over.signal.aborted) await connection[Symbol.asyncDispose]();
      else this.#connections.set(key, connection);
      return connection;
    });
  }
}
