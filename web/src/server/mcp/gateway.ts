/**
 * Offers sources to MCP clients over Streamable HTTP: at `mcp/{source}` reduced, like a proxy in front of it, and at `raw/{source}`
 * as the source answered, for a page that shows both. Tools are called like everywhere else in either way.
 * @module
 */
import { randomUUID } from "node:crypto";
import { isTruncated } from "../../artifacts/reference.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import type { UserFiles } from "../../files/user-files.js";
import { MCP_PATH, McpSessions, type HttpRequest, type OpenSession } from "../../mcp/http/sessions.js";
import { type InterceptorDeps, McpInterceptor } from "../../mcp/interceptor.js";
import { interceptorDeps } from "../../mcp/interceptor-options.js";
import type { InterceptorEvent } from "../../mcp/interceptor-event.js";
import { PassThrough } from "../../mcp/pass-through.js";
import type { ToolResult } from "../../tools/result.js";
import { callTool, invokeTool, type CallDeps } from "../calls/call.js";
import { readMessage } from "../http/request.js";
import { announceStored } from "../sessions/announcer.js";
import { toScope, type ServedSession } from "../session.js";
import { SourceServer } from "./source-server.js";
import type { ServedSources } from "../sources/served-sources.js";

/** How results are written: reduced, or as the source answered. */
export type McpWay = "mcp" | "raw";

interface GatewayDeps extends CallDeps {
  readonly sources: Pick<ServedSources, "get" | "pauses" | "config">;
  readonly store: ArtifactStore;
  /** Users' files, or null if the server keeps none. */
  readonly files: { readonly userFiles: UserFiles } | null;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

interface McpRequest extends HttpRequest {
  readonly session: ServedSession;
}

/** The beginning of the traces of what is stored until it is sent. */
const RAW = "raw ";

/** Milliseconds between two checks for sessions that expired or ended in another process. */
const LOOK = 15_000;

/** Most MCP sessions with one source: of all users, of one session of the server, and of one user. None has a program of its own. */
const LIMITS = { most: 4096, mostOfOwner: 16, mostOfUser: 64 } as const;

/** Sources by name, each with its MCP sessions. */
export class McpGateway implements AsyncDisposable {
  readonly #deps: GatewayDeps;
  readonly #sessions = new Map<string, McpSessions<McpRequest>>();
  readonly #shared = new Map<string, Promise<InterceptorDeps>>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#look(), LOOK).unref();
  }

  /** Answers a request of MCP in a session. The source must exist. Throws BodyRefused. */
  async answer(way: McpWay, source: string, request: Request, session: ServedSession): Promise<Response> {
    const { method, headers, signal } = request;
    const { id: owner, identity } = session;
    const user = JSON.stringify([identity.tenant_id ?? null, identity.user_id]);
    const body = await readMessage(request);
    return this.#getSessions(way, source).handle({
      method,
      path: MCP_PATH,
      headers,
      owner,
      user,
      session,
      body,
      signal,
    });
  }

  /** Ends the MCP sessions of a session. Never throws. */
  readonly end = async (session: string): Promise<void> => {
    await Promise.all([...this.#sessions.values()].map((sessions) => sessions.end(session)));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#sessions.values()].map((sessions) => sessions[Symbol.asyncDispose]()));
  }

  #getSessions(way: McpWay, source: string): McpSessions<McpRequest> {
    const key = `${way} ${source}`;
    let sessions = this.#sessions.get(key);
    if (sessions === undefined) {
      const open: OpenSession<McpRequest> = ({ session }) => this.#open(way, source, session);
      sessions = new McpSessions({ ...LIMITS, open, takesBatches: false });
      this.#sessions.set(key, sessions);
    }
    return sessions;
  }

  async #open(way: McpWay, source: string, session: ServedSession): ReturnType<OpenSession> {
    const { sources, report } = this.#deps;
    const shared = await this.#getShared(source);
    const scope = toScope(session);
    const onEvent = (event: InterceptorEvent): void => void this.#tell(event, session);
    const own = { source, session, sources, report };
    if (way === "raw") {
      const peer = new SourceServer({
        ...own,
        // A trace for each call: calls at the same time may have the same content.
        callTool: (call, how) => invokeTool({ ...scope, trace_id: `${RAW}${randomUUID()}` }, call, this.#deps, how),
        writeResult: (result) => this.#restore(result, shared, session),
        showsImages: () => false,
      });
      return { peer, interceptor: new PassThrough(onEvent, source) };
    }
    const interceptor = new McpInterceptor({ ...shared, scope, onEvent, isOwnServer: true });
    const peer = new SourceServer({
      ...own,
      callTool: (call, how) => callTool(session, call, this.#deps, how),
      writeResult: (result) => yieldText(interceptor.writeResult(result)),
      showsImages: () => interceptor.showsImages,
    });
    return { peer, interceptor };
  }

  /** A result as its source gave it. What was stored of it on the way, to be told in constant memory, is deleted again. */
  async *#restore(
    { text, artifacts }: ToolResult,
    { sluice }: InterceptorDeps,
    session: ServedSession,
  ): AsyncGenerator<Uint8Array | string> {
    const { store, announcer, report } = this.#deps;
    const passing = artifacts.filter((ref) => ref.scope.trace_id?.startsWith(RAW) === true);
    const { scope = toScope(session) } = passing[0] ?? {};
    try {
      // What could not be stored is told as the store's limits left it.
      if (artifacts.some(isTruncated)) yield text;
      else yield* sluice.restoreStream(text, { scope });
    } finally {
      for (const { id } of passing) await store.delete(id, scope).catch(report);
      // The others are files of the user's.
      if (passing.length < artifacts.length) await announcer.tell(session.id, { kind: "files_changed" });
    }
  }

  /** What all clients of a source share: its configuration, and the store with the users' files in it. */
  #getShared(source: string): Promise<InterceptorDeps> {
    let shared = this.#shared.get(source);
    if (shared === undefined) {
      const { sources, files, store } = this.#deps;
      const { artifact_extraction: config, user_files } = sources.config(source);
      const reachable = user_files && files !== null ? files.userFiles.within(store, source) : store;
      shared = interceptorDeps({ store: reachable, config, namespace: source, links: "auto" });
      shared.catch(() => this.#shared.delete(source));
      this.#shared.set(source, shared);
    }
    return shared;
  }

  /** Announces what the tools that read and edit artifacts store, and reports failures. */
  async #tell(event: InterceptorEvent, session: ServedSession): Promise<void> {
    if (event.kind === "failed") this.#deps.report(event.error);
    if (event.kind === "stored") await announceStored(this.#deps, session, event.artifacts).catch(this.#deps.report);
  }

  async #look(): Promise<void> {
    const owners = new Set([...this.#sessions.values()].flatMap(({ owners: own }) => [...own]));
    for (const owner of owners) {
      // Unknown: checked again next time.
      const isOver = await this.#deps.state.sessions.find(owner).then(
        (found) => found === null,
        () => false,
      );
      if (isOver) await this.end(owner);
    }
  }
}

async function* yieldText(text: Promise<string>): AsyncGenerator<string> {
  yield await text;
}
