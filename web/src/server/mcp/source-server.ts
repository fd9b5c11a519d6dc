/**
 * A source as an MCP server of one client: its tools are called like everywhere else, and what else MCP reads goes to the
 * source unchanged. It speaks lines of JSON-RPC, of both protocol eras (2025-11-25 and earlier, 2026-07-28).
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { isObject } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { LineWriter } from "../../jsonrpc/lines.js";
import { errorMessage, objectOr, tryParse, PROTOCOL_VERSION, RpcCode, stringOr } from "../../jsonrpc/rpc.js";
import { readCancelledKey, readRequest, type ClientRequest } from "../../mcp/client-request.js";
import type { MessagePeer } from "../../mcp/http/session.js";
import { ToolNodeError } from "../../tools/errors.js";
import type { ToolResult } from "../../tools/result.js";
import type { ToolContext } from "../../tools/context.js";
import type { ToolSpec } from "../../tools/registry.js";
import type { McpReadMethod } from "../../tools/source.js";
import type { ToolNode } from "../../tools-node.js";
import type { AskedCall, CallHow } from "../calls/call.js";
import { toSaidError } from "../http/refusals.js";
import { createPause, type Pauses } from "../sources/pauses.js";
import type { ServedSources } from "../sources/served-sources.js";
import { isSessionOver, toScope, type ServedSession } from "../session.js";
import type { Told } from "../sessions/session-work.js";
import { SourceChanges } from "./source-changes.js";
import { addResultType, isCallToolResult, toCallToolResult, toMcpTool } from "./tool-result.js";
import {
  ANSWER,
  type AskPerson,
  type AskedPause,
  type PausedCall,
  PausedCalls,
  readAnswer,
  showsQuestions,
  toElicitation,
} from "./question.js";

/** What a server for one client works with. */
export interface SourceServerDeps {
  /** The source's name. */
  readonly source: string;
  /** Whose calls are made. */
  readonly session: ServedSession;
  readonly sources: Pick<ServedSources, "get" | "pauses">;
  /** Calls a tool of any source for the session. */
  readonly callTool: (call: AskedCall, how: CallHow) => Promise<ToolResult>;
  /** Writes a reduced CallToolResult as JSON text, in pieces. */
  readonly writeResult: (result: ToolResult) => AsyncIterable<Uint8Array | string>;
  /** Whether the client shows images to its model. */
  readonly showsImages: () => boolean;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** The revision without sessions. */
const MODERN = "2026-07-28";

/** Those that begin with `initialize`, newest first. */
const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Error code of MCP 2026-07-28. */
const UNSUPPORTED_VERSION = -32_022;

const META = "io.modelcontextprotocol/";

/** Requests that the source answers, by the capability that it needs for them. */
const READ_METHODS: Readonly<Record<McpReadMethod, string>> = {
  "completion/complete": "completions",
  "prompts/get": "prompts",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/read": "resources",
  "resources/templates/list": "resources",
};

/** Most requests of one client under way. A client that disconnects leaves its calls running. */
const MAX_RUNNING = 64;
const TOO_MANY = `${MAX_RUNNING} requests of this client are under way: wait for an answer, or cancel one.`;

/** Results that clients of 2026-07-28 may keep for a while. These are for one client, and may change at any time. */
const CACHED = /^server\/discover$|\/list$|^resources\/read$/;

/** What a request is answered with: the text of its result, in pieces. */
type ResultText = AsyncIterable<Uint8Array | string> | string;

/** A refusal with a code of JSON-RPC. */
class RpcRefusal extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Answers the messages of one client, until it is stopped. */
export class SourceServer implements MessagePeer {
  readonly output: AsyncIterable<Uint8Array>;
  readonly ended: Promise<void>;
  readonly #deps: SourceServerDeps;
  readonly #lines: LineWriter;
  readonly #close: () => void;
  readonly #over = new AbortController();
  /** Requests under way, with the normalised JSON text of their ids. */
  readonly #running = new Map<AbortController, string>();
  readonly #paused = new PausedCalls<ResultText>();
  /** Questions to the client that wait for its answer, by their ids. */
  readonly #questions = new Map<string, (answer: unknown) => void>();
  readonly #changes: SourceChanges;
  /** What the client said that it can do, with `initialize`. */
  #capabilities: unknown;
  #asked = 0;

  constructor(deps: SourceServerDeps) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    this.#deps = deps;
    const { identity } = deps.session;
    this.#changes = new SourceChanges({ identity, notify: (method, params) => this.#notify(method, params) });
    this.output = readable;
    this.#lines = new LineWriter((bytes) => writer.write(bytes));
    this.#close = () => void writer.close().catch(() => undefined);
    this.ended = writer.closed.catch(() => undefined);
  }

  /** Takes one message, which ends with its line. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#take(bytes);
  }

  endInput(): void {
    // A client that says nothing more may still wait for answers.
  }

  async stop(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new DOMException("The session has ended.", "AbortError"));
    for (const answer of this.#questions.values()) answer(undefined);
    this.#paused.close();
    await this.#changes.close(this.#context());
    this.#close();
  }

  #take(bytes: Uint8Array): void {
    const request = readRequest(bytes);
    if (request !== undefined) return void this.#answer(request);
    const cancelled = readCancelledKey(bytes);
    if (cancelled !== undefined) return this.#cancel(cancelled);
    const { id, result } = objectOr(tryParse(new TextDecoder().decode(bytes)));
    const question = this.#questions.get(String(id));
    // An error is no answer: the question counts as declined.
    question?.(result);
  }

  #cancel(key: string): void {
    for (const [controller, each] of this.#running) if (each === key) controller.abort();
  }

  /** Sends what a request is answered with. A cancelled one has no answer. */
  async #answer(request: ClientRequest): Promise<void> {
    const cancelled = new AbortController();
    const isTooMany = this.#running.size >= MAX_RUNNING;
    this.#running.set(cancelled, request.key);
    const signal = AbortSignal.any([cancelled.signal, this.#over.signal]);
    try {
      if (isTooMany) throw new RpcRefusal(RpcCode.serverError, TOO_MANY);
      const result = await this.#result(request, signal);
      if (!signal.aborted) await this.#send(request.id, result);
    } catch (error) {
      if (!signal.aborted) await this.#lines.line(writeError(request, error, this.#deps.report)).catch(() => undefined);
    } finally {
      this.#running.delete(cancelled);
    }
  }

  /** Throws what reading the first piece throws. A result that breaks off later ends the session: half of it was sent. */
  async #send(id: string, result: ResultText): Promise<void> {
    if (typeof result === "string") return this.#lines.line(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    const encoder = new TextEncoder();
    const sink = this.#lines.sink();
    let isBegun = false;
    try {
      for await (const piece of result) {
        if (!isBegun) await sink.forward(encoder.encode(`{"jsonrpc":"2.0","id":${id},"result":`));
        isBegun = true;
        await sink.forward(typeof piece === "string" ? encoder.encode(piece) : piece);
      }
      await sink.forward(encoder.encode("}"));
      await sink.complete();
    } catch (error) {
      if (!isBegun) throw error;
      this.#deps.report(error);
      await this.stop();
    }
  }

  async #notify(method: string, params: object): Promise<void> {
    await this.#lines.line(JSON.stringify({ jsonrpc: "2.0", method, params })).catch(() => undefined);
  }

  async #result(request: ClientRequest, signal: AbortSignal): Promise<ResultText> {
    const { method, params, isModern } = request;
    if (isModern) checkVersion(params);
    switch (method) {
      case "initialize":
        return JSON.stringify(await this.#initialize(params, signal));
      case "ping":
        return "{}";
      case "server/discover":
        return writeJson(request, await this.#discover(signal));
      case "tools/list":
        return writeJson(request, { tools: (await this.#listTools(request, signal)).map(toMcpTool) });
      case "tools/call":
        return this.#call(request, signal);
      case "resources/subscribe":
        return this.#subscribe(params, signal);
      case "resources/unsubscribe":
        return this.#unsubscribe(params);
      case "subscriptions/listen":
        return this.#listen(request, signal);
      default:
        return writeJson(request, await this.#read(request, signal));
    }
  }

  /** Asks no question: a client answers only after this. */
  async #initialize(params: ClientRequest["params"], signal: AbortSignal): Promise<object> {
    this.#capabilities = params["capabilities"];
    this.#changes.tellLists();
    const asked = stringOr(params["protocolVersion"]) ?? "";
    const { info, ...described } = await this.#describe(signal);
    return { protocolVersion: LEGACY.includes(asked) ? asked : LEGACY[0], ...described, serverInfo: info };
  }

  async #discover(signal: AbortSignal): Promise<object> {
    const { info, ...described } = await this.#describe(signal);
    return { supportedVersions: [MODERN], ...described, _meta: { [`${META}serverInfo`]: info } };
  }

  /** What the source offers, of what passes here. A source that a person has to give access to first says nothing yet. */
  async #describe(signal: AbortSignal): Promise<{ readonly info: object; readonly capabilities: object }> {
    const { source } = this.#deps;
    const plain = { info: { name: source, version: "1" }, capabilities: { tools: { listChanged: true } } };
    try {
      const context = this.#context(signal);
      const described = await (await this.#node(context)).describeServer(context);
      if (described === undefined) return plain;
      const { info, capabilities, instructions } = described;
      const { resources, prompts, completions } = capabilities;
      const { subscribe, listChanged } = objectOr(resources);
      return {
        info,
        capabilities: {
          ...plain.capabilities,
          ...(prompts !== undefined && { prompts: {} }),
          ...(resources !== undefined && {
            resources: { ...(subscribe === true && { subscribe }), ...(listChanged === true && { listChanged }) },
          }),
          ...(completions !== undefined && { completions: {} }),
        },
        ...(instructions !== undefined && { instructions }),
      };
    } catch (error) {
      if (error instanceof ToolNodeError && error.category === "auth_required") return plain;
      throw error;
    }
  }

  /** Since 2026-07-28 this cannot ask for access to the source: a call does. */
  async #listTools(request: ClientRequest, signal: AbortSignal): Promise<readonly ToolSpec[]> {
    const ask: AskPerson = (question) => this.#ask(question, signal);
    return this.#tools(signal, request.isModern ? undefined : this.#createPause(request, signal, ask));
  }

  /** The source's own tools. Those that are generated for planners are what MCP has requests for. */
  async #tools(signal: AbortSignal, pause: ToolContext["pause"]): Promise<readonly ToolSpec[]> {
    const node = await this.#node(this.#context(signal, pause));
    return node.getTools().filter(({ tags }) => tags.length === 2);
  }

  async #call(request: ClientRequest, signal: AbortSignal): Promise<ResultText> {
    const { name, arguments: args = {}, requestState, inputResponses } = request.params;
    const state = stringOr(requestState);
    if (state !== undefined) return this.#continueCall(request, this.#paused.resume(state, inputResponses), signal);
    if (typeof name !== "string" || !isObject(args)) {
      throw new RpcRefusal(RpcCode.invalidParams, "A call needs the name of a tool, and arguments that are an object.");
    }
    if (!request.isModern) return this.#callTool(request, { name, args }, signal, (asked) => this.#ask(asked, signal));
    const begin = (ask: AskPerson, over: AbortSignal): Promise<ResultText> =>
      this.#callTool(request, { name, args }, AbortSignal.any([over, this.#over.signal]), ask);
    return this.#continueCall(request, this.#paused.begin(begin), signal);
  }

  /** The result of a call, or what it asks the client first (MCP 2026-07-28, `input_required`). */
  async #continueCall(
    request: ClientRequest,
    call: PausedCall<ResultText> | undefined,
    signal: AbortSignal,
  ): Promise<ResultText> {
    if (call === undefined) {
      throw new RpcRefusal(RpcCode.invalidParams, "The call no longer waits for an answer: call the tool again.");
    }
    const forget = onAbort(signal, () => call.cancel(signal.reason));
    try {
      const came = await call.next();
      if (came.kind === "result") return came.result;
      const { state, question } = came;
      const inputRequests = { [ANSWER]: question };
      return JSON.stringify({ resultType: "input_required", inputRequests, requestState: state });
    } finally {
      forget();
    }
  }

  /** Makes a call, and tells the client of its progress. What fails is a result that says so, which models read. */
  async #callTool(
    request: ClientRequest,
    { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
    ask: AskPerson,
  ): Promise<ResultText> {
    const { source, callTool, writeResult, showsImages, report } = this.#deps;
    const pause = this.#createPause(request, signal, ask);
    const { progressToken } = objectOr(request.params["_meta"]);
    const call: AskedCall = { name: `${source}.${name}`, args, trace: null };
    try {
      const tools = await this.#tools(signal, pause);
      if (!tools.some((tool) => tool.name === call.name)) {
        throw new RpcRefusal(RpcCode.invalidParams, "There is no such tool here: see tools/list.");
      }
      const result = await callTool(call, {
        signal,
        dialect: "mcp",
        showImages: showsImages(),
        ...(pause !== undefined && { pause }),
        tell: (event) => this.#tell(event, progressToken),
      });
      if (!isCallToolResult(result)) return writeJson(request, toCallToolResult(result));
      const isTyped = !request.isModern || "resultType" in objectOr(result.value);
      return isTyped ? writeResult(result) : addResultType(writeResult(result));
    } catch (error) {
      if (signal.aborted || isSessionOver(error) || !(error instanceof SluiceError)) throw error;
      const { message } = toSaidError(error, report);
      return writeJson(request, { content: [{ type: "text", text: message }], isError: true });
    }
  }

  #tell(event: Told, progressToken: unknown): void {
    if (event.kind !== "tool_progress" || progressToken === undefined) return;
    const { kind: _, ...progress } = event;
    void this.#notify("notifications/progress", { progressToken, ...progress });
  }

  async #read({ method, params }: ClientRequest, signal: AbortSignal): Promise<object> {
    if (!isReadMethod(method)) throw new RpcRefusal(RpcCode.methodNotFound, "Method not found");
    const { _meta: _, ...rest } = params;
    const context = this.#context(signal);
    const node = await this.#node(context);
    const capability = (await node.describeServer(context))?.capabilities[READ_METHODS[method]];
    if (capability === undefined) throw new RpcRefusal(RpcCode.methodNotFound, "Method not found");
    return node.request(method, rest, context);
  }

  async #subscribe({ uri }: ClientRequest["params"], signal: AbortSignal): Promise<string> {
    if (typeof uri !== "string") throw new RpcRefusal(RpcCode.invalidParams, "uri must be a string.");
    const context = this.#context(signal);
    await this.#node(context);
    await this.#changes.subscribe(uri, context);
    return "{}";
  }

  async #unsubscribe({ uri }: ClientRequest["params"]): Promise<string> {
    if (typeof uri === "string") await this.#changes.unsubscribe(uri, this.#context());
    return "{}";
  }

  /** Tells of changes until the client ends it (MCP 2026-07-28, `subscriptions/listen`). */
  async #listen({ id, params }: ClientRequest, signal: AbortSignal): Promise<string> {
    const meta = { [`${META}subscriptionId`]: JSON.parse(id) as string | number };
    const context = { ...this.#context(signal), signal };
    await this.#node(context);
    await this.#changes.stream(params["notifications"], meta, context);
    return JSON.stringify({ resultType: "complete", _meta: meta });
  }

  /** The source's connection for this user, whose changes are heard from now on. */
  async #node(context: ToolContext): Promise<ToolNode> {
    const node = await this.#deps.sources.get(this.#deps.source, context);
    if (!this.#over.signal.aborted) this.#changes.hear(node);
    return node;
  }

  #context(signal?: AbortSignal, pause?: ToolContext["pause"]): ToolContext {
    const scope = toScope(this.#deps.session);
    return { scope, ...(signal !== undefined && { signal }), ...(pause !== undefined && { pause }) };
  }

  /** How a call asks the client's person. Undefined if the client shows no questions. */
  #createPause({ params, isModern }: ClientRequest, signal: AbortSignal, ask: AskPerson): ToolContext["pause"] {
    const capabilities = isModern ? objectOr(params["_meta"])[`${META}clientCapabilities`] : this.#capabilities;
    if (!showsQuestions(capabilities)) return undefined;
    const { sources, session } = this.#deps;
    return createPause(
      sources.pauses,
      session,
      (event) => void this.#passQuestion(event as unknown as AskedPause, capabilities, sources.pauses, ask),
      signal,
    );
  }

  /** Never throws: what the client cannot show, or does not answer, is declined. */
  async #passQuestion(asked: AskedPause, capabilities: unknown, pauses: Pauses, ask: AskPerson): Promise<void> {
    const question = toElicitation(asked, capabilities);
    const answer = question === undefined ? null : readAnswer(asked, await ask(question).catch(() => undefined));
    // A page that a person opened elsewhere, such as for consent, answers by itself.
    if (answer !== undefined) await pauses.answer(this.#deps.session.id, asked.pause, answer).catch(this.#deps.report);
  }

  /** Asks the client with a request of its own (until 2025-11-25). Undefined for no answer. */
  async #ask(question: object, signal: AbortSignal): Promise<unknown> {
    this.#asked += 1;
    const id = `sluice-${this.#asked}`;
    const answered = new Promise<unknown>((resolve) => this.#questions.set(id, resolve));
    const forget = onAbort(signal, () => this.#questions.get(id)?.(undefined));
    try {
      await this.#lines.line(JSON.stringify({ jsonrpc: "2.0", id, ...question }));
      return await answered;
    } finally {
      forget();
      this.#questions.delete(id);
    }
  }
}

function isReadMethod(method: string): method is McpReadMethod {
  return Object.hasOwn(READ_METHODS, method);
}

function checkVersion(params: ClientRequest["params"]): void {
  const requested = objectOr(params["_meta"])[PROTOCOL_VERSION];
  if (requested === MODERN) return;
  throw new RpcRefusal(UNSUPPORTED_VERSION, "Unsupported protocol version", { supported: [MODERN], requested });
}

/** A result as JSON text. A source of an earlier revision gives less than its client needs. */
function writeJson({ method, isModern }: ClientRequest, result: object): string {
  if (!isModern) return JSON.stringify(result);
  const cached = CACHED.test(method) ? { ttlMs: 0, cacheScope: "private" } : {};
  return JSON.stringify({ resultType: "complete", ...cached, ...result });
}

function writeError({ id, params }: ClientRequest, error: unknown, report: (error: unknown) => void): string {
  if (error instanceof RpcRefusal) return errorMessage(id, error.code, error.message, error.data);
  const { code, message } = toSaidError(error, report);
  const number = error instanceof ToolNodeError ? error.rpcCode : undefined;
  const { uri } = params;
  return errorMessage(id, number ?? RpcCode.serverError, message, { code, ...(typeof uri === "string" && { uri }) });
}
