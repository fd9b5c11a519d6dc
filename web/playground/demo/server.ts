/**
 * The demo server: an MCP server in the page, reached through `fetch` as over Streamable HTTP.
 * @module
 */
import {
  type BaseContext,
  type Implementation,
  INVALID_PARAMS,
  LATEST_PROTOCOL_VERSION,
  Protocol,
  type ServerCapabilities,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/client";
import { DEMO_URL } from "./example.js";
import { HttpSession, readMessage, refuse, SESSION } from "./http-session.js";
import { FILE_TOOLS, otherTools } from "./tools.js";
import { Live } from "./live.js";
import type * as Resources from "./resources.js";
import type { DemoCall, DemoTool } from "./tool.js";

/** What MCP's servers answer with beside the codes of JSON-RPC. */
const NOT_FOUND = -32_002;
const NO_SESSION = -32_001;

/** Milliseconds to wait for an answer of the user. */
const TIMEOUT_MS = 600_000;

/** What a server says of itself. */
export interface DemoInfo {
  readonly serverInfo: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string;
}

/** The server's side of the protocol, for one session. */
export class DemoServer extends Protocol<BaseContext> {
  constructor(info: DemoInfo, tools: readonly DemoTool[]) {
    super();
    this.setRequestHandler("initialize", ({ params: { protocolVersion: asked } }) => {
      const isKnown = SUPPORTED_PROTOCOL_VERSIONS.includes(asked);
      return { protocolVersion: isKnown ? asked : LATEST_PROTOCOL_VERSION, ...info };
    });
    this.setRequestHandler("tools/list", () => ({ tools: tools.map(({ listed }) => listed) }));
    this.setRequestHandler("tools/call", ({ params }, context) => {
      const tool = tools.find(({ listed }) => listed.name === params.name);
      if (tool === undefined) throw refusal(INVALID_PARAMS, "There is no such tool.");
      return tool.call(params.arguments ?? {}, toDemoCall(context));
    });
  }

  protected override buildContext(context: BaseContext): BaseContext {
    return context;
  }

  // What the client lacks, it refuses itself.
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
}

function toDemoCall({ mcpReq: { signal, _meta, send, notify } }: BaseContext): DemoCall {
  return {
    signal,
    progress: async (progress, total, message) => {
      const { progressToken } = _meta ?? {};
      if (progressToken === undefined) return;
      await notify({ method: "notifications/progress", params: { progressToken, progress, total, message } });
    },
    ask: (message, requestedSchema) =>
      send(
        { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
        { signal, timeout: TIMEOUT_MS },
      ),
  };
}

/** The demo server of one session. Closing it ends its subscriptions. */
function demoServer(live: Live): DemoServer {
  const server = new DemoServer(
    {
      serverInfo: { name: "sluice-demo", title: "Demo server", version: "1" },
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, completions: {} },
      instructions: "A shop that does not exist. Everything is made on the spot, without a network.",
    },
    [...FILE_TOOLS, ...otherTools(live)],
  );
  addResources(server, live);
  addSubscriptions(server, live);
  return server;
}

const resources = (): Promise<typeof Resources> => import("./resources.js");

function addResources(server: DemoServer, live: Live): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    const page = (await resources()).readPage(params?.cursor);
    if (page === undefined) throw refusal(INVALID_PARAMS, "There is no such page of the list.");
    return page;
  });
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: [...(await resources()).TEMPLATES],
  }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    const contents = await (await resources()).readContents(params.uri, live);
    if (contents === undefined) throw refusal(NOT_FOUND, "There is no such resource.", { uri: params.uri });
    return contents;
  });
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    const { completeVariable } = await resources();
    const values = ref.type === "ref/resource" ? completeVariable(ref.uri, argument.name, argument.value) : [];
    return { completion: { values: [...values], total: values.length, hasMore: false } };
  });
}

/** Only listed resources can be subscribed to, which bounds the subscriptions of a session. */
function addSubscriptions(server: DemoServer, live: Live): void {
  const leaving = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const { isResource } = await resources();
    if (!isResource(uri)) throw refusal(NOT_FOUND, "There is no such resource.", { uri });
    const tellUpdated = (): void =>
      void server.notification({ method: "notifications/resources/updated", params: { uri } });
    if (!leaving.has(uri)) leaving.set(uri, live.follow(uri, tellUpdated));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    leaving.get(uri)?.();
    leaving.delete(uri);
    return {};
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has none
  server.onclose = () => {
    for (const leave of leaving.values()) leave();
    leaving.clear();
  };
}

function refusal(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

/** Sessions at a time; one more ends the one that was idle longest. */
const MAX_SESSIONS = 16;

/**
 * A `fetch` that answers from an MCP server in this page, over Streamable HTTP with sessions. Defaults to the demo server.
 * Other URLs are not found.
 */
export function demoFetch(url: string = DEMO_URL, serverOf?: () => DemoServer): typeof globalThis.fetch {
  const live = new Live();
  const host = new DemoHost(url, serverOf ?? (() => demoServer(live)));
  return (input, init) => host.answer(new Request(input, init));
}

/** The sessions of a server. */
class DemoHost {
  readonly #url: string;
  readonly #serverOf: () => DemoServer;
  /** By session id, the one that was idle longest first. */
  readonly #sessions = new Map<string, HttpSession>();

  constructor(url: string, serverOf: () => DemoServer) {
    this.#url = url;
    this.#serverOf = serverOf;
  }

  async answer(request: Request): Promise<Response> {
    const { signal } = request;
    signal.throwIfAborted();
    if (request.url !== this.#url) return refuse(404, NO_SESSION, "There is nothing here.");
    const response = await this.#answer(request);
    // Aborting a request ends its response, as on a network.
    return new Response(response.body?.pipeThrough(new TransformStream(), { signal }) ?? null, response);
  }

  async #answer(request: Request): Promise<Response> {
    const id = request.headers.get(SESSION);
    if (id === null) return this.#begin(request);
    const session = this.#sessions.get(id);
    if (session === undefined) return refuse(404, NO_SESSION, "Session not found");
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.answer(request);
  }

  /** Starts a session if the request initialises one. */
  async #begin(request: Request): Promise<Response> {
    const message = await readMessage(request);
    if (message instanceof Response) return message;
    const isInitial = "method" in message && message.method === "initialize";
    if (!isInitial) return refuse(400, NO_SESSION, "A session begins with initialize.");
    const session = new HttpSession();
    await this.#serverOf().connect(session);
    this.#add(session);
    return session.receive(message);
  }

  #add(session: HttpSession): void {
    const { sessionId } = session;
    const ended = session.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    session.onclose = () => {
      this.#sessions.delete(sessionId);
      ended?.();
    };
    this.#sessions.set(sessionId, session);
    for (const [, silent] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      void silent.close();
    }
  }
}
